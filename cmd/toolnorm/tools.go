package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/engine/ollama"
	"toolnorm/internal/auth"
	"toolnorm/internal/toolbox"
	"toolnorm/tools"
	"toolnorm/tools/data"
	"toolnorm/tools/dynamic"
	"toolnorm/tools/kb"
)

// openWait is how long opening the data of the tools may take.
const openWait = 20 * time.Second

// openTools opens the tools that this program runs itself, as the settings say. If the default
// store cannot be opened, as in a read-only folder, it only logs that the tools are off, since
// everything else works without them. If a store that the settings name cannot be opened, it
// returns an error, because the program would otherwise work on other data.
func (m *Main) openTools() error {
	config := m.Config.toolbox(m.log)
	config.Watch = func(ctx context.Context, tool string, args json.RawMessage) (
		context.Context, func(tools.Result, time.Duration)) {
		ctx, ended := m.spans.Tool(ctx, tool, args)
		return ctx, func(res tools.Result, took time.Duration) {
			m.metrics.Tool(tool, res.IsError, took)
			ended(res.IsError, res.Text)
		}
	}
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
		// The driver's error has a line for each address that it tried.
		return errors.New("tools: " + strings.Join(strings.Fields(err.Error()), " "))
	default:
		m.log.WithLevel(m.unkept).Err(err).Msg(
			"sample tools are off: cannot open their database. --no-tools silences this")
	}
	return nil
}

// toolbox returns the configuration of the tools.
func (c *Config) toolbox(log zerolog.Logger) toolbox.Config {
	calls := callLog{log}
	return toolbox.Config{
		Data: c.Data, Store: c.Store, Sample: c.Sample, Databases: c.Databases,
		Knowledge: c.knowledge(), Connections: c.Connection, Lasting: true, Reach: reach,
		Panicked: calls.panicked, Audit: calls.audit, Called: calls.called,
		Warn: func(text string) { log.Warn().Msg(text) },
		Odd: func(err error) {
			log.Warn().Err(err).Msg(
				"some tools are off, until the next start: their data cannot be opened")
		},
	}
}

// knowledge returns the settings of the knowledge base tools. If they do not name a server for
// their model, it is this program's Ollama server; toolnorm mcp has none.
func (c *Config) knowledge() kb.Config {
	k := c.Knowledge
	if c.Ollama != "" {
		// In a container network this is the specification's http://ollama:11434.
		// resolve has read it without an error
		if bases, err := ollama.ParseHosts(c.Ollama); err == nil {
			k.Ollama = bases[0]
		}
	}
	return k
}

// subject returns the caller's name for a line of the log, or "" for an unknown caller.
func subject(ctx context.Context) string {
	if p := auth.PrincipalOf(ctx); p != nil {
		return p.Subject
	}
	return ""
}

// callLog logs calls of tools, but never their arguments or results, which may contain private
// data.
type callLog struct{ zerolog.Logger }

// audit logs a statement that execute_postgres_query ran, with the caller and the outcome.
func (l callLog) audit(ctx context.Context, a data.Audit) {
	l.Info().Str("tool", "execute_postgres_query").Str("principal", subject(ctx)).Str("statement",
		a.Statement).
		Int("rows", a.Rows).Int64("ms", a.Millis).Str("outcome", a.Outcome).Msg("statement")
}

// called logs a call of a custom tool, with the caller, the time and the outcome.
func (l callLog) called(ctx context.Context, r dynamic.Run) {
	l.Info().Str("tool", r.Tool).Str("principal", subject(ctx)).Int("rows", r.Rows).Strs("limits",
		r.Hit).
		Float64("ms", r.Millis).Str("outcome", r.Outcome).Msg("custom tool")
}

// followTools applies changes that other programs make to custom tools, until ctx ends. If it
// cannot, it logs a warning, and the tools stay as they are.
func followTools(ctx context.Context, box *toolbox.Box, log zerolog.Logger) {
	if box.Custom == nil {
		return
	}
	if err := box.Custom.Follow(ctx); err != nil {
		log.Warn().Err(err).Msg("custom tools that other programs change need a restart here")
	}
}

// panicked logs the panic of a tool.
func (l callLog) panicked(tool string, value any, stack []byte) {
	l.Error().Str("tool", tool).Str("panic", fmt.Sprint(value)).Bytes("stack", stack).Msg(
		"a tool panicked")
}
