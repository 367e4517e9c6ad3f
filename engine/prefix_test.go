package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	demoserver "toolnorm/engine/demo"
	"toolnorm/engine/ollama"
)

// TestEachTurnsPromptGoesOnFromTheLast wants what the model has read in one turn at the start of
// the next, to the byte, in both ways in which tools come into a prompt: else the server's cache of
// the prompt is good for nothing. The demo's prompts are JSON that ends in "]}".
func TestEachTurnsPromptGoesOnFromTheLast(t *testing.T) {
	prompt := ""
	demo := &demoserver.Server{Delay: -1}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/api/generate" {
			var q ollama.GenerateRequest
			json.Unmarshal(body, &q)
			prompt = q.Prompt
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		demo.ServeHTTP(w, r)
	}))
	defer srv.Close()
	for _, strategy := range []string{Raw, Prompt} {
		for _, format := range []string{"hermes", "qwen3-coder", "llama3", "mistral", "generic"} {
			e := New(Config{Gate: map[string]string{"*": GateNever}, Ollama: srv.URL, NoProbe: true, Strategy: map[string]string{"*": strategy}})
			before, ms := "", grown()
			for n := 2; n <= len(ms); n++ {
				if ms[n-1].Role == chat.Assistant || n < len(ms) && ms[n].Role == chat.ToolRole {
					continue // nobody asks there
				}
				r := &chat.Request{Model: format, Messages: ms[:n], Tools: []chat.Tool{weather}}
				if n > 3 { // a search has found it
					r.Tools = append(r.Tools, chat.Tool{Name: "get_tide", Schema: weather.Schema, Found: true})
				}
				if _, _, _, err := collect(t, e, r); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(prompt, strings.TrimSuffix(before, "]}")) {
					t.Errorf("%s, %s, %d messages:\n%s\ndoes not go on from\n%s", strategy, format, n, prompt, before)
				}
				before = prompt
			}
		}
	}
}

// grown is a conversation with what clients get wrong: ids that are missing or begin anew, results
// out of order, a call repeated as text.
func grown() []chat.Message {
	ms := []chat.Message{{Role: chat.System, Content: "Be brief."}, {Role: chat.User, Content: "Rome and Oslo?"}}
	for i := range 3 {
		args := json.RawMessage(fmt.Sprintf(`{"city":"Rome","days":%d}`, i))
		ms = append(ms,
			chat.Message{Role: chat.Assistant, Content: "I look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + string(args) + "}\n</tool_call>", Calls: []chat.Call{{ID: "call_0", Name: "get_weather", Args: args}}},
			chat.Message{Role: chat.ToolRole, CallID: "call_0", Content: "sunny"},
			chat.Message{Role: chat.Assistant, Calls: []chat.Call{{Name: "get_weather", Args: args}, {ID: "b", Name: "get_weather", Args: args}}},
			chat.Message{Role: chat.ToolRole, CallID: "b", Content: "snow"},
			chat.Message{Role: chat.ToolRole, Content: "rain"},
			chat.Message{Role: chat.Assistant, Content: "Sunny, snow, rain."},
			chat.Message{Role: chat.User, Content: "And then?"})
	}
	return ms
}

// TestAFoundToolIsListedWhereTheServerReadsCalls holds that a tool whose definition stands in the
// conversation can be called by each strategy, and is in the prompt's list only where the server
// would refuse its calls, or where the list would be empty.
func TestAFoundToolIsListedWhereTheServerReadsCalls(t *testing.T) {
	later := chat.Tool{Name: "get_tide", Schema: weather.Schema, Found: true}
	for _, row := range []struct {
		strategy string
		tools    []chat.Tool
		listed   int
	}{
		{Raw, []chat.Tool{weather, later}, 1}, {Tokens, []chat.Tool{later, weather}, 1}, {Prompt, []chat.Tool{weather, later}, 1},
		{Native, []chat.Tool{weather, later}, 2}, {Tap, []chat.Tool{weather, later}, 2}, {Raw, []chat.Tool{later}, 1}, {Raw, []chat.Tool{weather}, 1},
	} {
		r := &chat.Request{Tools: row.tools}
		if n := len(inPrompt(r, row.strategy).Tools); n != row.listed {
			t.Errorf("%s: of %d tools %d are listed, want %d", row.strategy, len(row.tools), n, row.listed)
		}
		if n := len(callable(r)); n != len(row.tools) {
			t.Errorf("%s: %d tools can be called", row.strategy, n)
		}
	}
	if a, b := root("m", &chat.Request{Tools: []chat.Tool{weather}}), root("m", &chat.Request{Tools: []chat.Tool{weather, later}}); a != b {
		t.Error("a tool that was found makes another conversation")
	}
}
