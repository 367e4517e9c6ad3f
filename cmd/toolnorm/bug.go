package main

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"toolnorm/internal/doctor"
	"toolnorm/internal/version"
)

// bug is the command bug. It takes the settings of serve, so that its report is about the server
// that these settings start.
type bug struct {
	Config
}

// secretSettings are the settings whose values must not be in a report. TestSecretsStayOutOfReports
// finds settings that are missing here.
var secretSettings = []string{
	"api-keys", "admin-key", "metrics-key", "jwt-secret", "jwt-token", "text-embedding-model-key",
	"kb-rerank-key", "postgresql-db-pass", "chromadb-header",
}

// within lists patterns that find secrets in an address or in the error of a database driver: a
// user with a password, and members of a query.
var within = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`//[^/@\s]*@`), `//…@`},
	{regexp.MustCompile(`(?i)((?:password|token|secret|key|sig)[a-z_-]*=)[^&\s"']+`), `$1…`},
}

// Run prints the beginning of a bug report in Markdown. The report contains no prompts and no keys.
// Run asks the model servers only what the command models asks them. It returns an error if the
// settings are wrong or the report cannot be written.
func (c *bug) Run(m *Main, said *kong.Context) error {
	r, err := c.servers(m)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(
		"### What happened\n\nWhat I did, with which client and model:\n\nWhat happened, and what I expected:\n\n" +
			"(If a call was read wrongly: the model's raw output from the page Live, with \"Copy as decode command\".)\n\n### Set-up\n\n")
	fmt.Fprintf(&b, "- toolnorm %s, %s, %s/%s\n", version.String(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	for _, s := range r.Servers {
		b.WriteString(maskSecrets(serverLine(s)) + "\n")
	}
	b.WriteString(c.givenSettings(m.given, said.Flags()))
	_, err = fmt.Fprint(m.Out, b.String())
	return err
}

// serverLine returns one line about a model server. It leaves out the names of models, which may be
// private.
func serverLine(s doctor.Server) string {
	if s.Missing != "" {
		return fmt.Sprintf("- server %s: %s", s.Name, s.Missing)
	}
	return fmt.Sprintf("- server %s: %s, %d models", s.Name,
		strings.TrimSpace(cmp.Or(s.Kind, "built in")+" "+s.Version), len(s.Models))
}

// givenSettings returns a list of the settings that were set, each with its origin and without its
// secrets. If none was, it returns a line that says so.
func (c *bug) givenSettings(g given, flags []*kong.Flag) string {
	var lines []string
	for _, flag := range flags {
		origin := g.origin(flag.Name)
		if origin == "" || len(flag.Envs) == 0 {
			continue
		}
		value := fmt.Sprint(flag.Target.Interface())
		if slices.Contains(secretSettings, flag.Name) {
			value = "(hidden)"
			if flag.IsSlice() {
				value = fmt.Sprintf("(%d, hidden)", reflect.Indirect(flag.Target).Len())
			}
		}
		lines = append(lines, fmt.Sprintf("- %s = %s (%s)", flag.Name, maskSecrets(value),
			maskSecrets(origin)))
	}
	for _, u := range c.Upstreams {
		lines = append(lines,
			maskSecrets(fmt.Sprintf("- upstreams: %s %s %s", u.Name, u.Kind, u.URL)))
	}
	if len(lines) == 0 {
		return "- settings: all have their defaults\n"
	}
	return "\n### Settings that were given\n\n" + strings.Join(lines, "\n") + "\n"
}

// maskSecrets returns text without its secrets, and with ~ in place of the user's home folder,
// whose path contains the user's name.
func maskSecrets(text string) string {
	for _, w := range within {
		text = w.pattern.ReplaceAllString(text, w.shown)
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		text = strings.ReplaceAll(text, home, "~")
	}
	return text
}
