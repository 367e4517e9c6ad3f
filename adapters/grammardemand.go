package adapters

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// demand is one place of a schema as it is written, as far as a grammar can say it.
type demand struct {
	Ref        string            `json:"$ref"`
	Type       json.RawMessage   `json:"type"`
	Enum       []json.RawMessage `json:"enum"`
	Const      json.RawMessage   `json:"const"`
	AnyOf      []json.RawMessage `json:"anyOf"`
	OneOf      []json.RawMessage `json:"oneOf"`
	AllOf      []json.RawMessage `json:"allOf"`
	Nullable   bool              `json:"nullable"`
	Properties json.RawMessage   `json:"properties"`
	Required   []string          `json:"required"`
	Additional json.RawMessage   `json:"additionalProperties"`
	Items      json.RawMessage   `json:"items"`
	Prefix     []json.RawMessage `json:"prefixItems"`
	MinItems   json.Number       `json:"minItems"`
	MaxItems   json.Number       `json:"maxItems"`
	MinLength  json.Number       `json:"minLength"`
	MaxLength  json.Number       `json:"maxLength"`
	Pattern    string            `json:"pattern"`
	Format     string            `json:"format"`
	Minimum    json.RawMessage   `json:"minimum"`
	Maximum    json.RawMessage   `json:"maximum"`
	Above      json.RawMessage   `json:"exclusiveMinimum"` // a number, or true beside a minimum in old drafts
	Below      json.RawMessage   `json:"exclusiveMaximum"`
}

// unsaid are the keywords that a grammar has no words for.
var unsaid = []string{
	"not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties", "propertyNames", "minProperties",
	"maxProperties", "contains", "minContains", "maxContains", "uniqueItems", "unevaluatedProperties", "unevaluatedItems", "multipleOf", "$dynamicRef",
}

// read reads a place, with what its allOf demands added. It answers false for a place at which nothing may stand; what
// cannot be read allows anything.
func (g *grammar) read(raw json.RawMessage) (*demand, bool) {
	g.depth++
	defer func() { g.depth-- }()
	g.work += len(raw)
	n := new(demand)
	switch raw = bytes.TrimSpace(raw); {
	case g.depth > maxTree || g.work > maxWork:
		g.drop("what nests deeper")
		return n, true
	case string(raw) == "false":
		return nil, false
	case len(raw) == 0 || raw[0] != '{':
		return n, true
	}
	err := json.Unmarshal(raw, n)
	if odd, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		g.drop(odd.Field) // the other keywords are read
	} else if err != nil {
		g.drop("the whole schema")
		return new(demand), true
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) == nil {
		for _, word := range unsaid {
			if v, ok := all[word]; ok && string(v) != "false" {
				g.drop(word)
			}
		}
	}
	for _, raw := range n.AllOf {
		more, ok := g.read(raw)
		for range maxTree {
			if !ok || more.Ref == "" {
				break
			}
			more, ok = g.read(g.lookup(more.Ref))
		}
		if !ok || more.Ref != "" {
			return nil, false
		}
		n.also(g, more)
	}
	return n, true
}

// also adds the demands of another place. Where both say something of one kind, one of them is left open.
func (n *demand) also(g *grammar, more *demand) {
	take := func(dst *json.RawMessage, src json.RawMessage, keyword string) {
		switch {
		case len(*dst) == 0:
			*dst = src
		case len(src) > 0 && !bytes.Equal(*dst, src):
			g.drop("allOf: " + keyword)
		}
	}
	take(&n.Type, more.Type, "type")
	take(&n.Const, more.Const, "const")
	take(&n.Items, more.Items, "items")
	take(&n.Minimum, more.Minimum, "minimum")
	take(&n.Maximum, more.Maximum, "maximum")
	take(&n.Above, more.Above, "exclusiveMinimum")
	take(&n.Below, more.Below, "exclusiveMaximum")
	if string(more.Additional) == "false" {
		n.Additional = more.Additional
	}
	n.Properties = joinObjects(n.Properties, more.Properties)
	n.Required = append(n.Required, more.Required...)
	for _, pair := range []struct{ dst, src *[]json.RawMessage }{{&n.Enum, &more.Enum}, {&n.AnyOf, &more.AnyOf}, {&n.OneOf, &more.OneOf}, {&n.Prefix, &more.Prefix}} {
		if len(*pair.dst) == 0 {
			*pair.dst = *pair.src
		} else if len(*pair.src) > 0 {
			g.drop("allOf")
		}
	}
	for _, pair := range []struct{ dst, src *json.Number }{{&n.MinItems, &more.MinItems}, {&n.MaxItems, &more.MaxItems}, {&n.MinLength, &more.MinLength}, {&n.MaxLength, &more.MaxLength}} {
		if *pair.dst == "" {
			*pair.dst = *pair.src
		} else if *pair.src != "" && *pair.src != *pair.dst {
			g.drop("allOf: bounds")
		}
	}
	for _, pair := range []struct{ dst, src *string }{{&n.Pattern, &more.Pattern}, {&n.Format, &more.Format}} {
		if *pair.dst == "" {
			*pair.dst = *pair.src
		} else if *pair.src != "" && *pair.src != *pair.dst {
			g.drop("allOf: pattern")
		}
	}
}

// joinObjects adds the members of b that a does not have.
func joinObjects(a, b json.RawMessage) json.RawMessage {
	if len(a) == 0 || len(b) == 0 {
		return append(slices.Clip(a), b...)
	}
	members := membersOf(string(a))
	for _, m := range membersOf(string(b)) {
		if !slices.ContainsFunc(members, func(f field) bool { return f.key == m.key }) {
			members = append(members, m)
		}
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(schema.AppendQuote(out, m.key), ':'), m.value...), []byte(nil)...)
	}
	return append(out, '}')
}

// lookup is what a reference of the tool's schema leads to; anything where that is not in it.
func (g *grammar) lookup(ref string) json.RawMessage {
	raw, ok := g.doc.At(ref)
	if !ok {
		g.drop("$ref")
		return json.RawMessage("true")
	}
	return raw
}

// begin turns to the arguments of a tool. A schema that cannot be read allows any object.
func (g *grammar) begin(t chat.Tool) *demand {
	g.tool, g.path, g.refs, g.open = t, nil, map[string]string{}, map[string]bool{}
	g.doc = schema.Parse(t.Schema)
	n, ok := g.read(t.Schema)
	for range maxTree { // a reference at the root
		if !ok || n.Ref == "" {
			break
		}
		n, ok = g.read(g.lookup(n.Ref))
	}
	if !ok || n.Ref != "" {
		n = new(demand)
	}
	if len(n.AnyOf) > 0 || len(n.OneOf) > 0 {
		g.drop("anyOf")
	}
	return n
}
