package ollama

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/test/must"
)

// TestBodiesSayWhatTheirTypesSay compares the bodies that are written by hand with what
// encoding/json makes of the same values.
func TestBodiesSayWhatTheirTypesSay(t *testing.T) {
	text := "a <b> & \"c\"\n\u2028 \xff 한 🙂"
	call := Call{ID: "call_1"}
	call.Function.Name, call.Function.Arguments = "f", json.RawMessage(`{"n":1.50}`)
	full := ChatRequest{
		Model: "m", Messages: []Message{
			{Role: "system", Content: text},
			{Role: "user", Images: [][]byte{{1, 2}}},
			{Role: "assistant", Thinking: text, Calls: []Call{call, call}},
			{Role: "tool", Content: text, ToolName: text, CallID: text},
		},
		Tools: []upstream.Tool{{Type: "function", Function: upstream.Function{Name: "f", Description: text, Parameters: json.RawMessage(`{}`)}}, {}}, Stream: true,
		Options: map[string]json.RawMessage{"num_ctx": json.RawMessage("4096")}, RenderOnly: true,
	}
	for _, body := range []upstream.Body{
		&full, &ChatRequest{Model: "m", Messages: []Message{}}, &GenerateRequest{},
		&GenerateRequest{Model: "m", Prompt: text, Raw: true, Stream: true, KeepAlive: json.RawMessage(`"5m"`), Format: json.RawMessage(`{"type":"object"}`)},
	} {
		byHand, err := body.JSON()
		must.OK(t, err)
		byType, err := chat.JSON(body)
		must.OK(t, err)
		var got, want any
		if err := json.Unmarshal(byHand, &got); err != nil {
			t.Fatalf("%v: %s", err, byHand)
		}
		must.OK(t, json.Unmarshal(byType, &want))
		if !reflect.DeepEqual(got, want) || len(byHand) != len(bytes.ReplaceAll(byType, []byte(`\u2028`), []byte("\u2028"))) {
			t.Errorf("got  %s\nwant %s", byHand, byType)
		}
	}
}
