package main

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/proxy/form"
	"toolnorm/proxy/form/shell"
	"toolnorm/runner"
)

// clientForms are the settings of the forms in which clients get their replies.
// Shell mode has to be asked for: tools that nobody asked for would change every chat.
type clientForms struct {
	ClientForm   map[string]string `placeholder:"MODEL=NAME" help:"Models (* matches any text) and the form of their replies: openai, shell, void or cline. Default: recognised by the client. A client can choose itself: model NAME@shell, or the header Toolnorm-Client-Form."`
	Runner       string            `default:"toolrun" help:"The program that terminals run tools with in form shell, without quotes: for example python runner.py."`
	RunnerBase64 bool              `name:"runner-base64" env:"TOOLNORM_RUNNER_BASE64" help:"Encode the arguments for it in Base64, for PowerShell and cmd. Clients that say they run on Windows get that anyway."`
	ShellFence   string            `placeholder:"LANGUAGE" help:"The language behind the fence of a shell block: bash, shell, fish, … Default: bash, or powershell for clients on Windows."`
	VoidAliases  string            `default:"auto" enum:"auto,always,never" help:"When to list models under a second name (grok-local-NAME), which makes Void use native tool calls: auto (for clients that look like Void), always or never."`
}

// check says which of them is wrong.
// Runner and language stand in lines that a shell reads or Markdown shows, so neither may hold more than
// words.
func (c *clientForms) check() error {
	for model, name := range c.ClientForm {
		if !slices.Contains(form.Names(), name) {
			return fmt.Errorf("client-form: %s=%s: there are %s", model, name, strings.Join(form.Names(), ", "))
		}
	}
	if err := runner.Program(c.Runner).Check(); err != nil {
		return fmt.Errorf("runner: %w", err)
	}
	if strings.Trim(c.ShellFence, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-") != "" {
		return fmt.Errorf("shell-fence: %q is not one word", c.ShellFence)
	}
	return nil
}

// shell returns how the registry's tools reach clients that only have a terminal.
func (m *Main) shell(config *Config) *shell.Config {
	c := config.clientForms
	return &shell.Config{
		Tools: m.toolbox.Registry, Program: runner.Program(c.Runner), Language: c.ShellFence, Base64: c.RunnerBase64,
		Keep: m.pending.Keep, Kept: m.pending.Find, Used: func() { m.seekRunner(c.Runner) },
	}
}
