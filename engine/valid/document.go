package valid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a document, schema or arguments.
// The text is a model's or a client's, and one of brackets or digits alone must cost no more than its length.
const (
	maxDepth    = 512  // levels, as adapters.Repair allows
	maxDigits   = 1024 // bytes of one number
	maxExponent = 1024 // of a number; beyond it exact arithmetic gets slow
)

// document is a parsed JSON text: maps, slices, json.Number, string, bool and nil, which is what the library takes. Numbers
// stay text, so that 9007199254740993 is compared with an enum's 9007199254740993 and not with its neighbour.
type document struct {
	value  any
	twice  []copied // members that are there more than once, the last one counting
	levels []int    // how many values lie at each depth
	layout node
}

// node is where a value stands in the text. Members are cut and numbers replaced in the text itself, so that all the rest stays
// byte for byte: spaces, escapes and the digits of numbers are the model's own.
type node struct {
	start, end int
	members    []slot  // of an object, in its order
	items      []*node // of an array
}

// slot is a member of an object; start is where its key begins.
// A member that goes is cut from there, its key included.
type slot struct {
	name  string
	start int
	value *node
}

// copied is a member that was there before.
// Models repeat a member when they lose the thread. With the same value one of them is simply left out; with another value
// neither counts, since nothing says which was meant.
type copied struct {
	path  []string
	alike bool // with the same value
}

// reader builds a document from tokens.
// The path is kept while it reads, since a member that is there twice has to be named.
type reader struct {
	text []byte
	dec  *json.Decoder
	path []string // of the value that is being read
	doc  document
}

// parse reads exactly one JSON value. encoding/json would read it in one call, but tells neither of members that are there
// twice, where they stand, nor how many values lie at each depth, which the bound of work needs.
func parse(text []byte) (*document, error) {
	r := &reader{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	v, err := r.value(&r.doc.layout)
	if err != nil {
		return nil, err
	}
	// Two objects in a row are no arguments: clients parse one value.
	if _, err := r.dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON value")
	}
	r.doc.value = v
	return &r.doc, nil
}

// value reads one value, and counts it.
// The depth is looked at first: the library's checking recurs, and a stack that overflows ends the process.
func (r *reader) value(n *node) (v any, err error) {
	depth := len(r.path)
	if depth >= maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	// The number of values at each depth is what the bound of work needs, and all that it needs.
	if depth == len(r.doc.levels) {
		r.doc.levels = append(r.doc.levels, 0)
	}
	r.doc.levels[depth]++
	n.start = r.begin()
	t, err := r.dec.Token()
	// The text ends where a value should be, which is no end but a cut.
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			v, err = r.object(n)
		} else {
			v, err = r.array(n)
		}
	case json.Number:
		v, err = t, checkNumber(string(t))
	default:
		v = t
	}
	n.end = int(r.dec.InputOffset())
	return v, err
}

// begin is where the next token begins.
// The decoder says where the last token ended; blanks, commas and colons lie between.
func (r *reader) begin() int {
	at := int(r.dec.InputOffset())
	return at + len(r.text[at:]) - len(bytes.TrimLeft(r.text[at:], " \t\r\n,:"))
}

// object reads the members behind the opening brace. Of two with one name the last counts, as in encoding/json.
func (r *reader) object(n *node) (any, error) {
	out := map[string]any{}
	for r.dec.More() {
		s := slot{start: r.begin(), value: new(node)}
		key, err := r.dec.Token()
		if err != nil {
			return nil, fmt.Errorf("no JSON: %w", err)
		}
		name, _ := key.(string) // the decoder takes nothing else here
		r.path = append(r.path, name)
		v, err := r.value(s.value)
		if err != nil {
			return nil, err
		}
		if before, ok := out[name]; ok {
			r.doc.twice = append(r.doc.twice, copied{slices.Clone(r.path), reflect.DeepEqual(before, v)})
		}
		out[name], s.name = v, name
		n.members = append(n.members, s)
		r.path = r.path[:len(r.path)-1]
	}
	return out, r.closed()
}

// array reads the elements behind the opening bracket. Their numbers are the steps of paths.
func (r *reader) array(n *node) (any, error) {
	out := []any{}
	for r.dec.More() {
		r.path = append(r.path, strconv.Itoa(len(out)))
		item := new(node)
		v, err := r.value(item)
		if err != nil {
			return nil, err
		}
		out, n.items = append(out, v), append(n.items, item)
		r.path = r.path[:len(r.path)-1]
	}
	return out, r.closed()
}

// closed reads the closing brace or bracket.
// A wrong bracket is an error of the decoder's own.
func (r *reader) closed() error {
	if _, err := r.dec.Token(); err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	return nil
}

// checkNumber refuses numbers whose exact value is too long to work with.
// 1e999999 is eight bytes, and as an exact fraction a million digits. 1024 is beyond the exponents of a double (308).
func checkNumber(s string) error {
	if len(s) > maxDigits {
		return fmt.Errorf("a number of more than %d digits", maxDigits)
	}
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return nil
	}
	if n, err := strconv.Atoi(s[at+1:]); err != nil || n > maxExponent || n < -maxExponent {
		return fmt.Errorf("the exponent of %s is beyond %d", shorten(s), maxExponent)
	}
	return nil
}

// shorten cuts a text that a sentence quotes.
// It is cut between characters, as the sentence goes into a prompt and into JSON.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
