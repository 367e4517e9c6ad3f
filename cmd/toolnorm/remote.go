package main

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/auth"
	"toolnorm/internal/version"
	"toolnorm/tools/remote"
)

// remotes are the settings of other MCP servers, whose tools are offered here.
type remotes struct {
	MCPFile    string        `name:"mcp-file" placeholder:"FILE" restart:"yes" help:"File that lists other MCP servers, whose tools are offered here as well. Default: mcp.json, next to the YAML file if one is read, otherwise in the data folder."`
	MCPPrivate string        `name:"mcp-private" default:"auto" enum:"auto,always,never" restart:"yes" help:"Whether MCP servers that are added by HTTP may be at private and loopback addresses: auto (by whoever asks from this machine), always or never. Those that are written into the file may."`
	MCPTimeout time.Duration `name:"mcp-timeout" default:"30s" restart:"yes" help:"How long a call of another MCP server's tool may take."`
}

// openRemote connects with the MCP servers of mcp.json. A file that is broken stops the program, since going on with no
// servers would look like an empty one.
// A toolnorm that another one started as an MCP server opens none itself: two that name each other would start
// without end.
func (m *Main) openRemote() error {
	if os.Getenv(remote.Hops) != "" {
		return nil
	}
	path := cmp.Or(m.Config.MCPFile, filepath.Join(m.Config.Data, "mcp.json"))
	if m.Config.MCPFile == "" && m.given.file != nil {
		path = filepath.Join(filepath.Dir(m.given.file.path), "mcp.json")
	}
	log := m.log
	if m.unkept == zerolog.DebugLevel {
		log = log.Level(zerolog.ErrorLevel) // said already, by checkData
	}
	var err error
	m.remote, err = remote.Open(remote.Config{
		Path: path, Registry: m.toolbox.Registry, Version: version.String(), Log: log, CallTime: m.Config.MCPTimeout, Private: m.privateServers,
	})
	if err != nil {
		return command.Wrong(fmt.Errorf("mcp-file: %w", err))
	}
	return nil
}

// closeRemote ends the connections with other MCP servers.
func (m *Main) closeRemote() {
	if m.remote != nil {
		m.remote.Close()
	}
}

// privateServers reports whether who asks may add a server on this machine or in its network: there a user of this
// machine can reach it anyway. An address of the network that a stranger has this server ask is a way around a
// firewall.
func (m *Main) privateServers(ctx context.Context) bool {
	switch m.Config.MCPPrivate {
	case "always":
		return true
	case "never":
		return false
	}
	who := auth.PrincipalOf(ctx)
	return who != nil && who.Here
}

// onLoopback says that only this machine can reach the server.
// A loopback address that is mapped into IPv6 (::ffff:127.0.0.1) counts.
func (m *Main) onLoopback() bool {
	addr, err := netip.ParseAddrPort(m.listener.Addr().String())
	return err == nil && addr.Addr().Unmap().IsLoopback()
}
