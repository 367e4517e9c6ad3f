package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// beside is a gateway to a server that has the resources x:1 and x:2.
type beside struct{ none }

func (beside) Offers() map[string]json.RawMessage {
	return map[string]json.RawMessage{"resources": json.RawMessage(`{}`), "prompts": json.RawMessage(`{}`)}
}

func (beside) Members(_ context.Context, method string) []json.RawMessage {
	if method != "resources/list" {
		return nil
	}
	return []json.RawMessage{json.RawMessage(`{"uri":"x:1","name":"theirs"}`), json.RawMessage(`{"uri":"x:2","name":"theirs"}`)}
}

func (beside) Forward(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, bool, error) {
	known := strings.Contains(string(params), "x:1") || strings.Contains(string(params), "x:2")
	return json.RawMessage(`{"contents":[{"uri":"x","text":"theirs"}]}`), known, nil
}

// TestAnotherServerDoesNotSpeakForThisOne holds that what this server has itself stays its own, and
// that what nobody has is not found, whether this server has anything of the kind or not.
func TestAnotherServerDoesNotSpeakForThisOne(t *testing.T) {
	extra := server.NewMCPServer("x", "1", server.WithResourceCapabilities(false, false))
	extra.AddResource(mcp.NewResource("x:1", "ours"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "x:1", Text: "ours"}}, nil
	})
	// one that fails, whose address the other server has as well
	failing := server.NewMCPServer("x", "1", server.WithResourceCapabilities(false, false))
	failing.AddResource(mcp.NewResource("x:2", "ours"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("the disk is full")
	})
	call := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`
	}
	for _, c := range []struct {
		name        string
		extra       *server.MCPServer
		body        string
		want, never string
	}{
		{"ours is ours", extra, call("resources/read", `"uri":"x:1"`), `"ours"`, "theirs"},
		{"ours that fails is ours", failing, call("resources/read", `"uri":"x:2"`), "the disk is full", "theirs"},
		{"theirs is theirs", extra, call("resources/read", `"uri":"x:2"`), "theirs", "error"},
		{"nobody's", extra, call("resources/read", `"uri":"x:3"`), `"code":-32002`, "supported"},
		{"the list", extra, call("resources/list", ""), `"uri":"x:2"`, `"uri":"x:1","name":"theirs"`},
		{"nobody's, without ours", nil, call("resources/read", `"uri":"x:3"`), `"code":-32002,"message":"there is no \"x:3\""`, "supported"},
		{"a prompt of nobody", nil, call("prompts/get", `"name":"p"`), `"code":-32602,"message":"there is no \"p\""`, "supported"},
	} {
		f := serve(t, Config{Name: "x", Version: "1", Extra: c.extra, Gateway: beside{}})
		if _, body := f.post(c.body, nil); !strings.Contains(body, c.want) || strings.Contains(body, c.never) {
			t.Errorf("%s: %s, want %s and not %s", c.name, body, c.want, c.never)
		}
	}
}
