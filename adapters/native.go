package adapters

import (
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Offered finds the tool that a server means by the name of a call: the name exactly, in another case or spelling, or
// behind a known prefix. It answers false when none is meant, or more than one.
func Offered(tools []chat.Tool, name string) (chat.Tool, bool) {
	if t := (&toolset{offered: tools}).find(name); t != nil {
		return t.Tool, true
	}
	return chat.Tool{}, false
}

// Arguments reads the arguments of a call of t that a server handed over as text that is no JSON object: damaged,
// another value that stands for an object, or that object as a string once more. What comes out is one JSON object, with
// the names of what was repaired. It answers false when the text is no such thing. Blank text is an object without members.
func Arguments(t chat.Tool, text string) (args string, repairs []string, ok bool) {
	if strings.TrimSpace(text) == "" {
		return "{}", nil, true
	}
	typ := schema.Compile(t.Schema)
	out, repairs, err := Repair(text, typ)
	if err != nil {
		return "", nil, false
	}
	args, ok = objectOf(out, typ)
	return args, repairs, ok
}
