package proxy

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"toolnorm/adapters"
	"toolnorm/engine"
	demoserver "toolnorm/engine/demo"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
)

// TestEveryFormatStreamsByTheRules runs the whole chain without a model server: each family's
// dialect, written by the demo, decoded, and put on the wire.
func TestEveryFormatStreamsByTheRules(t *testing.T) {
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demoserver.Server{Delay: -1}})
	srv := httptest.NewServer(New(Config{Model: eng, Catalog: eng}))
	defer srv.Close()
	for _, f := range adapters.All() {
		t.Run(f.Name, func(t *testing.T) {
			body := `{"model":"demo/` + f.Name + `","messages":[{"role":"user","content":"Get the weather of \"서울\" for 3 days."}],` +
				`"tools":[{"type":"function","function":{"name":"get_weather","description":"Get the weather","parameters":{"type":"object","required":["city","days"],"properties":{"city":{"type":"string"},"days":{"type":"integer"}}}}}]`
			resp, text := do(t, "POST", srv.URL+"/v1/chat/completions", body+`,"stream":true,"stream_options":{"include_usage":true}}`)
			got := mustStream(t, resp.Header, text, streamcheck.Expect{Usage: true, Tools: offered})
			if len(got.Calls) != 1 || got.Calls[0].Name != "get_weather" || got.Finish != "tool_calls" || got.Text == "" {
				t.Fatalf("got %+v", got)
			}
			if args := strings.Join(strings.Fields(got.Calls[0].Args), ""); args != `{"city":"서울","days":3}` {
				t.Errorf("arguments %s", args)
			}
			_, text = do(t, "POST", srv.URL+"/v1/chat/completions", body+`}`)
			var whole openai.ChatCompletionResponse
			must.OK(t, json.Unmarshal([]byte(text), &whole))
			m := whole.Choices[0].Message
			if m.Content != got.Text || len(m.ToolCalls) != 1 || m.ToolCalls[0].Function.Arguments != got.Calls[0].Args {
				t.Errorf("whole %s\nis not the stream %+v collected", text, got)
			}
		})
	}
}
