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
// checked against it. Output promises clients the form of Result.Structured.
type Tool struct {
	Name        string // 1 to 128 of A-Z a-z 0-9 _ - .
	Title       string // for people; empty: the name
	Description string // for the model: what it does, when to use it, what comes back
	// JSON Schema of the arguments, which are an object; empty means any object
	Schema json.RawMessage
	Output json.RawMessage // JSON Schema of Result.Structured; empty: unknown
	Hints  Hints
	// a person is asked before each call, whatever Hints say; clients are not told that the tool
	// only reads
	Confirm bool
	// further members of MCP's listing, such as icons and _meta, as an object; empty: none. If it
	// is set, the annotations in it count and Hints do not
	More    json.RawMessage
	Timeout time.Duration // of one call; 0: the registry's timeout

	// Seen, when set, returns the schema as the caller of ctx may see it, including names that only
	// some callers may know. Arguments are still checked against Schema. If Seen is nil or returns
	// nothing, every caller sees Schema.
	Seen func(ctx context.Context) json.RawMessage

	// Refuse, when set, gets the arguments before they are checked against Schema. If it returns
	// true, its Result is the answer and Call does not run. It is for tools whose specification
	// prescribes the error messages for certain mistakes. For all other mistakes it returns false,
	// and the validator reports them.
	Refuse func(ctx context.Context, args json.RawMessage) (Result, bool)

	// Call runs the tool. The arguments are one JSON object that fits Schema. If Call returns an
	// error, the caller gets a Result with IsError and the error's text.
	Call func(ctx context.Context, args json.RawMessage) (Result, error)
}

// For returns a copy of the tool with the schema that t.Seen returns for the caller of ctx. Without
// one, the schema stays the same.
func (t Tool) For(ctx context.Context) Tool {
	if t.Seen != nil {
		if schema := t.Seen(ctx); len(schema) > 0 {
			t.Schema = schema
		}
	}
	return t
}

// Hints are what a tool claims about its effects, like MCP's annotations. They are claims of the
// tool's author, so nothing is allowed because of them. A nil field means that the tool claims
// nothing. That differs from false, because MCP then assumes the worst: the tool may destroy data
// and reach outside systems.
type Hints struct {
	ReadOnly    *bool // it changes nothing
	Destructive *bool // what it changes may be lost
	Idempotent  *bool // a second call with the same arguments changes nothing more
	OpenWorld   *bool // it talks to outside systems
}

// Result is the result of a call. MCP asks for text in addition to the structured value, for
// clients that read only text.
type Result struct {
	Content    []Part          // for the reader, in order; empty: Structured is the whole result
	Structured json.RawMessage // the same result as one JSON value; nil: there is none
	// the tool failed; Content says why, in words that a model can act on
	IsError bool
	// the result as another MCP server wrote it, for MCP clients; nil: there is none
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

// Part is one piece of a result's content. The constants of PartKind say which fields are used; the
// others are empty.
type Part struct {
	Kind PartKind
	Text string
	Data []byte
	MIME string
	URI  string
}

// TextOf returns a result that consists of one text.
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

// JSONOf returns a result that contains the value v twice: as the structured value, and as the same
// JSON in its text. The text is for clients that show or pass on only text. It returns an error if
// v cannot be encoded as JSON.
func JSONOf(v any) (Result, error) {
	text, err := chat.JSON(v)
	if err != nil {
		return Result{}, err
	}
	r := TextOf(string(text))
	r.Structured = text
	return r, nil
}
