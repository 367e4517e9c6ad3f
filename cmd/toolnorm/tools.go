package main

import (
	"fmt"

	"toolnorm/internal/toolargs"
	"toolnorm/tools"
)

// newRegistry makes the registry of tools that every face offers, without any as yet.
func (m *Main) newRegistry() *tools.Registry {
	args := new(toolargs.Reader)
	return tools.New(tools.Options{Fit: args.Fit, Panicked: m.panicked})
}

// panicked notes a tool that broke. What it was called with is not logged.
func (m *Main) panicked(tool string, value any, stack []byte) {
	m.log.Error().Str("tool", tool).Str("panic", fmt.Sprint(value)).Bytes("stack", stack).Msg("a tool panicked")
}
