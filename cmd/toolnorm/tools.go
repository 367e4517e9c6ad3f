package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"toolnorm/engine/ollama"
	"toolnorm/internal/auth"
	"toolnorm/internal/toolbox"
	"toolnorm/tools/data"
	"toolnorm/tools/dynamic"
	"toolnorm/tools/kb"
)

// openWait is how long the data of the tools may take to open.
const openWait = 20 * time.Second

// openTools opens the tools that this program runs itself, as the settings say. Data that nobody named and that cannot be
// opened, as in a folder that is read only, leaves the tools out: everything else works without it.
// A store that the settings name is an error when it cannot be opened: going on would work on other data.
func (m *Main) openTools() error {
	config := m.toolboxConfig()
	m.toolbox = toolbox.Empty(config)
	if !m.Config.Tools {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	defer cancel()
	box, err := toolbox.Open(ctx, config)
	switch {
	case err == nil:
		m.toolbox = box
	case m.Config.Store != "":
		// The driver has a line for each address that it tried.
		return errors.New("tools: " + strings.Join(strings.Fields(err.Error()), " "))
	default:
		m.log.WithLevel(m.unkept).Err(err).Msg("sample tools are off: cannot open their database. --no-tools silences this")
	}
	return nil
}

// toolboxConfig are the settings of the tools.
func (m *Main) toolboxConfig() toolbox.Config {
	return toolbox.Config{
		Data: m.Config.Data, Store: m.Config.Store, Sample: m.Config.Sample, Panicked: m.panicked, Databases: m.Config.Databases, Knowledge: m.knowledge(), Lasting: true, Audit: m.audit,
		Connections: m.Config.Connection, Called: m.called,
		Warn: func(text string) { m.log.Warn().Msg(text) },
		Odd: func(err error) {
			m.log.Warn().Err(err).Msg("some tools are off, until the next start: their data cannot be opened")
		},
	}
}

// knowledge are the settings of the knowledge base tools. Their model is asked at the Ollama of this program, unless they
// name another; toolnorm mcp has none.
func (m *Main) knowledge() kb.Config {
	c := m.Config.Knowledge
	if m.Config.Ollama != "" {
		// In a container network this is the specification's http://ollama:11434.
		c.Ollama, _ = ollama.ParseHost(m.Config.Ollama) // resolve has read it without an error
	}
	return c
}

// subject names who asks, for a line of the log.
func subject(ctx context.Context) string {
	if p := auth.PrincipalOf(ctx); p != nil {
		return p.Subject
	}
	return ""
}

// audit notes a statement that execute_postgres_query ran: who asked and what came of it, never what was asked or found.
func (m *Main) audit(ctx context.Context, a data.Audit) {
	m.log.Info().Str("tool", "execute_postgres_query").Str("principal", subject(ctx)).Str("statement", a.Statement).
		Int("rows", a.Rows).Int64("ms", a.Millis).Str("outcome", a.Outcome).Msg("statement")
}

// called notes a call of a custom tool: who, how long and what came of it, never with what.
func (m *Main) called(ctx context.Context, r dynamic.Run) {
	m.log.Info().Str("tool", r.Tool).Str("principal", subject(ctx)).Int("rows", r.Rows).Strs("limits", r.Hit).
		Float64("ms", r.Millis).Str("outcome", r.Outcome).Msg("custom tool")
}

// followTools takes the changes of other programs, until ctx ends. Without it the tools stay what they are now.
func (m *Main) followTools(ctx context.Context) {
	if m.toolbox.Custom == nil {
		return
	}
	if err := m.toolbox.Custom.Follow(ctx); err != nil {
		m.log.Warn().Err(err).Msg("custom tools that other programs change need a restart here")
	}
}

// panicked notes a tool that broke. What it was called with is not logged.
// Arguments may hold what a user would not want in a log.
func (m *Main) panicked(tool string, value any, stack []byte) {
	m.log.Error().Str("tool", tool).Str("panic", fmt.Sprint(value)).Bytes("stack", stack).Msg("a tool panicked")
}
