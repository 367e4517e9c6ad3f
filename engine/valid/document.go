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

	"toolnorm/internal/clip"
	"toolnorm/internal/jsontree"
)

// The limits on a document, which is a schema or arguments. The text comes from a model or a
// client, and a text of only brackets or digits must not cost more than its length.
const (
	maxDepth    = 512  // levels, as adapters.Repair allows
	maxDigits   = 1024 // bytes of one number
	maxExponent = 1024 // of a number; beyond this exact arithmetic gets slow
)

// document is a parsed JSON text.
type document struct {
	node
	twice  []copied // members that occur more than once; the last one counts
	levels []int    // number of values at each depth

	// the library's error, or nil if the document fits; only judge sets it
	failed *jsonschema.ValidationError
}

// node is a JSON value with its position in the text. Members are cut out and numbers are replaced
// in the text itself, so that everything else stays byte for byte. For example, spaces, escapes and
// the digits of other numbers stay as the model wrote them.
type node struct {
	*jsontree.Value
	// value is the value in the form for the library: maps, slices, json.Number, string, bool and
	// nil. Numbers stay text, so that 9007199254740993 is compared with an enum's 9007199254740993
	// and not with its neighbour.
	value  any
	inside []*node // members of an object, in its order, or elements of an array
	name   string  // of a member, or the index of an element, as in paths
	from   int     // where the key of a member begins; a removed member is cut from there

	*trouble // nil: nothing in it has to change; see spread
}

// copied is a member whose name occurred before in its object. Models repeat members when they lose
// track. If the values are equal, one member is simply left out. Otherwise neither value is kept,
// because it is not known which was meant, and the model writes the member anew.
type copied struct {
	nodes []*node // from the outermost member inwards
	alike bool    // both have the same value
}

// path returns the path of the member.
func (c copied) path() (steps []string) {
	for _, n := range c.nodes {
		steps = append(steps, n.name)
	}
	return steps
}

// parse parses exactly one JSON value. It returns an error if the text is not a single JSON value,
// is nested too deeply, or has a number that is too long. encoding/json is not used, because it
// does not report members that occur twice, positions, or the number of values at each depth.
func parse(text []byte) (*document, error) {
	root, deep := jsontree.Parse(text, maxDepth)
	switch {
	// A stack that overflows ends the process, and the library's validation is recursive as well.
	case deep:
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	case root == nil:
		return nil, whyNot(text)
	}
	d := &document{node: node{Value: root}}
	return d, d.read(&d.node, nil)
}

// whyNot returns an error that says why a text is not a JSON value.
func whyNot(text []byte) error {
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&first)
	switch {
	case err == nil: // two objects in a row are not arguments: clients parse one value
		return errors.New("something follows the JSON value")
	case errors.Is(err, io.EOF): // a value is missing, so the text was cut off
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("no JSON: %w", err)
}

// read sets the value of the node n, and adds 1 to the number of values at its depth in d.levels.
// The parameter path has the members and elements that lead to n, since the error for a member that
// occurs twice names its place. It returns an error for a number that is too long.
func (d *document) read(n *node, path []*node) (err error) {
	depth := len(path)
	// The limit on work needs only the number of values at each depth.
	if depth == len(d.levels) {
		d.levels = append(d.levels, 0)
	}
	d.levels[depth]++
	switch first := n.Raw[0]; first {
	case '{', '[':
		return d.container(n, path)
	case '"':
		n.value = n.Text
	case 't', 'f':
		n.value = first == 't'
	case 'n':
	default:
		n.value, err = json.Number(n.Raw), checkNumber(n.Raw)
	}
	return err
}

// container reads the members of an object, or the elements of an array, into the node n. If two
// members have the same name, the last one is used, as in encoding/json. It returns an error for a
// number that is too long.
func (d *document) container(n *node, path []*node) error {
	members, elements := make(map[string]any, len(n.Members)), make([]any, len(n.Items))
	for i, item := range n.Items {
		n.inside = append(n.inside, &node{Value: item, name: strconv.Itoa(i), from: item.Start})
	}
	for _, m := range n.Members {
		n.inside = append(n.inside, &node{Value: m.Value, name: m.Name, from: m.Key})
	}
	for i, one := range n.inside {
		path := append(path, one)
		if err := d.read(one, path); err != nil {
			return err
		}
		if n.Raw[0] == '[' {
			elements[i] = one.value
			continue
		}
		if before, again := members[one.name]; again {
			d.twice = append(d.twice,
				copied{slices.Clone(path), reflect.DeepEqual(before, one.value)})
		}
		members[one.name] = one.value
	}
	if n.value = elements; n.Raw[0] == '{' {
		n.value = members
	}
	return nil
}

// at returns the node at the end of a path, or a node without a value if there is none.
func (n *node) at(path []string) *node {
	for _, step := range path {
		next := &node{}
		for _, one := range n.inside {
			if one.name == step {
				next = one // the last one counts
			}
		}
		n = next
	}
	return n
}

// checkNumber returns an error for a number whose exact value is too long to work with. For
// example, 1e999999 has eight bytes, but a million digits as an exact fraction. The limit of 1024
// is beyond the exponents of a float64 (308).
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

// shorten returns a text cut to the length that a sentence quotes.
func shorten(s string) string { return clip.Dots(s, 80) }
