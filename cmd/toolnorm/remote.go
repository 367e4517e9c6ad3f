package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/auth"
	"toolnorm/internal/version"
	"toolnorm/tools/remote"
)

// remotes are the settings of other MCP servers, whose tools are offered here.
type remotes struct {
	MCPFile    string        `name:"mcp-file" placeholder:"FILE" restart:"yes" help:"File that lists other MCP servers, whose tools are offered here as well. Default: mcp.json, next to the YAML file if one is read, otherwise in the data folder."`
	MCPPrivate string        `name:"mcp-private" default:"auto" enum:"auto,always,never" restart:"yes" help:"Whether MCP servers that are added by HTTP may be at private and loopback addresses: auto (by whoever asks from this machine), always or never. Those that are written into the file may."`
	MCPTimeout time.Duration `name:"mcp-timeout" default:"30s" restart:"yes" help:"How long another MCP server may say nothing while it answers a call."`
}

// accountsFile is the file in the data folder that stores the sign-ins to MCP servers.
const accountsFile = "mcp.accounts"

// openRemote connects to the MCP servers of mcp.json. Entries that cannot be used do not stop the
// program. They are logged, and listed at /mcp/list?state=1 and on the admin page. If another
// toolnorm started this one as its MCP server, openRemote does nothing, because two that name each
// other would start each other without end.
func (m *Main) openRemote() {
	if os.Getenv(remote.Hops) != "" {
		return
	}
	path := m.given.mcpFile(&m.Config)
	log := m.log
	if m.unkept == zerolog.DebugLevel {
		log = log.Level(zerolog.ErrorLevel) // checkData has already warned
	}
	m.remote = remote.Open(remote.Config{
		Path: path, Registry: m.toolbox.Registry, Version: version.String(),
		Accounts: m.kept(accountsFile), Log: log, CallTime: m.Config.MCPTimeout,
		Private: m.Config.private,
	})
}

// mcpFile returns the path of the file that lists other MCP servers: the one of the setting, else
// mcp.json beside the settings file or, without one, in the data folder.
func (g given) mcpFile(c *Config) string {
	if c.MCPFile == "" && g.file != nil {
		return filepath.Join(filepath.Dir(g.file.path), "mcp.json")
	}
	return cmp.Or(c.MCPFile, filepath.Join(c.Data, "mcp.json"))
}

// closeRemote ends the connections with other MCP servers, if there are any.
func (m *Main) closeRemote() {
	if m.remote != nil {
		m.remote.Close()
	}
}

// private reports whether the caller may add a server on this machine or in its network. A user of
// this machine can reach such a server anyway, but a caller from elsewhere could use this program
// to get around a firewall.
func (r *remotes) private(ctx context.Context) bool {
	switch r.MCPPrivate {
	case "always":
		return true
	case "never":
		return false
	}
	who := auth.PrincipalOf(ctx)
	return who != nil && who.Here
}
