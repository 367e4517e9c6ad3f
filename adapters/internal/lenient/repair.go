package lenient

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Repair reads a document that was meant to be JSON, for adapters.Repair. It returns the document
// as strict JSON and the names of the repairs. The function strip removes text that is not part of
// the document, such as reasoning, from the beginning. The type t, which may be nil, decides the
// spelling of keys and the types of values, and whether a string that contains an object remains a
// string. A document without defects is returned unchanged, including its white space, with no
// repairs. Repair returns an error only if nothing in the text begins a value, or if MaxDepth is
// exceeded.
func Repair(text string, t *schema.Type, strip func(string) string) (
	out string, repairs []string, err error) {
	trimmed := strings.Trim(text, " \t\r\n")
	body := strip(trimmed)
	doc := documentIn(body, t)
	switch {
	// "Sorry, I cannot."
	case doc == nil:
		return "", nil, errors.New("there is no JSON in the text")
	case slices.Contains(doc.repairs, tooDeep):
		return "", nil, fmt.Errorf("the JSON is nested deeper than %d levels", MaxDepth)
	}
	// "{\"a\": 1}"
	if inner := objectInside(doc.out, t); inner != nil {
		inner.repairs = append(append(doc.repairs, "object-in-string"), inner.repairs...)
		doc = inner
	}
	// without defects: the text as it was, with the white space around it
	if doc.out == trimmed {
		return text, doc.repairs, nil
	}
	if doc.around || body != trimmed {
		doc.repairs = append(doc.repairs, "text-around")
	}
	return doc.out, doc.repairs, nil
}

// document is a value that was read somewhere in a text, with the repairs that it needed. They are
// not recorded elsewhere, because several places of a text are tried, and only the repairs of the
// best one are reported.
type document struct {
	out     string
	repairs []string
	whole   bool // no part of it was missing
	odd     bool // a part of it may mean something else
	end     int  // how many bytes were read
	around  bool // more than white space comes before or after it
}

// readDocument reads the value at the start of a text. It returns nil if there is none. A damaged
// value is still returned as a document, with its repairs. The fields whole and around say whether
// the value was complete, and whether other text follows it. A value that is complete and alone is
// the safer evidence.
func readDocument(text string, t *schema.Type) *document {
	r := documentReader(text)
	r.Out.Typ = t // its members are keys, also without quotes
	r.Pos += r.Space(0)
	if !r.Value(t) {
		return nil
	}
	// {"a": [1, 2
	if r.Unclosed {
		r.Repaired("closers")
	}
	end := r.Pos
	r.Pos += r.Space(0)
	return &document{string(r.Out.JSON), r.Repairs, !r.Out.Broken && !r.Unclosed && !r.Out.Doubt,
		r.Out.Odd, end, r.At(0) >= 0}
}

// documentReader returns a reader of a text that is a document and not part of a reply. A string
// that is not closed ends only at the end of the text, not at a closing tag.
func documentReader(text string) *Reader {
	r := NewReader(scan.Whole(text))
	r.Out = new(NewOutput("", nil, nil))
	return r
}

// RepairAs reads a document that begins with a value, and returns the value as strict JSON of the
// type t. It is used for values inside calls, such as strings that contain objects and tags that
// contain lists. The result whole is false if something was missing, left over or unclear. Then out
// may be incomplete, or "" if there is no value. A byte order mark at the beginning is ignored,
// because it comes from files that tools have read.
func RepairAs(text string, t *schema.Type) (out string, whole bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	doc := readDocument(text, t)
	if doc == nil {
		return "", false
	}
	whole = doc.whole && !doc.around
	if doc.odd && whole && IsPython(text, doc.out) {
		return doc.out, true
	}
	if doc.odd || !whole {
		direct := ""
		if whole {
			direct = doc.out
		}
		if m, ok := Decide(text, repair.Args{Type: t}, "", direct); ok && !m.Open &&
			strings.TrimSpace(text[m.End:]) == "" {
			return m.Args, true
		}
		return doc.out, false
	}
	return doc.out, whole
}

// documentIn finds the value in a text: at its start, or the best of those that begin inside. It
// returns nil if there is none. A brace or bracket at the start begins the document. A string or a
// parenthesis at the start does so only if nothing follows the value. Everything else, including a
// fence, is text with JSON inside, as in "Here it is: {…}".
func documentIn(text string, t *schema.Type) *document {
	switch {
	// ```json⏎{…}⏎```
	case text == "" || strings.HasPrefix(text, "```"):
	case text[0] == '{' || text[0] == '[':
		return readDocument(text, t)
	case text[0] == '(' || documentReader(text).StartsString(0):
		// "city": "Rome"}
		if rest := openingLost(text); rest != "" {
			doc := readDocument("{"+rest, t)
			doc.repairs = append(doc.repairs, "opening-brace")
			return doc
		}
		if doc := readDocument(text, t); !doc.around {
			return doc
		}
	default:
		// 42, True
		if _, ok := parseLiteral(text); ok {
			return readDocument(text, t)
		}
	}
	return bestIn(text, t)
}

// openingLost returns text if it is an object without its opening brace, and otherwise "". Such a
// text begins with a key, perhaps after the key of the arguments. For example, "city": "Rome"} lost
// its first byte, and "arguments": "city": "Rome"} lost the brace of the inner object.
func openingLost(text string) string {
	key, rest := keyOf(text)
	if _, next := keyOf(rest); ArgsKeys[key] && next != "" {
		return rest
	}
	if rest != "" {
		return text
	}
	return ""
}

// keyOf returns the quoted key at the start of a text, and the text after its colon. Both are "" if
// there is no such key.
func keyOf(text string) (key, rest string) {
	r := documentReader(text)
	if key, value := r.KeyAt(0); value > 0 && r.StartsString(0) {
		return key, strings.TrimSpace(text[value:])
	}
	return "", ""
}

// maxCandidates bounds how many places of a text are tried. Each of them may be read to the end of
// the text, so without a bound the time would not be linear. In a log with hundreds of objects none
// of them is the document anyway.
const maxCandidates = 16

// inside reads the values that begin inside a text with a byte of openers, one after the other. It
// returns each with its rank.
func inside(text, openers string, t *schema.Type) iter.Seq2[*document, int] {
	return func(yield func(*document, int) bool) {
		for range maxCandidates {
			n := strings.IndexAny(text, openers)
			if n < 0 {
				return
			}
			text = text[n:]
			doc := readDocument(text, t)
			if !yield(doc, doc.rank(text)) {
				return
			}
			text = text[doc.end:]
		}
	}
}

// bestIn reads the values that begin inside a text, one after the other, and returns the best, or
// nil if there is none. The best is the first that is strict JSON and not empty, otherwise the
// first that is complete, otherwise the first. In "Use {x} in {"a": 1}" only the second value is
// strict JSON, so strictness is better evidence than the order.
func bestIn(text string, t *schema.Type) (best *document) {
	highest := -1
	for doc, rank := range inside(text, "{[", t) {
		if rank > highest {
			best, highest = doc, rank
		}
	}
	if best != nil {
		best.around = true
	}
	return best
}

// Several reports whether a text has more than one complete object that fits the type t. The same
// object may occur more than once. It looks at no more than maxCandidates objects.
func Several(text string, t *schema.Type) bool {
	first := ""
	for doc, rank := range inside(text, "{", t) {
		if rank >= 2 && Fits(doc.out, t) {
			if first != "" && doc.out != first {
				return true
			}
			first = doc.out
		}
	}
	return false
}

// rank grades from 0 to 3 how likely the document doc is the one that the model meant. The
// parameter text must begin where doc begins. Empty values such as {}, and words in brackets
// without quotation marks, such as [see above], have grade 0, because they are chosen only if there
// is nothing else.
func (doc *document) rank(text string) int {
	switch {
	case len(doc.out) <= len("{}"), doc.out[0] == '[' && slices.Contains(doc.repairs, "bare-words"):
		return 0 // empty, or words in brackets
	// strict JSON
	case json.Valid([]byte(text[:doc.end])):
		return 3
	case doc.whole:
		return 2
	}
	return 1
}

// objectInside reads the object or list that a JSON string contains. It returns nil if the string
// contains neither, or if the type demands a string. A list must be strict JSON, because a sentence
// may begin with a bracket, and a repair would make it a list of words. It also returns nil if the
// value is not complete, or if more text follows it in the string.
func objectInside(value string, t *schema.Type) *document {
	if value[0] != '"' || t.Only(schema.String|schema.Null) {
		return nil
	}
	inner := strings.TrimSpace(scan.Unquote(value))
	if inner == "" || inner[0] != '{' && (inner[0] != '[' || !json.Valid([]byte(inner))) {
		return nil
	}
	if doc := readDocument(inner, t); doc.whole && !doc.around {
		return doc
	}
	return nil
}
