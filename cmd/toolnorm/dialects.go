package main

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/proxy/form"
	"toolnorm/proxy/form/shell"
	"toolnorm/runner"
)

// dialects are the settings of how replies are written.
type dialects struct {
	Dialect      map[string]string `placeholder:"MODEL=NAME" help:"Models (* stands for any text) and the dialect of their replies: openai, shell, void or cline. Default: by who asks. A client can ask for one itself: model NAME@shell, or the header Toolnorm-Dialect."`
	Runner       string            `default:"toolrun" help:"The program that a user's terminal runs tools with, in the dialect shell: words without quotes, as in python runner.py."`
	RunnerBase64 bool              `name:"runner-b64" help:"Write the arguments for it in Base64, for terminals with PowerShell or cmd. Clients that say they run on Windows get that anyway."`
	Block        string            `placeholder:"LANGUAGE" help:"What stands behind the fence of a block with such a command: bash, shell, fish and the like. Default: bash, and powershell for clients on Windows."`
	VoidAliases  string            `default:"auto" enum:"auto,always,never" help:"When models are listed under a second name (grok-local-NAME) by which Void takes them for models with tool calls: auto (to clients that look like Void), always or never."`
}

// check says which of them is wrong.
func (d *dialects) check() error {
	for model, name := range d.Dialect {
		if !slices.Contains(form.Names(), name) {
			return fmt.Errorf("dialect: %s=%s: there are %s", model, name, strings.Join(form.Names(), ", "))
		}
	}
	if err := runner.Program(d.Runner).Check(); err != nil {
		return fmt.Errorf("runner: %w", err)
	}
	if strings.Trim(d.Block, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-") != "" {
		return fmt.Errorf("block: %q is not one word", d.Block)
	}
	return nil
}

// shell is how the registry's tools reach clients that only have a terminal.
func (m *Main) shell() *shell.Config {
	d := m.Config.dialects
	return &shell.Config{Tools: m.toolbox.Registry, Program: runner.Program(d.Runner), Language: d.Block, Base64: d.RunnerBase64, Keep: m.pending.Keep, Kept: m.pending.Find, Used: m.seekRunner}
}
