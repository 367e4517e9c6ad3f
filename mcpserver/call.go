package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"toolnorm/tools"
)

// callTool runs a tool: one of the registry, else one of mcp-go's server. An unknown name is an error of the protocol; what
// goes wrong with a known tool is a result that says so, which the model can read.
func (e *engine) callTool(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	name := m.said.Name
	if name == "" {
		return nil, fail(codeParams, "tools/call needs the name of a tool")
	}
	t, ours := e.cfg.Registry.Snapshot().Find(name)
	if !ours && e.cfg.Extra.GetTool(name) == nil {
		return nil, e.unknown(ctx, name)
	}
	if ours {
		name = t.Name
	}
	if wait, ok := e.tools.allow(name, time.Now()); !ok {
		text := fmt.Sprintf("%s is called too often; try again in %d s", name, int(math.Ceil(wait.Seconds())))
		return e.result(c, name, tools.Failure(text)), nil
	}
	if !ours {
		return e.bridge(ctx, c, m)
	}
	ctx, done := reporting(ctx, c)
	defer done()
	return e.result(c, name, e.cfg.Registry.Call(ctx, name, m.said.Args)), nil
}

// unknown says that there is no such tool. The data names those that come near.
func (e *engine) unknown(ctx context.Context, name string) *rpcError {
	fault := fail(codeParams, "Unknown tool: %s", name[:min(len(name), 128)])
	fault.data = encode(e.cfg.Registry.Call(ctx, name, nil).Text())
	return fault
}
