package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolnorm/internal/test/must"
)

// round calls a tool as a client of revision 2026-07-28 does, with answers in JSON and a state, and
// gives back the reply.
func round(t *testing.T, s *server.MCPServer, tool, answers, state string) (reply struct {
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct{ Method string }
		Content       []struct{ Text string }
	}
	Error struct {
		Code    int
		Message string
	}
}) {
	t.Helper()
	params := `{"name":"` + tool + `","arguments":{},"inputResponses":` + answers + `,"requestState":"` + state + `","_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{},"roots":{}}}}`
	b := must.Have(json.Marshal(s.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`))))(t)
	must.OK(t, json.Unmarshal(b, &reply))
	return reply
}

func newServer() *server.MCPServer {
	s := server.NewMCPServer("conformance", "1")
	fixture(s)
	return s
}

func TestACallOfSeveralRoundsKeepsItsState(t *testing.T) {
	s, tool := newServer(), "test_input_required_result_multi_round"
	first := round(t, s, tool, `{}`, "")
	second := round(t, s, tool, `{"step1":{"action":"accept","content":{"name":"Ada"}}}`, first.Result.RequestState)
	if _, asks := second.Result.InputRequests["step2"]; !asks || second.Result.RequestState == first.Result.RequestState {
		t.Fatalf("the second round: %+v, want another question and another state", second)
	}
	third := round(t, s, tool, `{"step2":{"action":"accept","content":{"color":"green"}}}`, second.Result.RequestState)
	if c := third.Result.Content; len(c) != 1 || c[0].Text != "Ada likes green." {
		t.Errorf("the third round: %+v, want the name of the first", third)
	}
}

func TestOnlyThatIsAskedForWhichTheClientCan(t *testing.T) {
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_input_required_result_capabilities","_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}}`
	reply, ok := newServer().HandleMessage(t.Context(), json.RawMessage(message)).(mcp.JSONRPCResponse)
	if !ok {
		t.Fatal("no reply")
	}
	b, err := json.Marshal(reply.Result)
	if err != nil || strings.Contains(string(b), "elicitation/create") || !strings.Contains(string(b), "sampling/createMessage") {
		t.Errorf("asked for %s, %v; want sampling only", b, err)
	}
}
