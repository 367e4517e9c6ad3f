package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
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

	index map[string]*value // members by name, of an object that has many; made at the first use
}

// member is one member of an object.
type member struct {
	name string
	v    *value
}

// absent is the value that is not there, of no kind and with nothing in it, so that a reader may ask for a member of a member
// without looking first.
var absent = &value{}

// kind is the JSON type, 0 for a value that is not there.
func (v *value) kind() Kinds { return KindOf(v.raw) }

// get is a member. Of two with one name the last counts.
// RFC 8259, section 4, leaves that open; encoding/json and the check take the last one, too.
func (v *value) get(name string) *value {
	if len(v.members) > fewMembers {
		if one, ok := v.indexed()[name]; ok {
			return one
		}
		return absent
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].v
		}
	}
	return absent
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
	for _, item := range v.items {
		if item.kind() == String {
			all = append(all, item.text)
		}
	}
	return all
}

// count is a whole number that is not negative, -1 when there is none.
// 2.0 is one (since draft 6), and so is 1e3. Beyond an int32 there is none: no value is ever that long.
func (v *value) count() int {
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

// mostLevels is how deep encoding/json follows a text before it calls it wrong.
const mostLevels = 10_000

// parseDepth is parse with a limit of its own; deep says that this is what failed.
// encoding/json says first whether the text is JSON, so that whoever cuts it into values meets no mistake. What has more
// brackets than it follows is deep without a further look.
func parseDepth(raw []byte, most int) (v *value, deep bool) {
	if !json.Valid(raw) {
		return nil, bytes.Count(raw, []byte{'['})+bytes.Count(raw, []byte{'{'}) > mostLevels
	}
	c := cutter{rest: string(raw), most: most}
	if v = c.value(0); c.deep {
		return nil, true
	}
	return v, false
}

// cutter cuts a JSON text that is known to be valid into its values.
// The depth is looked at as it reads, so that a text of brackets alone ends early.
type cutter struct {
	rest string
	most int
	deep bool // the text is nested deeper than that; the rest of it is not looked at
}

// value cuts off one value with what stands in front of it.
func (c *cutter) value(depth int) *value {
	from := c.next()
	v := new(value)
	switch first := from[0]; first {
	case '{', '[':
		c.deep = c.deep || depth == c.most
		c.rest = c.rest[1:]
		// The closing sign is two behind the opening one in ASCII, for both kinds.
		for !c.deep && c.next()[0] != first+2 {
			if first == '[' {
				v.items = append(v.items, c.value(depth+1))
				continue
			}
			name := c.string()
			v.members = append(v.members, member{name, c.value(depth + 1)})
		}
		c.rest = c.rest[1:]
	case '"':
		v.text = c.string()
	default:
		end := strings.IndexAny(c.rest, " \t\r\n,]}")
		if end < 0 {
			end = len(c.rest)
		}
		c.rest = c.rest[end:]
	}
	v.raw = from[:len(from)-len(c.rest)]
	return v
}

// next passes over what stands between values, and is the rest of the text.
func (c *cutter) next() string {
	c.rest = strings.TrimLeft(c.rest, " \t\r\n,:")
	return c.rest
}

// string cuts off a string, and is what it says. A byte that is no UTF-8 is U+FFFD, as in all of encoding/json.
func (c *cutter) string() string {
	end := 1
	for c.rest[end] != '"' {
		if c.rest[end] == '\\' {
			end++
		}
		end++
	}
	quoted := c.rest[:end+1]
	c.rest = c.rest[end+1:]
	text, _ := plain(quoted)
	if !utf8.ValidString(text) {
		_ = json.Unmarshal([]byte(quoted), &text) // it is valid
	}
	return text
}
