package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/auth"
	"toolnorm/internal/companymcp"
	"toolnorm/internal/home"
	"toolnorm/internal/toolbox"
	"toolnorm/internal/version"
	"toolnorm/mcpserver"
	"toolnorm/tools/data"
	"toolnorm/tools/kb"
	"toolnorm/tools/remote"
)

// mcpConfig returns the configuration of the MCP server for every transport. The key authenticates
// its sessions; it may be nil.
func (m *Main) mcpConfig(key []byte) mcpserver.Config {
	cfg := mcpserver.Config{
		Registry: m.toolbox.Registry, Outcome: companyTools(m.toolbox), Version: version.String(),
		Log: m.log, Key: key, Ended: m.kept("mcp.ended"), PublicURL: m.Config.PublicURL,
		Principal: func(r *http.Request) string { return auth.Caller(r.Context()) },
		Identity: func(ctx context.Context, r *http.Request) context.Context {
			return auth.WithPrincipal(ctx, auth.PrincipalOf(r.Context()))
		},
		Bounds: mcpserver.Bounds{Stall: m.Config.ClientTimeout, Beat: m.Config.Heartbeat},
	}
	if m.remote != nil {
		cfg.Gateway = m.remote
	}
	if m.toolbox.Company != nil {
		cfg.Extra = companymcp.New("toolnorm", version.String(), mcpGuide, m.toolbox.Company)
	}
	return cfg
}

// newMCP returns the MCP server. The prompts and resources of the sample company are offered only
// while its tools are.
func newMCP(cfg mcpserver.Config, box *toolbox.Box) *mcpserver.Server {
	s := mcpserver.New(cfg)
	s.OfferExtra(box.Sampled)
	return s
}

// mcpGuide describes the server as a whole to models.
const mcpGuide = "Tools and documents of a company. Search the documents with search_docs before you answer questions about the company; employees have ids like EMP001."

// companyTools returns a function that reports whether a tool of this name belongs to the sample
// company. Those tools return an object with success, and with a result or an error.
func companyTools(box *toolbox.Box) func(name string) bool {
	names := map[string]bool{}
	if box.Company != nil {
		for _, t := range box.Company.Tools() {
			names[t.Name] = true
		}
	}
	return func(name string) bool { return names[name] }
}

// closeMCP ends the streams of MCP clients, which would never end by themselves. It waits for the
// running calls until ctx ends.
func (m *Main) closeMCP(ctx context.Context) {
	if m.mcp == nil {
		return
	}
	if err := m.mcp.Close(ctx); err != nil {
		m.log.Warn().Msg("shutdown: aborting tool calls of MCP clients")
	}
}

// secretBytes is the length of a secret.
const secretBytes = 32

// secret returns the random bytes in the file at path, which it creates the first time and which
// only the user can read. It creates the file by a link, which fails if the file exists; a rename
// would replace the key of a running program. It returns an error if the file cannot be written, or
// has not secretBytes bytes.
func secret(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	made := make([]byte, secretBytes)
	rand.Read(made) // never fails
	// The file appears whole or not at all, so two programs that start at the same time read the
	// same secret.
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(fresh, made, 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(fresh)
	if err := os.Link(fresh, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	key, err := os.ReadFile(path)
	if err == nil && len(key) != secretBytes {
		err = fmt.Errorf("%s has %d bytes, not %d; remove it and all MCP clients begin anew", path,
			len(key), secretBytes)
	}
	return key, err
}

// mcpCommands are the commands about MCP. Without a name the program serves MCP on standard input
// and output.
type mcpCommands struct {
	Stdio mcpStdio `cmd:"" default:"withargs" help:"Serve the tools to the MCP client that started the program, on standard input and output."`
	Login mcpLogin `cmd:"" help:"Sign in to an MCP server of mcp.json that asks for it (OAuth)."`
}

// mcpLogin is the command "toolnorm mcp login", which signs the user in to an MCP server.
type mcpLogin struct {
	Name string `arg:"" help:"The server's name in mcp.json."`

	command.Folders `embed:"" group:"Server:"`
	MCPFile         string        `name:"mcp-file" placeholder:"FILE" help:"File that lists the servers. Default: mcp.json, next to the YAML file if one is read, otherwise in the data folder." group:"Tools:"`
	Wait            time.Duration `default:"5m" help:"How long to wait for the browser." group:"Tools:"`
}

// Run waits until the user has signed in with a browser on this machine. It returns an error if the
// sign-in fails or is not finished in time.
func (c *mcpLogin) Run(m *Main) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := home.Data(c.Data)
	if err != nil {
		return command.Wrong(err)
	}
	m.Config.Folders, m.Config.MCPFile = command.Folders{Data: dir}, c.MCPFile
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Wait, fmt.Errorf("%v are over", c.Wait))
	defer cancel()
	err = remote.SignIn(ctx, m.given.mcpFile(&m.Config), filepath.Join(dir, accountsFile), c.Name,
		func(url string) {
			fmt.Fprintf(m.Out, "Open this address in a browser on this machine:\n\n%s\n\n", url)
		})
	if err != nil {
		return err
	}
	fmt.Fprintf(m.Out, "Signed in to %s. A server that is running uses it within seconds.\n",
		c.Name)
	return nil
}

// mcpStdio is the command mcp, for MCP clients that start their servers themselves, as Claude
// Desktop does.
type mcpStdio struct {
	JWTToken string `name:"jwt-token" placeholder:"JWT" help:"The JWT of whoever asks, where JWTs are configured; verified when the program starts. Safer in the environment."`

	command.Folders `embed:"" group:"Server:"`
	Grace           time.Duration `default:"10s" help:"How long running calls may continue when the client has closed standard input." group:"Server:"`

	samples          `embed:"" group:"Tools:"`
	command.Database `embed:"" group:"Tools:"`
	command.Sources  `embed:"" group:"Tools:"`
	MCPFile          string      `name:"mcp-file" placeholder:"FILE" help:"File that lists other MCP servers, whose tools are offered here as well. Default: mcp.json, next to the YAML file if one is read, otherwise in the data folder." group:"Tools:"`
	Databases        data.Config `embed:"" group:"Tools:"`
	Knowledge        kb.Config   `embed:"" group:"Tools:"`

	jwts      `embed:"" group:"Access:"`
	reaches   `embed:"" group:"Access:"`
	LogLevel  string `default:"warn" enum:"debug,info,warn,error" env:"-" help:"What to log to standard error: debug, info, warn or error." group:"Debug:"`
	LogFormat string `default:"auto" enum:"auto,text,json" help:"Log format: text, json, or auto (text on a terminal, JSON elsewhere)." group:"Debug:"`
}

// Run answers the client until that closes standard input, or until a signal comes. Only the
// protocol is written to standard output. There is no key and no Origin to check, because the user
// who starts the program may use its tools. Run opens the data itself and does not ask a running
// server, since users expect it to work alone; SQLite in WAL mode and PostgreSQL let both work on
// the same data. It returns an error if the settings are wrong, or if the data cannot be opened.
func (c *mcpStdio) Run(m *Main) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := home.Data(c.Data)
	if err != nil {
		return command.Wrong(err)
	}
	m.Config.Folders, m.Config.Database, m.Config.Sources, m.Config.samples = command.Folders{
		Data: dir}, c.Database, c.Sources, c.samples
	m.Config.Databases, m.Config.Knowledge, m.Config.MCPFile = c.Databases, c.Knowledge, c.MCPFile
	m.Config.LogLevel, m.Config.LogFormat = c.LogLevel, c.LogFormat
	m.log = m.newLog()
	who, err := c.principal(ctx, c.JWTToken)
	if err != nil {
		return command.Wrong(err)
	}
	sets, err := c.sets()
	if err != nil {
		return command.Wrong(err)
	}
	rights, err := c.rights()
	if err != nil {
		return command.Wrong(err)
	}
	who.Sets = sets.Of(who)
	rights.Settle(who)
	opening, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	if m.toolbox, err = toolbox.Open(opening, m.Config.toolbox(m.log)); err != nil {
		return err
	}
	m.openRemote()
	defer m.closeRemote()
	// cancelled before the store is closed, since that would be reported as a failure
	following, leave := context.WithCancel(ctx)
	defer leave()
	followTools(following, m.toolbox, m.log)
	cfg := m.mcpConfig(nil)
	if m.remote != nil {
		// so that a client which lists the tools only once, at its start, gets the tools of other
		// servers as well
		cfg.Settle = m.remote.Settle
	}
	m.mcp = newMCP(cfg, m.toolbox)
	err = m.mcp.Stdio(auth.WithPrincipal(ctx, who), m.In, m.Out, c.Grace)
	if ctx.Err() != nil {
		err = nil // ending by a signal is not an error
	}
	leave()
	m.closeMCP(ctx)
	return errors.Join(err, m.toolbox.Close())
}
