package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/test/must"

	"github.com/alecthomas/kong"
)

// settingsPage has a table below each heading of toolnorm serve -h. What stands around the tables
// is written by hand.
const settingsPage = "../../docs/settings.md"

// headings are those of toolnorm serve -h.
var headings = []string{"Server", "Models", "Tools", "Reliability", "Context", "Access", "Debug"}

// settingsTable is a table of the page, between the comments that mark it.
var settingsTable = regexp.MustCompile(`(?s)(<!-- settings: (\w+) -->\n).*?(<!-- end -->)`)

// TestThePageListsEverySetting compares the tables of the page with the settings; -update writes
// them.
func TestThePageListsEverySetting(t *testing.T) {
	clean(t, "")
	parser := must.Have(kong.New(new(commands), kong.Vars{"version": ""}, kong.DefaultEnvars("TOOLNORM")))(t)
	flags := settingsOf(parser.Model)
	src := must.Read(t, settingsPage)
	missing := map[string]bool{}
	for _, title := range headings {
		missing[title] = true
	}
	page := settingsTable.ReplaceAllStringFunc(string(src), func(old string) string {
		m := settingsTable.FindStringSubmatch(old)
		delete(missing, m[2])
		return m[1] + tableOf(m[2], flags) + m[3]
	})
	for title := range missing {
		t.Errorf("%s has no table %q", settingsPage, title)
	}
	must.Match(t, settingsPage, page)
}

// tableOf is the table of the settings below a heading.
func tableOf(title string, flags []*kong.Flag) string {
	var b strings.Builder
	b.WriteString("\n| flag | environment | key in the file | default | restart | |\n|---|---|---|---|---|---|\n")
	for _, flag := range flags {
		if flag.Group != nil && flag.Group.Title == title+":" {
			b.WriteString(settingLine(flag))
		}
	}
	return b.String() + "\n"
}

// settingLine is a setting's line: what serve -h says of it, and its other two names.
// A default that the help text gives in words ("Default: …") goes into the column of defaults.
func settingLine(f *kong.Flag) string {
	name := "--" + f.Name
	switch {
	case f.Tag.Negatable != "":
		name = "--[no-]" + f.Name
	case !f.IsBool():
		name += " " + strings.Trim(f.FormatPlaceHolder(), `"`)
	}
	if f.HasDefault && !f.IsBool() {
		name = "--" + f.Name
	}
	help, byDefault, _ := strings.Cut(f.Help, " Default: ")
	byDefault, rest, more := strings.Cut(byDefault, ". ")
	if more {
		help += " " + rest
	}
	byDefault = strings.TrimSuffix(byDefault, ".")
	switch {
	case f.IsBool():
		byDefault = "`" + fmt.Sprint(f.Default == "true") + "`"
	case f.HasDefault:
		byDefault = "`" + f.Default + "`"
	}
	key := "`" + strings.Join(append([]string{f.Name}, f.Aliases...), "` or `") + "`"
	if f.Name == "config" {
		key = "–" // a file cannot name another
	}
	help = strings.NewReplacer("*", `\*`, "|", `\|`).Replace(help) // in Markdown two stars are emphasis
	restart := ""
	if needsRestart(f) {
		restart = "yes"
	}
	return fmt.Sprintf("| `%s` | `%s` | %s | %s | %s | %s |\n", name, strings.Join(f.Envs, "` `"), key, byDefault, restart, help)
}
