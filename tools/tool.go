// Package tools is a registry of named functions with JSON schemas; Registry.Call is the one entry
// for running any of them.
//
// Every face (the OpenAI endpoint, the MCP server, the command line, the web page) offers the same
// registry. A new tool is one Go file with its function and one Markdown file with its description.
//
//	tool.go      a tool and its result; part.go: pieces of a result; typed.go: tools from Go functions
//	registry.go  tools by name, and the state of all of them at one moment
//	call.go      running one; execute.go: its outcome as one JSON object
//	toolset.go   sets of tools, and what a caller may use
//	report.go    what a call reports while it runs
//	peer.go      the MCP client on whose behalf another server is asked
package tools

import (
	"context"
	"encoding/json"
	"time"

	"toolnorm/chat"
)

// Tool is a function that may be called by name. Models and clients see Schema, and arguments are
// checked against it. Output is a promise to clients that read Result.Structured.
type Tool struct {
	Name        string // 1 to 128 of A-Z a-z 0-9 _ - .
	Title       string // for people; empty: the name
	Description string // for the model: what it does, when to use it, what comes back
	// JSON Schema of the arguments, which are an object; empty means any object
	Schema json.RawMessage
	Output json.RawMessage // JSON Schema of Result.Structured; empty: unknown
	Hints  Hints
	// a person is asked before each call, whatever the hints say; clients get none that it only
	// reads
	Confirm bool
	// further members of MCP's listing, as icons and _meta, an object; empty: none. With it, its
	// annotations count and not Hints
	More    json.RawMessage
	Timeout time.Duration // of one call; 0: the registry's

	// Seen, when set, returns the schema as the caller of ctx may see it, with names that only some
	// callers may know. Arguments are checked against Schema all the same. If Seen is nil or
	// returns nothing, every caller sees Schema.
	Seen func(ctx context.Context) json.RawMessage

	// Refuse, when set, looks at the arguments as they came, before they are checked against
	// Schema, and may answer instead of Call. It is for tools whose specification prescribes the
	// error messages that the validator would otherwise write. It leaves all other mistakes to the
	// validator.
	Refuse func(ctx context.Context, args json.RawMessage) (Result, bool)

	// Call runs the tool. The arguments are one JSON object that fits Schema. An error is a failure
	// of the tool; it becomes a Result with IsError that has the error's own words.
	Call func(ctx context.Context, args json.RawMessage) (Result, error)
}

// For returns the tool as the caller of ctx may see it.
func (t Tool) For(ctx context.Context) Tool {
	if t.Seen != nil {
		if schema := t.Seen(ctx); len(schema) > 0 {
			t.Schema = schema
		}
	}
	return t
}

// Hints hold what a tool says about its effects, like MCP's annotations; a nil field means that it
// says nothing. They are claims of the tool's author, so nothing is allowed because of them. The
// fields are pointers, since MCP's defaults are not all false: a tool that says nothing may destroy
// data and reach outside.
type Hints struct {
	ReadOnly    *bool // it changes nothing
	Destructive *bool // what it changes may be lost
	Idempotent  *bool // a second call with the same arguments changes nothing more
	OpenWorld   *bool // it talks to outside systems
}

// Result is the result of a call. MCP asks for text besides the structured value, for clients that
// read only text.
type Result struct {
	Content    []Part          // for the reader, in order; empty: Structured says it all
	Structured json.RawMessage // the same as one JSON value; nil: there is none
	// the tool failed; Content says why, in words that a model can act on
	IsError bool
	// the result as another MCP server wrote it, for clients of MCP; nil: the rest is all
	Raw json.RawMessage
}

// PartKind is the kind of a Part: one of MCP's kinds of content.
type PartKind uint8

// The kinds of part.
const (
	Text  PartKind = iota // Part.Text
	Image                 // Part.Data in Part.MIME
	Audio                 // Part.Data in Part.MIME
	// an embedded document: Part.URI with Part.Text or Part.Data in Part.MIME
	Resource
	Link // Part.URI of a document, with Part.Text as its name
)

// Part is one piece of a result's content.
// Which fields count depends on the kind; the others are empty.
type Part struct {
	Kind PartKind
	Text string
	Data []byte
	MIME string
	URI  string
}

// TextOf returns a result of one text.
func TextOf(text string) Result {
	return Result{Content: []Part{{Text: text}}}
}

// Failure returns a result that says why a tool failed. The model reads it, so it should say what
// to do next.
func Failure(text string) Result {
	r := TextOf(text)
	r.IsError = true
	return r
}

// JSONOf returns a result that holds the value v twice: as the structured value, and as the same
// JSON in its text. The text is for clients that show or pass on only text.
func JSONOf(v any) (Result, error) {
	text, err := chat.JSON(v)
	if err != nil {
		return Result{}, err
	}
	r := TextOf(string(text))
	r.Structured = text
	return r, nil
}
