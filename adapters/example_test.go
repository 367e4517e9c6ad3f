package adapters_test

import (
	"encoding/json"
	"fmt"
	"io"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// reply is a source that yields a model's text piece by piece.
type reply struct{ pieces []string }

func (r *reply) Next() (chat.Event, error) {
	if len(r.pieces) == 0 {
		return chat.Event{}, io.EOF
	}
	e := chat.Event{Kind: chat.Text, Text: r.pieces[0]}
	if r.pieces = r.pieces[1:]; len(r.pieces) == 0 {
		e = chat.Event{Kind: chat.Finish, Text: chat.Stop}
	}
	return e, nil
}

func (r *reply) Close() error { return nil }

// A Qwen3-Coder model calls a tool, in pieces; the call comes out as strict JSON, typed by the
// tool's schema.
func ExampleFormat_Decode() {
	tools := []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`)}}
	in := &reply{[]string{"One moment.\n\n<tool_", "call>\n<function=get_weather>\n<parameter=city>\nPar", "is\n</parameter>\n<parameter=days>\n3\n", "</parameter>\n</function>\n</tool_call>", ""}}
	for e, err := range adapters.Builtin().For("qwen3-coder:30b").Decode(in, adapters.Options{Tools: tools}) {
		fmt.Println(e.Kind, e.Text, err)
	}
	// Output:
	// text One moment. <nil>
	// call get_weather <nil>
	// args {"city":"Paris","days":3} <nil>
	// end  <nil>
	// finish stop <nil>
}

// Calls are printed as the family's models write them: for history, for examples in a prompt, for
// tests.
func ExampleFormat_Append() {
	call := chat.Call{Name: "get_weather", Args: json.RawMessage(`{"city":"Paris"}`)}
	fmt.Println(string(adapters.Named("hermes").Append(nil, call)))
	fmt.Println(string(adapters.Named("mistral").Append(nil, call)))
	// Output:
	// <tool_call>
	// {"name": "get_weather", "arguments": {"city": "Paris"}}
	// </tool_call>
	// [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}
}
