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

// Doc is a schema's text, parsed once. All readers find references in it in the same way: by JSON
// pointer as a URL spells it, by anchor, and by id. Only one goroutine may use it, since reading
// notes in it which references are being followed and what is dropped.
type Doc struct {
	root  *jsontree.Value
	named map[string]*jsontree.Value // by "#anchor" or id; made at the first use

	tool    string            // whose schema it is, for drops; empty: not needed
	dropped *[]Dropped        // shared by all schemas of a request, as the budget is
	budget  *int              // values that may still be read: unions of references grow
	reading []*jsontree.Value // the references that are being followed to one place
	around  []*jsontree.Value // those in reading, and those that were followed around that place
}

// Dropped names a part of a schema that a writer could not express, or that the reader has no field
// for.
type Dropped struct {
	Tool    string // the tool's name if there are several; empty: there is one schema
	At      string // its place, as a JSON pointer
	Keyword string // empty: everything at that place
}

// String returns the JSON pointer of the keyword, after the tool's name when there are several
// tools: "search#/properties/q/format". The log prints it, so it must lead an author to the place
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

// The bounds of reading. A schema in which each part refers twice to the next one doubles with
// every level that is followed.
const (
	// values read for one writer, and places in one place: twice what one schema may hold, so only
	// what refers to itself is cut
	maxRead    = 20_000
	maxDropped = 200 // keywords listed; nobody reads a log line that names more
)

// Parse reads a schema's text. A schema that cannot be read, or is empty, allows everything. Empty
// and null mean "no parameters": OpenAI's API lets a tool leave them out, and some clients write
// null.
func Parse(raw json.RawMessage) *Doc {
	budget := maxRead
	return parseFor("", raw, new([]Dropped), &budget)
}

// ParseTools reads the schemas of a request's tools, which share one budget of values to read. What
// is dropped is reported with the tool's name where there are several. They share the budget since
// a request costs what all its tools cost together.
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

// parseFor parses one schema. A text that is not JSON is dropped as a whole: the drop has no place
// and no keyword.
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

// Drop notes that a keyword of the place at is not enforced, or nothing of that place when keyword
// is empty. It ignores a place that is in no document, such as the call around the arguments. A
// keyword is noted once: a place that several members refer to is read once for each of them.
func (d *Doc) Drop(at, keyword string) {
	if d == nil || len(*d.dropped) == maxDropped {
		return
	}
	if one := (Dropped{d.tool, at, keyword}); !slices.Contains(*d.dropped, one) {
		*d.dropped = append(*d.dropped, one)
	}
}

// Dropped returns what was dropped so far from this document and those it was parsed with, sorted
// by how it is printed, so that a log says the same about a schema each time.
func (d *Doc) Dropped() []Dropped {
	list := slices.Clone(*d.dropped)
	slices.SortFunc(list, func(a, b Dropped) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// Both returns a place that takes what fits both a and b. Where that cannot be expressed within the
// bounds, it returns a, and b's part is dropped.
func (d *Doc) Both(a, b *Place) *Place { return d.merge(a, b, 0) }

// Root returns the place of the whole schema. If nothing could fit the schema, the place takes
// everything: a schema that contradicts itself is a mistake of its author, and a tool that can
// never be called is of no use.
func (d *Doc) Root() *Place {
	p := d.read(d.root, "", 0)
	if p.Never {
		return d.open("")
	}
	return p
}

// Arguments returns the root, restricted to objects, since the arguments of a call are always an
// object. {"type": "string"} for a tool's parameters is a mistake; its type is dropped, as no call
// could ever fit.
func (d *Doc) Arguments() *Place {
	p := d.merge(d.Root(), &Place{Kinds: Object}, 0)
	if p.Never {
		d.Drop("", "type")
		return &Place{Kinds: Object, doc: d}
	}
	return p
}

// maxTree bounds how deep a schema is nested as a text. It is above the 128 levels that the budget
// allows in a request's schema; it is for schemas that the budget has not checked.
const maxTree = 256

// parse reads a JSON text; it returns nil when the text is not JSON or is nested too deeply.
func parse(raw []byte) *jsontree.Value {
	v, _ := jsontree.Parse(raw, maxTree)
	return v
}

// resolve returns the value that a reference leads to, absent when it is not in the document, and
// the place of that value: a JSON pointer, or the name by which it was found. A reference by the
// document's own $id, "https://x.example/s.json#/$defs/a", leads into the document. $dynamicRef is
// looked up like $ref, which is right as long as the document is one resource, as schemas of tools
// are.
func (d *Doc) resolve(ref string) (*jsontree.Value, string) {
	if base := d.root.Get("$id"); base != jsontree.Absent {
		if rest, ok := strings.CutPrefix(ref, strings.TrimSuffix(base.Text, "#")); ok &&
			(rest == "" || rest[0] == '#') {
			ref = rest
		}
	}
	// A pointer is walked each time; for anchors and ids the whole document is searched once.
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

// name notes the anchors and ids in v. An id is found as it is written: it is not resolved against
// a base, since schemas of tools are one document each, and a URL that leads elsewhere is never
// loaded. All drafts are searched at once: id is draft 4's, an id "#name" was the anchor up to
// draft 7, $anchor came with 2019-09 and $dynamicAnchor with 2020-12. Such keys within an enum or a
// default are noted as well, which does no harm, as no reference leads to them.
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

// walk follows a JSON pointer without its leading slash, as a URL spells it (RFC 6901, section 6):
// "a%20b" is the member "a b", "a~1b" is "a/b". ~1 is replaced before ~0, in one pass, so that
// "~01" is "~1" and not "/". It may lead to any place, such as a member of properties or the 17th
// alternative of an anyOf, since generators point at what they have written already.
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
