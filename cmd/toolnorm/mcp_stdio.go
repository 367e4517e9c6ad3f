package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/home"
	"toolnorm/internal/toolbox"
	"toolnorm/mcpserver"
	"toolnorm/tools/data"
	"toolnorm/tools/kb"
)

// mcpStdio is the command mcp, for MCP clients that start their servers themselves.
// Claude Desktop starts its MCP servers in this way.
type mcpStdio struct {
	stores  `embed:""`
	MCPFile string `name:"mcp-file" placeholder:"FILE" help:"The file of further MCP servers, whose tools are offered as well. Default: mcp.json beside the YAML file, if there is one, else in the data folder."`

	sources `embed:""`
	samples `embed:""`

	Databases data.Config `embed:""`
	Knowledge kb.Config   `embed:""`

	jwts     `embed:""`
	JWTToken string `name:"jwt-token" placeholder:"JWT" help:"The JWT of whoever asks, where JWTs are configured; verified when the program starts. Safer in the environment."`

	LogLevel  string        `default:"warn" enum:"debug,info,warn,error" env:"-" help:"What to log to standard error: debug, info, warn or error."`
	LogFormat string        `default:"auto" enum:"auto,text,json" help:"Log format: text, json, or auto (text on a terminal, JSON elsewhere)."`
	Grace     time.Duration `default:"10s" help:"How long running calls may continue when the client has closed standard input."`
}

// Run serves the client until it closes standard input, or a signal comes. Standard output carries the protocol and nothing
// else.
// There is no key and no Origin to check: who starts the program may use its tools.
// It opens the data itself and asks no server that may run: who starts it expects it to work alone, and SQLite
// in WAL mode and PostgreSQL let both work.
func (c *mcpStdio) Run(m *Main) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := home.Data(c.Data)
	if err != nil {
		return &ended{err, statusUsage}
	}
	m.Config = Config{stores: stores{folders{Data: dir}, c.Store}, sources: c.sources, samples: c.samples, LogLevel: c.LogLevel, LogFormat: c.LogFormat, Databases: c.Databases, Knowledge: c.Knowledge, remotes: remotes{MCPFile: c.MCPFile}}
	m.log = m.newLog()
	who, err := c.principal(ctx, c.JWTToken)
	if err != nil {
		return &ended{err, statusUsage}
	}
	opening, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	if m.toolbox, err = toolbox.Open(opening, m.toolboxConfig()); err != nil {
		return err
	}
	if err := m.openRemote(); err != nil {
		return errors.Join(err, m.toolbox.Close())
	}
	defer m.closeRemote()
	following, leave := context.WithCancel(ctx) // left before the store is closed, which would be told as a failure
	defer leave()
	m.followTools(following)
	if err := m.followSample(following); err != nil {
		return errors.Join(err, m.toolbox.Close())
	}
	m.mcp = mcpserver.New(m.mcpConfig(nil))
	err = m.mcp.Stdio(auth.WithPrincipal(ctx, who), m.stdin, m.stdout, c.Grace)
	if ctx.Err() != nil {
		err = nil // a signal ended it, as it should
	}
	leave()
	m.closeMCP(ctx)
	return errors.Join(err, m.toolbox.Close())
}
