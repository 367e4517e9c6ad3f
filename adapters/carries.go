package adapters

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// carried are the arguments of the call that Carries tries a name with.
const carried = `{"text":"a b"}`

// Carries says whether a call of a tool with that name, written as the family writes calls, is read as that call, with no
// other text. It takes some ten microseconds.
func (f *Format) Carries(name string) bool {
	if len(name) > maxName {
		return false
	}
	text := string(f.Append(nil, chat.Call{ID: "abcdefghi", Name: name, Args: json.RawMessage(carried)}))
	var read chat.Collector
	for ev, err := range f.Decode(&chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: chat.Stop}}, Options{
		Tools: []chat.Tool{{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)}},
	}) {
		if err != nil {
			return false
		}
		read.Add(ev)
	}
	if len(read.Calls) != 1 || read.Calls[0].Name != name || strings.TrimSpace(read.Text.String()) != "" {
		return false
	}
	var args bytes.Buffer // families write with and without blanks
	return json.Compact(&args, read.Calls[0].Args) == nil && args.String() == carried
}
