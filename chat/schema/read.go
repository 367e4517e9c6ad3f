package schema

import (
	"slices"
	"strconv"
	"strings"

	"toolnorm/internal/jsontree"
)

// unsaid lists the keywords for which a Place has no field, because no writer can express them. A
// oneOf is read as an anyOf, which loses the demand that only one alternative may fit. A server
// ignores these keywords or refuses the request, so they are only described in the prompt
// (Written.Notes).
var unsaid = []string{"not", "if", "dependentRequired", "dependentSchemas", "dependencies",
	"maxProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contains",
	"oneOf", "$recursiveRef"}

// read returns the subschema in v as a Place. The parameter at is its position, and depth counts
// nested subschemas. A subschema that is too deep or exceeds the budget is dropped, and the result
// allows everything. Keywords beside a reference apply as well, in all drafts, because authors mean
// both. OpenAPI 3.0's nullable becomes one more alternative.
func (d *Doc) read(v *jsontree.Value, at string, depth int) *Place {
	switch {
	case kind(v) == Boolean && v.Raw == "false":
		return never()
	case kind(v) != Object:
		return anything()
	}
	if *d.budget--; *d.budget < 0 || depth > maxDepth {
		return d.open(at)
	}
	for _, k := range unsaid {
		if says(k, v.Get(k)) {
			d.Drop(at, k)
		}
	}
	p := d.own(v, at, depth)
	for _, k := range []string{"$ref", "$dynamicRef"} {
		if ref := v.Get(k); kind(ref) == String {
			p = d.merge(p, d.follow(ref.Text, at+"/"+k, depth), 0)
		}
	}
	parts := []*Place{p}
	for i, one := range v.Get("allOf").Items {
		parts = append(parts, d.read(one, at+"/allOf/"+strconv.Itoa(i), depth+1))
	}
	p = d.mergeAll(parts)
	for _, k := range []string{"anyOf", "oneOf"} {
		if list := v.Get(k).Items; len(list) > 0 {
			p = d.merge(p, d.union(list, at+"/"+k, depth), 0)
		}
	}
	if v.Get("nullable").Raw == "true" {
		p = Union([]*Place{p, {Kinds: Null}})
	}
	if p.size > maxRead {
		return d.open(at)
	}
	return p
}

// open returns a place without constraints, for a schema that cannot be used. It records the
// schema's position as dropped.
func (d *Doc) open(at string) *Place {
	d.Drop(at, "")
	return anything()
}

// says reports whether a keyword constrains anything. null means that the keyword was left out,
// because libraries of some languages write every field of a struct. "unevaluatedProperties": true
// has no effect.
func says(keyword string, v *jsontree.Value) bool {
	switch {
	case kind(v)&^Null == 0:
		return false
	case strings.HasPrefix(keyword, "unevaluated"):
		return v.Raw != "true"
	}
	return true
}

// union returns a list of alternatives as one Place. Their number is bounded, because everything
// beside a union is put into each of them. Beyond the bound the union is dropped as a whole and
// anything is allowed, because half of the alternatives would forbid the others.
func (d *Doc) union(list []*jsontree.Value, at string, depth int) *Place {
	// A list of ten times as many is not read at all. The alternatives of a shorter list may still
	// be joined, as constants are.
	const most = 100
	if len(list) > 10*most {
		return d.open(at)
	}
	var alts []*Place
	for i, one := range list {
		alts = append(alts, d.alternative(one, at+"/"+strconv.Itoa(i), depth))
	}
	p := Union(alts)
	if len(p.Alternatives) > most {
		return d.open(at)
	}
	p.At = at
	return p
}

// alternative returns one alternative of a union as a Place. The alternative may be a reference to
// a schema that contains the union, as in a list whose elements may be such lists. Then the Place
// is only a reference, because reading that schema again would repeat it inside itself down to the
// depth limit.
func (d *Doc) alternative(v *jsontree.Value, at string, depth int) *Place {
	if ref, step := reference(v); ref != "" {
		if to, place := d.resolve(ref); slices.Contains(d.around, to) &&
			!slices.Contains(d.reading, to) {
			return &Place{ref: to, doc: d, At: place, from: at + step}
		}
	}
	return d.read(v, at, depth+1)
}

// follow returns the target of a reference, merged into the place of the reference. It is used
// where other keywords stand beside the reference, because neither servers nor grammars can express
// both. If the target does not exist, the result allows everything. If the target is already being
// read, so that the reference leads back to itself, no value fits the result.
func (d *Doc) follow(ref, at string, depth int) *Place {
	to, place := d.resolve(ref)
	switch {
	case to == jsontree.Absent:
		return d.open(at)
	// it leads back here without going deeper, so it adds nothing
	case slices.Contains(d.reading, to):
		d.Drop(at, "")
		return never()
	}
	return d.target(to, place, depth+1)
}

// child returns the subschema v of a member or element as a Place. If v is only a reference, the
// Place is one, too, and its target is not read, so that a schema that refers to itself is not read
// without end. Otherwise v is read as if no reference were being followed (d.reading is empty),
// because a reference in v to a schema around it is ordinary recursion, and not one that only names
// itself.
func (d *Doc) child(v *jsontree.Value, at string, depth int) *Place {
	if ref, step := reference(v); ref != "" {
		if to, place := d.resolve(ref); to != jsontree.Absent {
			return &Place{ref: to, doc: d, At: place, from: at + step}
		}
	}
	reading := d.reading
	d.reading = nil
	p := d.read(v, at, depth+1)
	d.reading = reading
	return p
}

// reference returns the reference of a value that is only a reference. The result step is the path
// in the value to the reference, such as "/$ref". For any other value both results are "". An allOf
// of one reference counts as well: generators write it to add a description, which old drafts
// ignore beside a reference.
func reference(v *jsontree.Value) (ref, step string) {
	if r := v.Get("$ref"); kind(r) == String && lone(v, "$ref") {
		return r.Text, "/$ref"
	}
	if all := v.Get("allOf").Items; len(all) == 1 && lone(v, "allOf") {
		ref, step = reference(all[0])
		return ref, "/allOf/0" + step
	}
	return "", ""
}

// lone reports whether v has no keyword that constrains anything, apart from the given one.
// Descriptions and the like constrain nothing, and generators write {"$ref": …, "description": …}
// for each use of a type.
func lone(v *jsontree.Value, keyword string) bool {
	return !slices.ContainsFunc(v.Members, func(m jsontree.Member) bool {
		return m.Name != keyword &&
			!slices.Contains([]string{"description", "title", "default", "examples", "$comment",
				"deprecated", "readOnly", "writeOnly", "example"}, m.Name)
	})
}

// Follow returns the Place to which p leads if p is a reference, and p itself otherwise. A
// reference that leads only back to itself allows everything. A target is read only when Follow is
// called, because a tree of places would have no end where a schema refers to itself.
func (p *Place) Follow() *Place {
	if p.ref == nil {
		return p
	}
	if slices.Contains(p.doc.reading, p.ref) {
		return p.doc.open(p.At)
	}
	return p.doc.target(p.ref, p.At, 0)
}

// target returns the target of a reference as a Place. While the target is read, it is recorded as
// being followed.
func (d *Doc) target(to *jsontree.Value, at string, depth int) *Place {
	reading, around := d.reading, d.around
	d.reading, d.around = append(reading, to), append(around, to)
	p := d.read(to, at, depth)
	d.reading, d.around = reading, around
	return p
}

// own returns the place that a value's own keywords describe, without its references and unions. An
// unknown type is not a reason to refuse the tool: the place allows any value, and the keyword is
// reported as dropped.
func (d *Doc) own(v *jsontree.Value, at string, depth int) *Place {
	p := &Place{Kinds: Any, doc: d, At: at}
	if t := v.Get("type"); kind(t)&^Null != 0 {
		if p.Kinds = kindsOf(t); p.Kinds == 0 {
			p.Kinds = Any
			d.Drop(at, "type")
		}
	}
	d.values(p, v)
	d.scalars(p, v, at)
	d.array(p, v, at, depth)
	d.object(p, v, at, depth)
	p.hints = hintsOf(v)
	p.settle()
	return p
}

// hints lists the keywords that belong to one type.
var hints = []struct {
	kinds Kinds
	words []string
}{
	{String, []string{"pattern", "format", "minLength", "maxLength"}},
	{Integer | Number, []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf"}},
	{Array, []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}},
	{Object, []string{"properties", "required", "additionalProperties", "patternProperties",
		"minProperties", "maxProperties", "propertyNames", "dependentRequired"}},
}

// hintsOf returns the types that the keywords of v imply, since schemas written by hand often leave
// out the type where "properties" or "maximum" suggests it. By the specification such a schema
// still allows other types, but a model is held to one of these (see Types).
func hintsOf(v *jsontree.Value) (k Kinds) {
	for _, h := range hints {
		for _, word := range h.words {
			if w := v.Get(word); kind(w)&^Null != 0 {
				k |= h.kinds
				break
			}
		}
	}
	return k
}

// values reads enum and const. Values whose type the schema does not allow can never be written, so
// they are left out. If no value is left, nothing fits, which removes an alternative from a union.
func (d *Doc) values(p *Place, v *jsontree.Value) {
	list := enumValues(v)
	if list == nil {
		return
	}
	*d.budget -= len(list)
	p.Enum = []string{}
	for _, one := range list {
		if p.Kinds&KindOf(one.Raw) != 0 {
			p.Enum = append(p.Enum, one.Raw)
		}
	}
	p.Enum = each(p.Enum)
	p.Never = len(p.Enum) == 0
}

// enumValues returns the values of an enum or a const, or nil if there are none. An empty enum
// counts as none, because no author means that a tool cannot be called.
func enumValues(v *jsontree.Value) []*jsontree.Value {
	if c := v.Get("const"); c != jsontree.Absent {
		return []*jsontree.Value{c}
	}
	return v.Get("enum").Items
}

// scalars reads the keywords of texts and numbers, and the example values that a schema proposes.
func (d *Doc) scalars(p *Place, v *jsontree.Value, at string) {
	for _, w := range []struct {
		keyword string
		to      *[]Word
	}{{"pattern", &p.Patterns}, {"format", &p.Formats}} {
		if text := v.Get(w.keyword); kind(text) == String {
			*w.to = []Word{{text.Text, Origin{at, w.keyword}}}
		}
	}
	p.MinLength, p.MaxLength = count(v, "minLength", at), count(v, "maxLength", at)
	p.Minimum, p.Maximum = readBound(v, "minimum", "exclusiveMinimum", at, 1),
		readBound(v, "maximum", "exclusiveMaximum", at, -1)
	if n := v.Get("multipleOf"); kind(n)&Number != 0 {
		p.Step, _ = strconv.ParseFloat(n.Raw, 64)
		p.Step = max(p.Step, 0)
		d.Drop(at, "multipleOf") // no writer enforces it; the demo uses it
	}
	if one := v.Get("default"); one != jsontree.Absent {
		p.Proposed = []string{one.Raw}
	}
	for _, one := range v.Get("examples").Items {
		p.Proposed = append(p.Proposed, one.Raw)
	}
}

// array reads the keywords of arrays, with the names of the newest draft. Up to draft 2019-09 the
// first elements are a list in items. Since 2020-12 they are prefixItems, and they are reported
// under that name.
func (d *Doc) array(p *Place, v *jsontree.Value, at string, depth int) {
	p.MinItems, p.MaxItems = count(v, "minItems", at), count(v, "maxItems", at)
	prefix, items, rest := elements(v)
	for i, one := range prefix {
		p.Prefix = append(p.Prefix, d.child(one, at+"/prefixItems/"+strconv.Itoa(i), depth))
	}
	if kind(items)&(Object|Boolean) != 0 {
		p.Items = d.child(items, at+"/"+rest, depth)
	}
	if v.Get("uniqueItems").Raw == "true" {
		p.Unique = true
		d.Drop(at, "uniqueItems") // as multipleOf
	}
}

// elements returns the schemas of an array's first elements, and the schema of the others with its
// keyword, because items was a list before draft 2020-12. A missing schema is jsontree.Absent.
func elements(v *jsontree.Value) (prefix []*jsontree.Value, items *jsontree.Value, keyword string) {
	if items = v.Get("items"); kind(items) == Array {
		return items.Items, v.Get("additionalItems"), "additionalItems"
	}
	return v.Get("prefixItems").Items, items, "items"
}

// object reads the keywords of an object schema into p. A member whose schema is false must not
// occur. It is listed nevertheless, because a writer that allows unlisted members must exclude it.
// "additionalProperties": true changes nothing, so it is not stored.
func (d *Doc) object(p *Place, v *jsontree.Value, at string, depth int) {
	if props := v.Get("properties"); kind(props) == Object {
		p.Listed = true
		for _, m := range props.Members {
			place := at + "/properties/" + escapeStep(m.Name)
			if m.Value.Raw == "false" {
				p.Barred = append(p.Barred, place)
			}
			p.set(m.Name, d.child(m.Value, place, depth))
		}
	}
	p.Required = words(v.Get("required"))
	if more := v.Get("additionalProperties"); kind(more)&(Object|Boolean) != 0 &&
		more.Raw != "true" {
		p.More = d.child(more, at+"/additionalProperties", depth)
	}
	if p.MinMembers = count(v, "minProperties", at); p.MinMembers != nil {
		d.Drop(at, "minProperties") // as multipleOf
	}
	if named := v.Get("patternProperties"); kind(named) == Object && len(named.Members) > 0 {
		d.Drop(at, "patternProperties")
		d.patterned(p, named, at, depth)
	}
}

// patterned reads patternProperties as if its subschemas applied to members of any name. No writer
// can tie a value to the pattern that its name fits. So every member may have a value that any of
// the patterns allows, and the keyword counts as dropped.
func (d *Doc) patterned(p *Place, named *jsontree.Value, at string, depth int) {
	all := []*Place{anything()}
	if p.More != nil {
		all[0] = p.More
	}
	for _, m := range named.Members {
		all = append(all, d.child(m.Value, at+"/patternProperties/"+escapeStep(m.Name), depth))
	}
	p.More = Union(all)
	if all[0].Open() {
		p.More = nil
		if !p.Listed {
			p.More = Union(all[1:])
		}
	}
}
