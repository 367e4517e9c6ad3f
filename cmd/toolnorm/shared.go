package main

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"toolnorm/internal/shared"
)

// openShared opens the data that the replicas of the program share. It returns nil if the store is
// a file, so that there are no replicas. If the store cannot be opened, it logs a warning and
// returns nil as well.
func openShared(m *Main) *shared.Store {
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	defer cancel()
	s, err := shared.Open(ctx, m.toolbox.Database())
	if err != nil {
		m.log.Warn().Err(err).Msg(
			"nothing is shared with other replicas: previous_response_id, toolrun --call and ended MCP sessions are known to this one alone")
	}
	return s
}

// mcpKey returns the key that signs the ids of MCP sessions. It reads the key from the store that
// all replicas share. If there is no such store or the key in it cannot be read, it uses the file
// mcp.key in the data folder. If that fails, too, it logs the error and may return nil.
func mcpKey(m *Main, common *shared.Store) []byte {
	if common != nil {
		key, err := common.Secret("mcp.key")
		if err == nil {
			return key
		}
		m.log.Warn().Err(err).Msg(
			"cannot read the key of MCP sessions from the store: mcp.key in the data folder is used")
	}
	key, err := secret(filepath.Join(m.Config.Data, "mcp.key"))
	if err != nil {
		m.log.WithLevel(m.unkept).Err(err).Msg(
			"cannot save mcp.key: MCP clients must reconnect after a restart")
	}
	return key
}

// desk is how replicas ask each other questions, together with the data that they share.
type desk struct {
	*shared.Store
	*shared.Desk
}

// newDesk returns a desk, through which replicas that share the store ask each other questions.
func newDesk(common *shared.Store) *desk { return &desk{common, &shared.Desk{Mail: common}} }

// join lists this replica for the others, by its host and port, and lets it answer their questions
// until the last request has ended. Without other replicas it does nothing.
func (m *Main) join() {
	if m.desk == nil {
		return
	}
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	_, port, _ := net.SplitHostPort(m.server.listener.Addr().String())
	name := net.JoinHostPort(host, port)
	if m.trace != nil {
		m.trace.Name(name)
	}
	m.admin.Name(name)
	m.writes.Go(context.Background(), func(ctx context.Context) { m.shared.List(ctx, name) })
	m.writes.Go(context.Background(), func(ctx context.Context) {
		m.desk.Run(ctx, func(err error) {
			m.log.Warn().Err(err).Msg(
				"cannot hear of other replicas: what belongs to one of them is not found here until the store answers")
		})
	})
}
