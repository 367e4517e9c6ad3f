package adapters

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolnorm/adapters/internal/grammar"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/print"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// Append appends calls to dst as the family's models write them, with the family's white space
// between text and calls, and returns the extended slice. It never fails: arguments that are not a
// JSON object are repaired first, and ids that the family does not write are numbered from 0 (see
// Number). The text in dst keeps its own white space. Two calls are separated as the family
// separates them, so history reads as the model wrote it.
func (f *Format) Append(dst []byte, calls ...chat.Call) []byte {
	calls = f.Number(0, calls)
	for i := range calls {
		calls[i].Args = objectText(calls[i].Args)
	}
	return print.Calls(dst, f.Family, calls)
}

// objectText returns a call's arguments as one JSON object, which is {} if they cannot be repaired.
// Conversation histories come from clients, which keep what models once wrote, so damaged arguments
// must not make a request fail.
func objectText(args json.RawMessage) json.RawMessage {
	if args = bytes.TrimSpace(args); json.Valid(args) && args[0] == '{' {
		return args
	}
	if out, _ := lenient.RepairAs(string(args), nil); strings.HasPrefix(out, "{") {
		return json.RawMessage(out)
	}
	return json.RawMessage("{}")
}

// Number returns a copy of the calls with the ids that the family writes. The parameter first is
// how many calls the conversation had before. An id that the family could have written is kept; in
// most families that is any id. Kimi K2 and Cohere number calls through the conversation
// (functions.f:3 or just 3), and Mistral wants nine characters, so a template may fail on other
// ids.
func (f *Format) Number(first int, calls []chat.Call) []chat.Call {
	return print.Number(f.Family, first, calls)
}

// AppendResults appends the answers of tools to dst as the family's templates write them, and
// returns the extended slice. The marks that open and close the tool's turn are not written. The
// text texts[i] is the answer to calls[i], which provides the tool's name and the id for the
// answer; both slices must have the same length. If the family's declaration does not say how
// results are written, nothing is appended.
func (f *Format) AppendResults(dst []byte, calls []chat.Call, texts []string) []byte {
	return print.Results(dst, f.Family, calls, texts)
}

// Prompt returns the text that teaches a model the tools and this form of calling them. The text
// has the wording w, or the family's own wording if w is zero. Without tools it is empty. The same
// tools and wording give the same bytes.
func (f *Format) Prompt(tools []chat.Tool, w Wording) string {
	if len(tools) == 0 {
		return ""
	}
	if w == 0 {
		w = f.Wording()
	}
	return print.Prompt(f.Asked(w).Family, tools, w)
}

// Asked returns the format in which Prompt asks for calls: Python's format for a wording with
// signatures and without schemas, and f for any other wording. It also returns f if the family's
// own declaration has a wording, or if Python's format is not known. A prompt that shows signatures
// and asks for JSON would teach two forms at once. Earlier calls in the prompt should be written in
// the returned format.
func (f *Format) Asked(w Wording) *Format {
	if w&(Signatures|Schemas) == Signatures && f.Wording() == 0 && f.set != nil {
		if python := f.set.Named("python"); python != nil {
			return python
		}
	}
	return f
}

// Lead returns the text to write after a rendered prompt so that a call can follow as one JSON
// object {"name": …, "arguments": …}, in any family. It closes open reasoning, repeats the text
// that the model has written since the prompt (the parameter said), and begins the call with the
// family's own mark. If the family's replies consist of messages, the parameter said is ignored,
// since each message is complete in itself. The name is that of the tool, or empty if there are
// several tools.
func (f *Format) Lead(prompt, said, name string) string {
	lead := said
	if f.Header != nil {
		lead = ""
	}
	if p := f.live().OpenedReasoning(prompt); p != nil {
		lead = p.Family.ThinkEnd() + "\n\n" + lead
	}
	return lead + print.Opening(f.Family, name)
}

// carried are the arguments of the call with which Carries tries a name.
const carried = `{"text":"a b"}`

// Carries reports whether a call of a tool with that name, written as the family writes calls, is
// read back as that call, with no other text. It takes some ten microseconds. Names that clients
// send may contain characters that a family cannot write, such as 工具 or "with space". Such tools
// get another name for the model.
func (f *Format) Carries(name string) bool {
	if len(name) > toolset.MaxName {
		return false
	}
	text := string(f.Append(nil, chat.Call{ID: "abcdefghi", Name: name,
		Args: json.RawMessage(carried)}))
	var read chat.Collector
	for ev, err := range f.Decode(&chat.Fixed{{Kind: chat.Text, Text: text},
		{Kind: chat.Finish, Text: chat.Stop}}, Options{
		Tools: []chat.Tool{{Name: name, Schema: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string"}}}`)}},
		Which: Strict, // a call that is found only as a whole reply would be lost after a word
	}) {
		if err != nil {
			return false
		}
		read.Add(ev)
	}
	if len(read.Calls) != 1 || read.Calls[0].Name != name ||
		strings.TrimSpace(read.Text.String()) != "" {
		return false
	}
	var args bytes.Buffer // families write with and without blanks
	return json.Compact(&args, read.Calls[0].Args) == nil && args.String() == carried
}

// Grammar constrains a model to calls of the offered tools while it writes, with servers that take
// a grammar.
type Grammar = grammar.Grammar

// Trigger describes the place in a reply where text ends and the grammar begins, by a mark or by a
// pattern.
type Trigger = grammar.Trigger

// Grammar returns a grammar for the texts that Append writes for calls to the tools. Members of
// small objects may come in any order, and those of large objects in the schema's. Requirements of
// a schema that a grammar cannot express are not enforced, and are reported. If single is true,
// only one call is allowed, for clients that want no more.
func (f *Format) Grammar(tools []chat.Tool, single bool) Grammar {
	return grammar.Of(f.Family, tools, single)
}
