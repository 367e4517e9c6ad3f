package wrapper

import (
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// kind is what a node is.
type kind int

const (
	aText kind = iota
	aList
	anObject
)

// node is a value of a wrapper, however it was written.
type node struct {
	kind    kind
	text    string // of a text, or of all that stands in a tag
	json    string // strict JSON, where it was written as JSON
	items   []*node
	members []member
}

// member is a member of an object, in the order in which they were written.
type member struct {
	key   string
	value *node
}

// readJSON reads a text that is one JSON value, with the slips that models make; nil when anything is missing or left over.
func readJSON(text string) *node {
	out, whole := lenient.RepairAs(text, nil)
	if !whole || !json.Valid([]byte(out)) {
		return nil
	}
	return ofJSON(out)
}

// ofJSON returns strict JSON as a node.
func ofJSON(raw string) *node {
	raw = strings.TrimSpace(raw)
	n := &node{json: raw, text: raw}
	switch schema.KindOf(raw) {
	// Fields hands on slices of the text, so a file in an argument is not copied
	case schema.Object:
		n.kind = anObject
		for _, f := range scan.Fields(raw) {
			n.members = append(n.members, member{f.Key, ofJSON(f.Value)})
		}
	case schema.Array:
		n.kind = aList
		var items []json.RawMessage
		if json.Unmarshal([]byte(raw), &items) != nil {
			return n
		}
		for _, item := range items {
			n.items = append(n.items, ofJSON(string(item)))
		}
	case schema.String:
		n.text = scan.Unquote(raw)
	}
	return n
}

// arguments returns an object as strict JSON of a type.
// JSON is read once more, now as the schema has it. What tags and lines say has no types: the schema gives them.
func (n *node) arguments(t *schema.Type) string {
	if n.json != "" {
		if out, whole := lenient.RepairAs(n.json, t); whole {
			return out
		}
		return n.json
	}
	var out strings.Builder
	for i, m := range n.members {
		out.WriteString([]string{"{", ","}[min(i, 1)])
		out.WriteString(schema.Quote(m.key) + ":" + m.value.as(t.Prop(m.key)))
	}
	if len(n.members) == 0 {
		return "{}"
	}
	return out.String() + "}"
}

// describes reports whether JSON has members that the type has not, or an object or a list where the type has none:
// {"query": {"type": "string"}} says what a query is. Read as arguments it would become some, as a schema's "properties" are
// opened and an object becomes a text.
func (n *node) describes(t *schema.Type) bool {
	return n.json != "" && slices.ContainsFunc(n.members, func(m member) bool {
		return len(t.Members()) > 0 && !t.Has(m.key) ||
			m.value.kind != aText && !t.Prop(m.key).Allows(schema.Object|schema.Array)
	})
}

// as returns a value as JSON of a type.
func (n *node) as(t *schema.Type) string {
	switch {
	// {…} between two lines of YAML
	case n.json != "":
		return t.Fit(n.json)
	// markup in a text: <body>two <b>words</b></body>
	case n.kind == aText || t.Only(schema.String|schema.Null):
		return lenient.FromText(bare(n.text), t)
	// - red⏎- blue
	case n.kind == aList || t.Only(schema.Array|schema.Null):
		items := n.items
		for _, m := range n.members { // <labels><item>a</item></labels>
			items = append(items, m.value)
		}
		all := make([]string, len(items))
		for i, item := range items {
			all[i] = item.as(t.Item())
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return n.arguments(t)
}

// bare returns the text of a tag without the line breaks that lay it out; of one line no blanks stay around it either.
func bare(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n"), "\n")
	if one := strings.TrimSpace(text); !strings.Contains(one, "\n") {
		return one
	}
	return text
}
