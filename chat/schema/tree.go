package schema

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// maxTree bounds how deep a schema is nested as a text: reading recurs, and a stack that overflows ends the whole process.
// It is above the 128 levels that the budget lets a request's schema have; what no budget has checked ends here.
const maxTree = 256

// value is one value of a schema's text, members in their order. A map would lose that, and the order of parameters is the
// order in which models write them. Numbers keep their digits.
// The text of each value is kept as a part of the whole, so that constants and notes are written as the author wrote them.
type value struct {
	raw     string // as it is written
	text    string // of a string
	members []member
	items   []*value
	open    bool // the text ends inside it; of parseBegun alone

	index map[string]*value // members by name, of an object that has many; made at the first use
}

// member is one member of an object.
type member struct {
	name string
	v    *value
}

// kind is the JSON type, 0 for a value that is not there. All methods of a value take nil, so that a reader may ask for a
// member of a member without looking first.
func (v *value) kind() Kinds {
	if v == nil {
		return 0
	}
	return KindOf(v.raw)
}

// get is a member, nil when there is none. Of two with one name the last counts.
// RFC 8259, section 4, leaves that open; encoding/json and the check take the last one, too.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	if len(v.members) > fewMembers {
		return v.indexed()[name]
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].v
		}
	}
	return nil
}

// fewMembers is how many members are looked through one by one: an index costs more to make than it saves below that.
// Schemas' own keywords are few; it is "properties" and "$defs" that may have a thousand members.
const fewMembers = 32

// indexed are the members by name.
func (v *value) indexed() map[string]*value {
	if v.index == nil {
		v.index = make(map[string]*value, len(v.members))
		for _, m := range v.members {
			v.index[m.name] = m.v
		}
	}
	return v.index
}

// words are the strings in a list; what is no string is passed over, as in {"required": ["a", null]}.
func (v *value) words() (all []string) {
	if v == nil {
		return nil
	}
	for _, item := range v.items {
		if item.kind() == String {
			all = append(all, item.text)
		}
	}
	return all
}

// list are the elements of an array.
func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// fields are the members of an object.
func (v *value) fields() []member {
	if v == nil {
		return nil
	}
	return v.members
}

// count is a whole number that is not negative, -1 when there is none.
// 2.0 is one (since draft 6), and so is 1e3. Beyond an int32 there is none: no value is ever that long.
func (v *value) count() int {
	if v == nil {
		return -1
	}
	n, err := strconv.ParseFloat(v.raw, 64)
	if err != nil || n < 0 || n != float64(int32(n)) {
		return -1
	}
	return int(n)
}

// parse reads a JSON text, nil when it is none or nested too deeply.
func parse(raw []byte) *value {
	v, _ := parseDepth(raw, maxTree)
	return v
}

// parseDepth is parse with a limit of its own; deep says that this is what failed.
// Tokens are read one by one, and not into Go values, since the text of each place and the order of members are needed. What
// follows the value makes it none.
func parseDepth(raw []byte, most int) (v *value, deep bool) {
	p := newTreeParser(string(raw), most)
	v = p.whole()
	return v, p.deep
}

// parseBegun reads the beginning of a JSON text, which may end anywhere: behind a key, within a string, after a comma. It is
// nil where the text is no beginning.
// A member of which only the key is there has no value. Half a key, number or word is nothing that a model could be held to.
func parseBegun(text string) *value {
	p := newTreeParser(strings.TrimSpace(text), maxTree)
	p.begun = true
	return p.whole()
}

// The depth is looked at as it reads, so that a text of brackets alone ends early.
type treeParser struct {
	text  string
	dec   *json.Decoder
	most  int
	deep  bool // the text is nested deeper than that
	begun bool // the text may end inside the value
	ended bool // it did
}

func newTreeParser(text string, most int) *treeParser {
	p := &treeParser{text: text, dec: json.NewDecoder(strings.NewReader(text)), most: most}
	p.dec.UseNumber()
	return p
}

// whole reads the value, behind which nothing may follow.
func (p *treeParser) whole() *value {
	v := p.value(0)
	if _, err := p.dec.Token(); err != io.EOF && !p.ended {
		return nil
	}
	return v
}

// value reads one value, nil when there is none.
// Its text begins behind the comma or colon that the decoder has passed over in front of it.
func (p *treeParser) value(depth int) *value {
	start := p.dec.InputOffset()
	t, err := p.dec.Token()
	if p.deep = p.deep || depth > p.most; err != nil || p.deep {
		// Of a string that has begun all that is there counts.
		if rest := strings.TrimLeft(p.text[start:], " \t\r\n,:"); p.begun && err == io.ErrUnexpectedEOF && rest[0] == '"' {
			p.ended = true
			return &value{raw: rest, open: true}
		}
		p.ends(err)
		return nil
	}
	v := new(value)
	// A number is a json.Number and no string, so text stays empty; its digits are in raw.
	v.text, _ = t.(string)
	if open, ok := t.(json.Delim); ok {
		if !p.inside(v, open == '{', depth) {
			return nil
		}
	}
	v.raw = strings.TrimLeft(p.text[start:p.dec.InputOffset()], " \t\r\n,:")
	return v
}

// ends says whether the text has ended where a beginning may: between tokens.
func (p *treeParser) ends(err error) bool {
	p.ended = p.begun && err == io.EOF
	return p.ended
}

// inside reads the members or elements of v, and what closes it. The decoder checks the commas and colons.
func (p *treeParser) inside(v *value, object bool, depth int) bool {
	for p.dec.More() {
		name := ""
		if object {
			key, err := p.dec.Token()
			if err != nil {
				v.open = p.ends(err)
				return v.open
			}
			name, _ = key.(string)
		}
		one := p.value(depth + 1)
		switch {
		case one == nil && !p.ended:
			return false
		case object:
			v.members = append(v.members, member{name, one})
		case one != nil:
			v.items = append(v.items, one)
		}
		if v.open = p.ended; v.open {
			return true
		}
	}
	_, err := p.dec.Token()
	v.open = p.ends(err)
	return err == nil || v.open
}
