package adapters

import (
	"strings"

	"toolnorm/adapters/internal/lenient"
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
	args, ok = lenient.ObjectOf(out, typ)
	return args, repairs, ok
}

// withoutReasoning takes a block of reasoning off the front, in any family's marks.
func withoutReasoning(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	for _, f := range All() {
		for _, p := range f.Think {
			rest, ok := strings.CutPrefix(text, p.Parts[0].Lit.Key())
			if _, answer, closed := strings.Cut(rest, p.Parts[len(p.Parts)-1].Lit.Key()); ok && closed {
				return strings.TrimSpace(answer)
			}
		}
	}
	return text
}

// Repair reads a document that was meant to be JSON, as models write it: with prose, a fence or reasoning around it, in
// Python's or JavaScript's spelling, with quotes, commas and closers wrong or missing. It gives strict JSON, number text
// and member order kept, values in the types that t wants (nil: as they are), and the names of what was mended, each once.
// Valid JSON comes back byte for byte, unless t wants another type, it is an object in a string, or a string in it looks
// like a Windows path whose backslashes were not doubled. A text that was cut is closed, and "truncated" says so.
//
// A text without any JSON is an error, and so is one that is nested deeper than 512 levels. Time is linear.
func Repair(text string, t *schema.Type) (out string, repairs []string, err error) {
	return lenient.Repair(text, t, withoutReasoning)
}
