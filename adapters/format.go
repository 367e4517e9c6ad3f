package adapters

import (
	"embed"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Wording selects how Prompt describes tools. It is a combination of the constants below. The zero
// value is the family's own wording.
type Wording = declaration.Wording

// The kinds of wording. Without either of the first two, schemas are used.
const (
	Schemas = declaration.Schemas // each tool as JSON with its schema
	// each tool as the head of a Python function, which is much shorter
	Signatures = declaration.Signatures
	// a user's message and the call that answers it, made of the first offered tool
	Example = declaration.Example
)

// ParseWording parses names of wordings that are separated by blanks or +, as in
// "signatures+example". It returns an error for an unknown name.
func ParseWording(s string) (Wording, error) { return declaration.ParseWording(s) }

//go:generate go run toolnorm/cmd/toolnorm formats doc ../docs/families.md

//go:embed families/*.txt
var embedded embed.FS

// builtin returns the embedded families. They are read at the first call, which takes some ten
// milliseconds, so that commands that decode no reply start without this delay.
var builtin = sync.OnceValue(mustLoadEmbedded)

// mustLoadEmbedded reads the embedded families, and panics if a declaration cannot be read. The
// tests load every embedded declaration, so a program that panics here is never released.
func mustLoadEmbedded() *Set {
	dir, err := fs.Sub(embedded, "families")
	if err != nil {
		panic(err)
	}
	s, odd := new(Set).Load(dir)
	if odd != nil {
		panic(err)
	}
	return s
}

// Builtin returns the set of the formats that come with the program, one for each family of models.
// It is made once, from files that are embedded in the program. Load and Parse do not change it.
// Load returns a new set that has a user's own families too.
func Builtin() *Set { return builtin() }

// Named returns the built-in format with that name, or nil if there is none. Names are those of the
// format lines, such as "hermes" and "qwen3-coder". The setting --format takes them.
func Named(name string) *Format { return Builtin().Named(name) }

// All returns the built-in formats, sorted by name.
// The slice is the caller's; the formats in it are shared.
func All() []*Format { return Builtin().All() }

// Decode reads a reply. Text from the source is decoded; every other event passes through, and no
// call or mark extends across it. The sequence ends with a Finish event or an error from the source
// or the context; model text never causes an error. Leaving the range closes the source. The source
// is read while the caller ranges over the sequence, in the caller's goroutine, so there is nothing
// to stop or to wait for. The same text gives the same events however it was cut into pieces.
// Options.Tools decides which names are calls. Text that looks like a call of another tool stays
// text.
func (f *Format) Decode(in chat.Source, o Options) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		defer in.Close()
		if len(o.Tools) > 0 {
			yield = (&counted{yield: yield, tools: o.Tools, most: o.Same,
				known: o.Known}).take
		}
		newDecoder(f, in, o, yield).run()
	}
}

// Offered returns the offered tool that the name in a call means. It accepts the exact name, other
// cases and spellings of it, and known prefixes. It returns false if no tool, or more than one, is
// meant. Offered is for calls that a server's own parser has read, in which names are spelled as in
// text. For example, "functions.get_weather", "Get_Weather" and "get-weather" mean get_weather, but
// for "get_wether" it returns false.
func Offered(tools []chat.Tool, name string) (chat.Tool, bool) {
	if t := toolset.New(tools, nil).Find(name); t != nil {
		return t.Tool, true
	}
	return chat.Tool{}, false
}

// Arguments returns the arguments of a call of the tool t as one JSON object, and the names of the
// repairs that were needed. It is for texts that are not a JSON object, because a server passed on
// a damaged object, an object in a string, or another value in place of an object. It returns false
// if the text cannot be read in this way, or if it has several objects that fit the tool, because
// each of them may be a call. Blank text is an object without members. OpenAI's form
// has arguments as text, so a server or a client's history may contain anything that a model wrote.
func Arguments(t chat.Tool, text string) (args string, repairs []string, ok bool) {
	if strings.TrimSpace(text) == "" {
		return "{}", nil, true
	}
	typ := schema.Compile(t.Schema)
	out, repairs, err := Repair(text, typ)
	if err != nil || slices.Contains(repairs, "text-around") &&
		lenient.Several(withoutReasoning(text), typ) {
		return "", nil, false
	}
	args, ok = lenient.ObjectOf(out, typ)
	return args, repairs, ok
}

// withoutReasoning returns the text without a block of reasoning at its start, in any family's
// marks. Only a closed block is removed: in an open block it is not known where the answer begins.
func withoutReasoning(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	for _, f := range All() {
		for _, p := range f.Think {
			rest, ok := strings.CutPrefix(text, p.Parts[0].Lit.Key())
			if _, answer, closed := strings.Cut(rest, p.Parts[len(p.Parts)-1].Lit.Key()); ok &&
				closed {
				return strings.TrimSpace(answer)
			}
		}
	}
	return text
}

// Repair reads a document that was meant to be JSON, as models write it: with prose, a fence or
// reasoning around it, in Python's or JavaScript's spelling, with quotes, commas and closers wrong
// or missing. It returns strict JSON that keeps the text of numbers and the order of members, with
// values in the types of t (nil: as they are), and the names of the repairs, each once. Valid JSON
// is returned byte for byte, with three exceptions: t wants another type, the document is an object
// in a string, or a string in it looks like a Windows path whose backslashes were not doubled. A
// text that was cut is closed, and the repair "truncated" says so.
//
// A text without any JSON is an error, and so is one that is nested deeper than 512 levels. Time is
// linear.
func Repair(text string, t *schema.Type) (out string, repairs []string, err error) {
	return lenient.Repair(text, t, withoutReasoning)
}
