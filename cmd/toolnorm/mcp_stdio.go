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
	Data    string `placeholder:"DIR" help:"Data folder. Default: toolnorm in the user's data folder."`
	Store   string `placeholder:"WHERE" help:"Database of the tools: the absolute path of a SQLite file, or postgres://… Default: db/mcp_data.db in the data folder."`
	MCPFile string `name:"mcp-file" placeholder:"FILE" help:"The file of further MCP servers, whose tools are offered as well. Default: mcp.json beside the YAML file, if there is one, else in the data folder."`
	Config  string `placeholder:"FILE" help:"YAML file with the settings of serve. Default: toolnorm.yaml in the user's configuration folder, if present."`

	Connection map[string]string `aliases:"connections" placeholder:"NAME=WHERE" help:"Databases that custom SQL tools may ask, as serve says."`
	Sample     string            `default:"auto" enum:"auto,always,never" help:"When to offer the tools of a sample company, which is made up: auto (while there are no tools, knowledge bases or MCP servers of your own), always, or never."`

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
	m.Config = Config{Data: dir, Store: c.Store, Sample: c.Sample, LogLevel: c.LogLevel, LogFormat: c.LogFormat, Connection: c.Connection, Databases: c.Databases, Knowledge: c.Knowledge, remotes: remotes{MCPFile: c.MCPFile}}
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
