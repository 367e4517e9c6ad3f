package wrapper

import (
	"encoding/json"
	"html"
	"slices"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// kind is the kind of a node: a text, a list or an object.
type kind int

const (
	aText kind = iota
	aList
	anObject
)

// node is a value in a text with calls, in any notation, such as JSON, tags or lines.
type node struct {
	kind    kind
	text    string // the text, or the whole content of a tag
	json    string // strict JSON; empty if the value was not written as JSON
	cdata   bool   // the text was in CDATA, so it has no entities
	torn    bool   // the end or the entities of the text are uncertain
	items   []*node
	members []member
}

// member is one member of an object.
type member struct {
	key   string
	value *node
}

// readJSON reads a text that is one JSON value, with the errors that models make. It returns nil if
// anything is missing or left over.
func readJSON(text string) *node {
	out, whole := lenient.RepairAs(text, nil)
	if !whole || !json.Valid([]byte(out)) {
		return nil
	}
	return ofJSON(out)
}

// ofJSON returns a value that is given as strict JSON, as a node.
func ofJSON(raw string) *node {
	raw = strings.TrimSpace(raw)
	n := &node{json: raw, text: raw}
	switch schema.KindOf(raw) {
	// Fields returns slices of the text, so a file in an argument is not copied
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

// arguments returns the object n as strict JSON that fits the type t. If it was written as JSON, it
// is repaired once more with the schema. If it was written as tags or lines, its values get their
// types from the schema.
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

// byAttribute converts an object that consists of tags of one name, <p name="city">Rome</p>, to an
// object with the members that their attributes name, such as city. It returns nil for any other
// object, also if a tag has a further attribute.
func (n *node) byAttribute() *node {
	named := &node{kind: anObject, text: n.text}
	for _, m := range n.members {
		tag := m.value
		if n.json != "" || m.key != n.members[0].key || tag.kind != anObject ||
			len(tag.members) == 0 || len(tag.members) > 2 || !keyTags[fold(tag.members[0].key)] {
			return nil
		}
		value := new(node)
		if len(tag.members) == 2 {
			if tag.members[1].key != "" {
				return nil
			}
			value = tag.members[1].value
		}
		named.members = append(named.members, member{tag.members[0].value.text, value})
	}
	if len(named.members) == 0 {
		return nil
	}
	return named
}

// gathered returns an object that was written as tags with repeated tags joined to a list, if the
// type has a list there: <times>07:30</times><times>19:30</times>. It returns any other value
// unchanged.
func (n *node) gathered(t *schema.Type) *node {
	if n.json != "" {
		return n
	}
	out, at := &node{kind: n.kind, text: n.text}, map[string]int{}
	for _, m := range n.members {
		i, twice := at[m.key]
		switch list := out.members; {
		case !twice || !t.Prop(m.key).Only(schema.Array|schema.Null):
			at[m.key] = len(list)
			out.members = append(list, m)
		case list[i].value.kind == aList && list[i].value.json == "" && list[i].value.text == "":
			list[i].value.items = append(list[i].value.items, m.value)
		default:
			list[i].value = &node{kind: aList, items: []*node{list[i].value, m.value}}
		}
	}
	return out
}

// compact returns an object that was read as JSON, without blanks between its members.
func (n *node) compact() string {
	var out strings.Builder
	for i, m := range n.members {
		out.WriteString([]string{"{", ","}[min(i, 1)] + schema.Quote(m.key) + ":" + m.value.json)
	}
	return out.String() + map[bool]string{true: "{}", false: "}"}[len(n.members) == 0]
}

// describes reports whether the object n is a JSON schema, such as {"query": {"type": "string"}},
// and not arguments of the type t, such as {"query": "rain"}. It returns true if n is written as
// JSON and has a member that t does not have, unless t names no members at all. It also returns
// true if n is written as JSON or as lines, and a member is an object or a list where t allows
// neither. A schema must not be read as arguments: its "properties" would be taken for a wrapper
// around the arguments, and {"type": "string"} for the text of the query.
func (n *node) describes(t *schema.Type) bool {
	return slices.ContainsFunc(n.members, func(m member) bool {
		return n.json != "" && len(t.Members()) > 0 && !t.Has(m.key) ||
			m.value.kind != aText && (n.json != "" || m.value.text == "") &&
				!t.Prop(m.key).Allows(schema.Object|schema.Array)
	})
}

// unsure reports whether a string in the object n can be read in two ways, because it has entities
// such as &amp;, or white space at its ends. In some forms these are data, in others not.
func (n *node) unsure(t *schema.Type) bool {
	return slices.ContainsFunc(n.members, func(m member) bool {
		p, text := t.Prop(m.key), m.value.text
		switch {
		case m.value.kind == anObject:
			return m.value.unsure(p)
		case m.value.kind == aList || m.value.json != "" || m.value.cdata ||
			p.Known() && !p.Allows(schema.String):
			return false
		}
		return m.value.torn || html.UnescapeString(text) != text || !tight(text)
	})
}

// tight reports whether a text has no white space at its ends. One line break at both ends is
// allowed, and so is one at the beginning of a text of a single line.
func tight(text string) bool {
	inner, before := strings.CutPrefix(strings.TrimPrefix(text, "\r"), "\n")
	inner, after := strings.CutSuffix(inner, "\n")
	return strings.TrimSpace(inner) == inner &&
		(before == after || !strings.Contains(inner, "\n") && before)
}

// as returns the value n as JSON that fits the type t.
func (n *node) as(t *schema.Type) string {
	switch {
	case n.cdata:
		return lenient.FromText(n.text, t)
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

// bare returns the text of a tag without the line breaks at its ends. A text of a single line also
// loses the blanks around it.
func bare(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n"), "\n")
	if one := strings.TrimSpace(text); !strings.Contains(one, "\n") {
		return one
	}
	return text
}

// takes reports whether a tool accepts the given members as its arguments. Each may occur only once
// and must have the right type.
func takes(t *toolset.Tool, fields []scan.Field) bool {
	if !t.Takes(fields) {
		return false
	}
	seen := map[string]bool{}
	for _, f := range fields {
		p := t.Type().Prop(f.Key)
		if seen[f.Key] || p.Known() && !p.Allows(schema.KindOf(f.Value)) {
			return false
		}
		seen[f.Key] = true
	}
	return true
}
