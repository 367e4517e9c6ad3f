package schema

import "encoding/json"

// Doc is a schema's text, parsed once, in which every reader finds references in the same way: by JSON pointer as a URL
// spells it, by anchor, and by id.
type Doc struct{ document }

// Parse reads a schema's text. One that cannot be read has nothing in it.
func Parse(raw json.RawMessage) *Doc { return &Doc{document{root: parse(raw)}} }

// At is the text of the place that a reference leads to; false when it is not in the document.
func (d *Doc) At(ref string) (json.RawMessage, bool) {
	if d.root == nil {
		return nil, false
	}
	v, _ := d.resolve(ref)
	if v == nil {
		return nil, false
	}
	return json.RawMessage(v.raw), true
}
