package main

import (
	"context"
	"path/filepath"

	"toolnorm/internal/shared"
)

// openShared opens the data that the replicas of the program share. It returns nil if the store is
// a file, so that there are no replicas.
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

// mcpKey returns the key that signs the ids of MCP sessions: one key for all replicas, else the key
// in the data folder.
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
