package adapters

import (
	"encoding/json"
	"slices"

	"toolnorm/chat/schema"
)

// choice is one thing that may stand at a place: a value, or a kind of values.
type choice struct {
	kind  schema.Kinds
	value string // JSON; empty: any of the kind that n allows
	n     *demand
}

// allKinds are the JSON types in the order in which a grammar tries them.
var allKinds = []schema.Kinds{schema.String, schema.Number, schema.Integer, schema.Boolean, schema.Object, schema.Array, schema.Null}

// choices are what may stand at a place.
func (g *grammar) choices(n *demand) []choice {
	values := n.Enum
	if len(n.Const) > 0 {
		values = []json.RawMessage{n.Const}
	}
	if len(values) > 0 {
		var all []choice
		for _, v := range values {
			all = append(all, choice{kind: schema.KindOf(string(v)), value: string(v)})
		}
		return all
	}
	branches := slices.Concat(n.AnyOf, n.OneOf)
	if len(branches) == 0 || len(n.Properties) > 0 {
		if len(branches) > 0 {
			g.drop("anyOf")
		}
		return g.kinds(n)
	}
	return g.branches(n, branches)
}

// branches are what may stand at a place that has alternatives. A reference that leads back to itself before anything is
// written is none.
func (g *grammar) branches(n *demand, branches []json.RawMessage) []choice {
	var all []choice
	for _, raw := range branches {
		b, ok := g.read(raw)
		if !ok {
			continue
		}
		if b.Ref == "" {
			b.also(g, &demand{Type: n.Type, Pattern: n.Pattern, Format: n.Format, MinLength: n.MinLength, MaxLength: n.MaxLength,
				Minimum: n.Minimum, Maximum: n.Maximum, Items: n.Items, MinItems: n.MinItems, MaxItems: n.MaxItems})
			all = append(all, g.choices(b)...)
			continue
		}
		if g.open[b.Ref] {
			continue
		}
		g.open[b.Ref] = true
		if target, ok := g.read(g.lookup(b.Ref)); ok {
			all = append(all, choice{kind: g.kindOf(target), n: b})
		}
		delete(g.open, b.Ref)
	}
	if n.Nullable {
		all = append(all, choice{kind: schema.Null, n: n})
	}
	return all
}

// kindOf is the kind of a place that allows one kind alone, else 0.
func (g *grammar) kindOf(n *demand) schema.Kinds {
	if all := g.choices(n); len(all) == 1 {
		return all[0].kind
	}
	return 0
}

// kinds are the kinds that a place allows, from its type or from what else it says.
func (g *grammar) kinds(n *demand) []choice {
	k, ok := schema.KindsIn(n.Type)
	if !ok {
		g.drop("type")
	}
	if n.Nullable && k != 0 {
		k |= schema.Null
	}
	var all []choice
	for _, kind := range allKinds {
		if k != schema.Any && k&kind != 0 && (kind != schema.Integer || k&schema.Number == 0) {
			all = append(all, choice{kind: kind, n: n})
		}
	}
	if len(all) > 0 {
		return all
	}
	if kind := n.implied(); kind != 0 {
		return []choice{{kind: kind, n: n}}
	}
	return []choice{{n: n}} // anything
}

// implied is the kind that a place without a type speaks of.
func (n *demand) implied() schema.Kinds {
	switch {
	case len(n.Properties) > 0 || len(n.Required) > 0 || len(n.Additional) > 0:
		return schema.Object
	case len(n.Items) > 0 || len(n.Prefix) > 0 || n.MinItems != "" || n.MaxItems != "":
		return schema.Array
	case n.Pattern != "" || n.Format != "" || n.MinLength != "" || n.MaxLength != "":
		return schema.String
	case len(n.Minimum) > 0 || len(n.Maximum) > 0:
		return schema.Number
	}
	return 0
}
