// Package calldocs generates random documents that contain calls in the notation of a model family,
// and checks whether a call with such a document as an argument is decoded correctly. A document
// that looks like calls is the hardest value for the decoder.
//
// Real files about one family's calls are rare. A generated document has calls in all forms that
// the family reads, and calls of other families. They are whole or cut anywhere, plain or within
// source text, and some follow each other directly. Some documents contain the closing tag of the
// call around them, followed by a call in another notation.
//
//	calldocs.go  Docs: generates the documents
//	read.go      Trips, Read: decode the calls and compare
package calldocs

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"

	"toolnorm/chat"
)

// Tools are the tools that the calls in documents name, and the tools with which documents are
// written.
var Tools = []chat.Tool{
	tool("write_file", `"path":{"type":"string"},"content":{"type":"string"}`, `"path","content"`),
	tool("save", `"content":{"type":"string"},"path":{"type":"string"},"mode":{"type":"string"},`+
		`"line":{"type":"integer"}`, `"content"`),
	tool("run_shell", `"command":{"type":"string"}`, `"command"`),
	tool("get_weather", `"city":{"type":"string"},"days":{"type":"integer"}`, `"city"`),
	tool("get_time", `"tz":{"type":"string"}`, ""),
}

// tool returns a tool with the given parameters. The argument required lists the names of those
// that every call must have. Both are parts of a JSON schema.
func tool(name, parameters, required string) chat.Tool {
	schema := `{"type":"object","properties":{` + parameters + `},"required":[` + required + `]}`
	return chat.Tool{Name: name, Schema: json.RawMessage(schema)}
}

// Writer appends calls to a text in the notation of a family.
type Writer interface {
	Append(dst []byte, calls ...chat.Call) []byte
}

// Mark holds the opening and the closing tag of one form of a family's calls.
type Mark struct {
	Open, Close string
	Around      bool // whether a whole call of another form may be inside
}

// Docs generates documents about the calls of a family.
type Docs struct {
	*rand.Rand
	Own    Writer   // the family
	Marks  []Mark   // not empty
	Others []Writer // other families
}

// Call returns a call with a document as one argument, and the call's text in the family's
// notation.
func (d *Docs) Call() (chat.Call, string) {
	call, args := chat.Call{Name: "save"}, map[string]string{"content": d.text()}
	if d.Intn(2) == 0 {
		call.Name, args["path"] = "write_file", "a/b.txt"
	}
	call.Args, _ = json.Marshal(args)
	return call, string(d.Own.Append(nil, call))
}

// text returns a document of one to six parts.
func (d *Docs) text() string {
	var b strings.Builder
	for range 1 + d.Intn(6) {
		switch d.Intn(8) {
		case 0:
			b.WriteString(pick(d.Rand,
				[]string{"Calls look like this.\n", "# How it is written\n\n",
					"x := 1\n\n", "\n", "if a < b && c > d {\n"}))
		case 1:
			fmt.Fprintf(&b, "\t\t{%q, \"cut\"},\n", d.calls())
		case 2:
			fmt.Fprintf(&b, "See %s here.\n", d.calls())
		case 3:
			b.WriteString(d.between() + "\n")
		default:
			b.WriteString(d.calls() + "\n")
		}
	}
	return b.String()
}

// calls returns the text of one call, or of two calls that follow each other. Half of these texts
// are cut at the beginning or the end.
func (d *Docs) calls() string {
	text := d.call()
	if d.Intn(2) == 0 {
		text += pick(d.Rand, []string{"\n", "", "\n\n"}) + d.call()
	}
	switch d.Intn(4) {
	case 0:
		text = text[:d.Intn(len(text))]
	case 1:
		text = text[d.Intn(len(text)):]
	}
	return strings.ToValidUTF8(text, "")
}

// between returns a text that goes inside a call. It ends that call, continues with a call in
// another notation, and then possibly begins a call of the family again.
func (d *Docs) between() string {
	const value = "one\ntwo"
	args, _ := json.Marshal(map[string]string{"content": value})
	call := strings.TrimSpace(string(d.Own.Append(nil, chat.Call{Name: "save", Args: args})))
	head, tail, ok := strings.Cut(call, value)
	if !ok {
		return d.calls()
	}
	text := value + tail + pick(d.Rand, []string{"\n", "", "\n\n"}) + d.foreign(d.named())
	switch d.Intn(3) {
	case 0:
		text += "\n" + head + value
	case 1:
		text += "\n" + d.call()
	}
	return text
}

// call returns the text of a random call, in the family's notation or in another one.
func (d *Docs) call() string {
	c := d.named()
	if d.Intn(2) == 0 {
		return d.foreign(c)
	}
	return strings.TrimSpace(string(d.Own.Append(nil, c)))
}

// foreign returns the text of a call as another family writes it, in most cases with tags of this
// family around it.
func (d *Docs) foreign(c chat.Call) string {
	mark := pick(d.Rand, d.Marks)
	var body []byte
	switch n := d.Intn(6); {
	case n < 2 && len(d.Others) > 0:
		text := strings.TrimSpace(string(pick(d.Rand, d.Others).Append(nil, c)))
		lines, own := strings.NewReplacer("\n", ""), string(d.Own.Append(nil, c))
		if lines.Replace(text) != lines.Replace(own) {
			return text // else it is the family's own notation
		}
		fallthrough
	default:
		body, _ = json.Marshal(map[string]any{"name": c.Name, "arguments": c.Args})
	case n == 2 && len(d.Others) > 0:
		body = pick(d.Rand, d.Others).Append(nil, c)
	case n == 3 && mark.Around:
		body = d.Own.Append(nil, c)
	}
	return strings.TrimSpace(mark.Open + "\n" + strings.TrimSpace(string(body)) + "\n" + mark.Close)
}

// named returns a random call of one of the tools.
func (d *Docs) named() chat.Call {
	return pick(d.Rand, []chat.Call{
		{Name: "run_shell", Args: json.RawMessage(`{"command": "ls"}`)},
		{Name: "get_weather", Args: json.RawMessage(`{"city": "Oslo", "days": 3}`)},
		{Name: "get_time", Args: json.RawMessage(`{}`)},
		{Name: "write_file", Args: json.RawMessage(`{"path": "a.txt", "content": "one\ntwo\n"}`)},
	})
}

// pick returns a random element of list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.Intn(len(list))] }
