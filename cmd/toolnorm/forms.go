package main

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/proxy/form"
	"toolnorm/proxy/form/shell"
	"toolnorm/runner"
	"toolnorm/tools/find"
)

// checkForms returns an error for a wrong setting about client forms, the APIs and formats in which
// clients get replies. The settings runner and shell-fence are written into lines that a shell
// reads or Markdown shows, so they must contain only plain words.
func (c *Config) checkForms() error {
	for model, name := range c.ClientForm {
		if !slices.Contains(form.Names(), name) {
			return fmt.Errorf("client-form: %s=%s: there are %s", model, name,
				strings.Join(form.Names(), ", "))
		}
	}
	if err := runner.Program(c.Runner).Check(); err != nil {
		return fmt.Errorf("runner: %w", err)
	}
	if strings.Trim(c.ShellFence,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-") != "" {
		return fmt.Errorf("shell-fence: %q is not one word", c.ShellFence)
	}
	return nil
}

// shell returns the configuration of the form shell, by which clients that can only run commands in
// a terminal use the registry's tools. The parameter by compares meanings, for the search of tools.
func (m *Main) shell(c *Config, by *find.Meanings) *shell.Config {
	return &shell.Config{
		Tools: m.toolbox.Registry, Program: runner.Program(c.Runner), Language: c.ShellFence,
		Base64: c.RunnerBase64, Budget: c.AgentToolTokens, Meanings: by,
		Keep: m.door.pending.Keep, Kept: m.door.pending.Find, Used: func() {
			m.door.seek(c.Runner)
		},
	}
}
