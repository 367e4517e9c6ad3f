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

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds of a document, schema or arguments.
// The text is a model's or a client's, and one of brackets or digits alone must cost no more than its length.
const (
	maxDepth    = 512  // levels, as adapters.Repair allows
	maxDigits   = 1024 // bytes of one number
	maxExponent = 1024 // of a number; beyond it exact arithmetic gets slow
)

// document is a parsed JSON text.
type document struct {
	node
	twice  []copied // members that are there more than once, the last one counting
	levels []int    // how many values lie at each depth

	failed *jsonschema.ValidationError // the library's judgement, nil when it fits; of judge alone
}

// node is a value, and where it stands in the text. Members are cut and numbers replaced in the text itself, so that all the
// rest stays byte for byte: spaces, escapes and the digits of numbers are the model's own.
type node struct {
	// value is what the library takes: maps, slices, json.Number, string, bool and nil. Numbers stay text, so that
	// 9007199254740993 is compared with an enum's 9007199254740993 and not with its neighbour.
	value      any
	start, end int
	inside     []*node // members of an object, in its order, or elements of an array
	name       string  // of a member, or the number of an element: a step of paths
	from       int     // of a member: where its key begins. One that goes is cut from there

	*trouble // nil: nothing has to change in it; see spread
}

// copied is a member that was there before.
// Models repeat a member when they lose the thread. With the same value one of them is simply left out; with another value
// neither counts, since nothing says which was meant.
type copied struct {
	nodes []*node // from the outermost member inwards
	alike bool    // with the same value
}

// path are the steps that lead to it.
func (c copied) path() (steps []string) {
	for _, n := range c.nodes {
		steps = append(steps, n.name)
	}
	return steps
}

// reader builds a document from tokens.
type reader struct {
	text []byte
	dec  *json.Decoder
	path []*node // to the value that is being read, since a member that is there twice has to be named
	doc  document
}

// parse reads exactly one JSON value. encoding/json would read it in one call, but tells neither of members that are there
// twice, where they stand, nor how many values lie at each depth, which the bound of work needs.
func parse(text []byte) (*document, error) {
	r := &reader{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	if err := r.value(&r.doc.node); err != nil {
		return nil, err
	}
	// Two objects in a row are no arguments: clients parse one value.
	if _, err := r.dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON value")
	}
	return &r.doc, nil
}

// value reads one value, and counts it.
// The depth is looked at first: the library's checking recurs, and a stack that overflows ends the process.
func (r *reader) value(n *node) error {
	depth := len(r.path)
	if depth >= maxDepth {
		return fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	// The number of values at each depth is what the bound of work needs, and all that it needs.
	if depth == len(r.doc.levels) {
		r.doc.levels = append(r.doc.levels, 0)
	}
	r.doc.levels[depth]++
	n.start = r.begin()
	t, err := r.token()
	if errors.Is(err, io.EOF) { // where a value should be, which is no end but a cut
		err = fmt.Errorf("no JSON: %w", io.ErrUnexpectedEOF)
	}
	switch t := t.(type) {
	case json.Delim:
		err = r.container(n, t == '{')
	case json.Number:
		n.value, err = t, checkNumber(string(t))
	default:
		n.value = t
	}
	n.end = int(r.dec.InputOffset())
	return err
}

// token reads a token that has to be there.
func (r *reader) token() (json.Token, error) {
	t, err := r.dec.Token()
	if err != nil {
		err = fmt.Errorf("no JSON: %w", err)
	}
	return t, err
}

// begin is where the next token begins.
// The decoder says where the last token ended; blanks, commas and colons lie between.
func (r *reader) begin() int {
	at := int(r.dec.InputOffset())
	return at + len(r.text[at:]) - len(bytes.TrimLeft(r.text[at:], " \t\r\n,:"))
}

// container reads what lies behind an opening brace or bracket, up to the closing one. Of two members with one name the last
// counts, as in encoding/json.
func (r *reader) container(n *node, object bool) error {
	var members map[string]any
	elements := []any{}
	if object {
		members = map[string]any{}
	}
	for r.dec.More() {
		one := &node{name: strconv.Itoa(len(elements)), from: r.begin()}
		if object {
			key, err := r.token()
			if err != nil {
				return err
			}
			one.name, _ = key.(string) // the decoder takes nothing else here
		}
		r.path = append(r.path, one)
		if err := r.value(one); err != nil {
			return err
		}
		if before, again := members[one.name]; again {
			r.doc.twice = append(r.doc.twice, copied{slices.Clone(r.path), reflect.DeepEqual(before, one.value)})
		}
		if object {
			members[one.name] = one.value
		} else {
			elements = append(elements, one.value)
		}
		n.inside = append(n.inside, one)
		r.path = r.path[:len(r.path)-1]
	}
	if n.value = elements; object {
		n.value = members
	}
	_, err := r.token() // the closer; a wrong one is an error of the decoder's own
	return err
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
