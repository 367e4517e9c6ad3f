package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// Doc is a schema's text, parsed once. All code finds references in it in the same way: by JSON
// pointer as in a URL, by anchor, and by id. Only one goroutine may use it, because whoever reads
// the Doc records in it which references are being followed and what is dropped.
type Doc struct {
	root  *jsontree.Value
	named map[string]*jsontree.Value // by "#anchor" or id; made at the first use

	tool    string            // the tool's name for drops; empty if it is not needed
	dropped *[]Dropped        // shared by all schemas of a request, as the budget is
	budget  *int              // values that may still be read, because unions of references grow
	reading []*jsontree.Value // the references that are being followed to one place
	around  []*jsontree.Value // those in reading, and those that were followed around that place
}

// Dropped names a part of a schema that a writer could not express, or for which a Place has no
// field.
type Dropped struct {
	Tool    string // the tool's name if there are several tools; empty if there is one schema
	At      string // the position of the part, as a JSON pointer
	Keyword string // empty if everything at that position was dropped
}

// String returns the JSON pointer of the keyword, after the tool's name if there are several tools:
// "search#/properties/q/format". The log prints it, so it must show an author where the keyword is
// in his own schema.
func (d Dropped) String() string {
	at := d.At
	if d.Keyword != "" {
		at += "/" + d.Keyword
	}
	if d.Tool == "" {
		return at
	}
	return d.Tool + "#" + at
}

// The bounds of reading. They are needed because a schema in which each part refers twice to the
// next one doubles with every level that is followed.
const (
	// maxRead bounds the values that are read for one writer, and the places in one place. It is
	// twice what one schema may have, so only a schema that refers to itself is cut.
	maxRead    = 20_000
	maxDropped = 200 // keywords listed; nobody reads a log line with more
)

// Parse returns the document of a schema's text. It never fails: a schema that cannot be read, or
// is empty, allows everything. Empty and null mean "no parameters", because OpenAI's API lets a
// tool leave them out, and some clients write null.
func Parse(raw json.RawMessage) *Doc {
	budget := maxRead
	return parseFor("", raw, new([]Dropped), &budget)
}

// ParseTools returns the documents of the schemas of a request's tools. If there are several tools,
// dropped parts are reported with the tool's name. The schemas share one budget of values to read,
// because the cost of a request is the sum over all its tools.
func ParseTools(schemas []chat.Tool) []*Doc {
	budget, dropped := maxRead, new([]Dropped)
	docs := make([]*Doc, len(schemas))
	for i, t := range schemas {
		name := ""
		if len(schemas) > 1 {
			name = t.Name
		}
		docs[i] = parseFor(name, t.Schema, dropped, &budget)
	}
	return docs
}

// parseFor parses one schema. If the text is not JSON, the result allows everything, and Dropped
// has an entry with neither a position nor a keyword.
func parseFor(tool string, raw json.RawMessage, dropped *[]Dropped, budget *int) *Doc {
	d := &Doc{tool: tool, dropped: dropped, budget: budget}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if d.root = parse(raw); d.root == nil {
		d.Drop("", "")
		d.root = parse([]byte("{}"))
	}
	return d
}

// Drop records that a keyword of the schema is not enforced. The parameter at is the JSON pointer
// of the subschema that has the keyword. An empty keyword means everything in that subschema. Drop
// does nothing if d is nil, as for a subschema that is in no document, such as the one for a whole
// call. A keyword is recorded once, because a subschema to which several members refer is read once
// for each of them.
func (d *Doc) Drop(at, keyword string) {
	if d == nil || len(*d.dropped) == maxDropped {
		return
	}
	if one := (Dropped{d.tool, at, keyword}); !slices.Contains(*d.dropped, one) {
		*d.dropped = append(*d.dropped, one)
	}
}

// Dropped returns the parts that were dropped so far from this document and from those that were
// parsed with it. The list is sorted by the result of String, so that a log always says the same
// about a schema.
func (d *Doc) Dropped() []Dropped {
	list := slices.Clone(*d.dropped)
	slices.SortFunc(list, func(a, b Dropped) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// Both returns a subschema that allows every value that fits both a and b. If it cannot be
// expressed within the bounds, Both returns a, and records that b's part is dropped.
func (d *Doc) Both(a, b *Place) *Place { return d.merge(a, b, 0) }

// Root returns the whole schema as a Place. If nothing could fit the schema, the result allows
// everything, because a schema that contradicts itself is a mistake of its author, and a tool that
// can never be called is of no use.
func (d *Doc) Root() *Place {
	p := d.read(d.root, "", 0)
	if p.Never {
		return d.open("")
	}
	return p
}

// Arguments returns the whole schema, restricted to objects, because the arguments of a call are
// always an object. If the schema allows no objects, such as {"type": "string"}, no call could ever
// fit. That is a mistake of its author, so its type is dropped, and any object is allowed.
func (d *Doc) Arguments() *Place {
	p := d.merge(d.Root(), &Place{Kinds: Object}, 0)
	if p.Never {
		d.Drop("", "type")
		return &Place{Kinds: Object, doc: d}
	}
	return p
}

// maxTree bounds how deeply a schema is nested as a text. It is above the 128 levels that the
// budget allows in a request's schema, because it is for schemas that the budget has not checked.
const maxTree = 256

// parse reads a JSON text. It returns nil if the text is not JSON or is nested too deeply.
func parse(raw []byte) *jsontree.Value {
	v, _ := jsontree.Parse(raw, maxTree)
	return v
}

// resolve returns the value to which a reference leads, or an absent one if it is not in the
// document. It also returns the place of that value: a JSON pointer, or the name by which it was
// found. A reference by the document's own $id, "https://x.example/s.json#/$defs/a", leads into the
// document. $dynamicRef is looked up like $ref, which is right if the document is one resource, as
// schemas of tools are.
func (d *Doc) resolve(ref string) (*jsontree.Value, string) {
	if base := d.root.Get("$id"); base != jsontree.Absent {
		if rest, ok := strings.CutPrefix(ref, strings.TrimSuffix(base.Text, "#")); ok &&
			(rest == "" || rest[0] == '#') {
			ref = rest
		}
	}
	// A pointer is walked each time. For anchors and ids the whole document is searched once.
	if path, ok := strings.CutPrefix(ref, "#/"); ok {
		return walk(d.root, path), "/" + path
	}
	if ref == "#" || ref == "" {
		return d.root, ""
	}
	if d.named == nil {
		d.named = map[string]*jsontree.Value{}
		d.name(d.root)
	}
	return cmp.Or(d.named[ref], jsontree.Absent), ref
}

// name stores the anchors and ids in v. An id is found by its text: it is not resolved against a
// base, because schemas of tools are one document each, and a URL that leads elsewhere is never
// loaded. All drafts are searched at once: id is draft 4's, an id "#name" was the anchor up to
// draft 7, $anchor came with 2019-09 and $dynamicAnchor with 2020-12. Such keys within an enum or a
// default are stored as well, which does no harm, because no reference leads to them.
func (d *Doc) name(v *jsontree.Value) {
	for _, key := range []string{"$id", "id", "$anchor", "$dynamicAnchor"} {
		id := v.Get(key)
		if kind(id) != String {
			continue
		}
		// References name an anchor as a fragment, "#name", and an id as it is written.
		if strings.HasSuffix(key, "nchor") {
			d.named["#"+id.Text] = v
		} else {
			d.named[id.Text] = v
		}
	}
	for _, m := range v.Members {
		d.name(m.Value)
	}
	for _, item := range v.Items {
		d.name(item)
	}
}

// walk returns the value at a JSON pointer without its leading slash, or an absent one. The pointer
// is spelled as in a URL (RFC 6901, section 6): "a%20b" is the member "a b", and "a~1b" is "a/b".
// ~1 and ~0 are replaced in one pass, so that "~01" is "~1" and not "/". The pointer may lead to
// any place, such as a member of properties or the 17th alternative of an anyOf, because generators
// point at what they have already written.
func walk(v *jsontree.Value, path string) *jsontree.Value {
	for step := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if kind(v) == Array {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v.Items) {
				return jsontree.Absent
			}
			v = v.Items[i]
		} else {
			v = v.Get(step)
		}
	}
	return v
}
