package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"toolnorm/internal/spelling"
)

// given is where the settings came from, so that errors can name that place. A user who wrote a
// line of a file would search in vain for a flag if the error said "--grace".
type given struct {
	args   []string
	file   *file        // nil: no file was read
	flags  []*kong.Flag // the flags of serve; their targets are the fields of config
	config *Config
}

// settingsOf returns the flags of the command serve.
func settingsOf(app *kong.Application) []*kong.Flag {
	at := slices.IndexFunc(app.Children, func(command *kong.Node) bool {
		return command.Name == "serve"
	})
	return app.Children[at].Flags
}

// origin returns where a setting got its value, as the user wrote it, for example "--grace",
// "TOOLNORM_GRACE" or "toolnorm.yaml, line 2: grace". It returns "" for a setting that has its
// default.
func (g given) origin(name string) string {
	for _, arg := range g.args {
		if flag, _, _ := strings.Cut(arg, "="); flag == "--"+name || flag == "--no-"+name {
			return flag
		}
	}
	variables := []string{"TOOLNORM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
	if name == "ollama" {
		variables = append(variables, "OLLAMA_HOST")
	}
	for _, variable := range variables {
		if _, set := os.LookupEnv(variable); set {
			return variable
		}
	}
	if g.file == nil {
		return ""
	}
	for _, key := range []string{name, name + "s", name + "es"} { // such as alias and aliases
		if s, set := g.file.values[key]; set {
			return fmt.Sprintf("%s, line %d: %s", g.file.path, s.line, key)
		}
	}
	return ""
}

// aboutFlag matches the beginning of kong's errors, such as "--grace: …" or "--log-level must …".
var aboutFlag = regexp.MustCompile(`^--(?:\[no-\])?([a-z0-9-]+)(?:=\S*)?:? (?s:(.*))$`)

// plainly maps error texts of kong, which name Go types, to texts for users.
var plainly = []struct {
	kong *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`^expected duration but got ("[^"]*").*`),
		`$1 is not a duration; write 30s, 5m or 1h30m`},
	{regexp.MustCompile(`^expected (?:a valid \d+ bit u?int|an int|a float) but got ("[^"]*").*`),
		`$1 is not a number`},
	{regexp.MustCompile(`^bool value must be true, .* but got ("[^"]*")`),
		`$1 is neither true nor false`},
	{regexp.MustCompile(`^expected "<key>=<value>" but got "(\w+://[^"]*)"`),
		`"$1" has no name in front; write box=$1`},
	{regexp.MustCompile(`^expected "<key>=<value>" but got ("[^"]*")`), `$1 is not NAME=VALUE`},
	{regexp.MustCompile(`^(?:expected .* value but got "EOL".*|missing value, expecting.*)`),
		`needs a value`},
	{regexp.MustCompile(`^expected .* value but got ("[^"]*") \(.*\); perhaps try (.*)\?$`),
		`$1 looks like a flag; write $2`},
	{regexp.MustCompile(`^expected "?(<[^>]*>)"?$`), `$1 is missing`},
	{regexp.MustCompile(`^expected one of (.*)$`), `a command is missing: $1`},
	{regexp.MustCompile(` ?\(from envar .*\)$`), ``},
}

// plain returns an error text of kong in plain words. An unknown text is returned unchanged.
func plain(text string) string {
	for _, p := range plainly {
		text = p.kong.ReplaceAllString(text, p.text)
	}
	return text
}

// explain returns the text of a command line error. It names what the user wrote, and suggests what
// may have been meant.
func (g given) explain(err error, app *kong.Application) string {
	text := err.Error()
	if word, unknown := strings.CutPrefix(text, "unexpected argument "); unknown &&
		word == g.args[0] {
		var names []string
		for _, command := range app.Children {
			names = append(names, command.Name)
		}
		return fmt.Sprintf("there is no command %q%s", word, suggestion(word, names))
	}
	found := aboutFlag.FindStringSubmatch(text)
	if found == nil {
		return plain(text)
	}
	if g.file != nil && strings.HasPrefix(found[2], g.file.path) {
		return found[2] // Resolve names the line itself
	}
	rest := plain(found[2])
	if origin := g.origin(found[1]); origin != "" {
		return origin + ": " + rest
	}
	return text
}

// aboutSetting matches the setting at the beginning of an error of Config.resolve, such as
// "heartbeat: …", "upstream "box": …" or "key-env of "box": …".
var aboutSetting = regexp.MustCompile(`^[a-z][a-z0-9-]*`)

// located returns err, preceded by the place where a setting was set, such as "toolnorm.yaml, line
// 2". It does so if err begins with the name of a setting that came from the environment or the
// file. Other errors are returned unchanged.
func (g given) located(err error) error {
	name := aboutSetting.FindString(err.Error())
	if name == "" {
		return err
	}
	origin := g.origin(name)
	if origin == "" || strings.HasPrefix(origin, "--") {
		return err
	}
	if _, key, inFile := strings.Cut(origin, ": "); inFile && strings.HasPrefix(err.Error(), key) {
		origin = strings.TrimSuffix(origin, ": "+key)
	}
	return fmt.Errorf("%s: %w", origin, err)
}

// suggestion returns a question such as "; did you mean …?" with the most similar known word, or ""
// if none is similar.
func suggestion(word string, known []string) string {
	near := spelling.Near(word, slices.Sorted(slices.Values(known)), 1, nil)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near[0])
}

// whereHelpIs returns a hint that names the help for err, or "" if err is no error in the
// arguments. It does not print the help itself, because the help of serve is a hundred lines long
// and would hide the error above it.
func whereHelpIs(err error) string {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		return ""
	}
	if wrong.Context.Selected() == nil || wrong.Context.Command() == "serve" {
		if strings.HasPrefix(err.Error(), "unexpected argument ") {
			return "; toolnorm help lists the commands"
		}
		return "; toolnorm serve -h lists the settings"
	}
	words, _, _ := strings.Cut(wrong.Context.Command(), " <")
	return "; toolnorm " + words + " -h says how it is used"
}
