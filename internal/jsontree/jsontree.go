// Package jsontree reads a whole JSON text into its values, in their order and with the place of
// each: schemas, whose members models write in that order, and arguments, of which parts are cut
// and replaced in the text itself.
//
// encoding/json has no such tree. A map loses the order and members that are there twice, a float
// the digits of a number, and neither knows where in the text it stood.
package jsontree

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Value is one value of a text. The text of each is kept as a part of the whole, so that what is
// copied from it is as its author wrote it, numbers with all their digits.
type Value struct {
	Raw     string // as it is written
	Start   int    // where in the text it begins
	Text    string // of a string, what it says
	Members []Member
	Items   []*Value

	index map[string]*Value // members by name, of an object that has many; made at the first use
}

// Member is one member of an object.
type Member struct {
	Name  string
	Key   int // where its key begins
	Value *Value
}

// Absent is the value that is not there, with nothing in it, so that a reader may ask for a member
// of a member without looking first.
var Absent = &Value{}

// Get returns a member. Of two with one name the last counts.
// RFC 8259, section 4, leaves that open; encoding/json takes the last one, too.
func (v *Value) Get(name string) *Value {
	if len(v.Members) > fewMembers {
		if one, ok := v.indexed()[name]; ok {
			return one
		}
		return Absent
	}
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return Absent
}

// fewMembers is how many members are looked through one by one: an index costs more to make than it
// saves below that. Schemas' own keywords are few; it is "properties" and "$defs" that may have a
// thousand members.
const fewMembers = 32

// indexed returns the members by name.
func (v *Value) indexed() map[string]*Value {
	if v.index == nil {
		v.index = make(map[string]*Value, len(v.Members))
		for _, m := range v.Members {
			v.index[m.Name] = m.Value
		}
	}
	return v.index
}

// mostLevels is how deep encoding/json follows a text before it calls it wrong.
const mostLevels = 10_000

// Parse reads one JSON value, nil when the text is none or nested deeper than most levels; deep
// says that this is what failed. Reading recurs, and a stack that overflows ends the whole process.
// encoding/json says first whether the text is JSON, so that whoever cuts it into values meets no
// mistake. What has more brackets than it follows is deep without a further look.
func Parse(raw []byte, most int) (v *Value, deep bool) {
	if !json.Valid(raw) {
		return nil, bytes.Count(raw, []byte{'['})+bytes.Count(raw, []byte{'{'}) > mostLevels
	}
	c := cutter{rest: string(raw), size: len(raw), most: most}
	if v = c.value(0); c.deep {
		return nil, true
	}
	return v, false
}

// cutter cuts a JSON text that is known to be valid into its values.
// The depth is looked at as it reads, so that a text of brackets alone ends early.
type cutter struct {
	rest string
	size int // of the whole text
	most int
	deep bool // the text is nested deeper than that; the rest of it is not looked at
}

// value cuts off one value with what precedes it.
func (c *cutter) value(depth int) *Value {
	from := c.next()
	v := &Value{Start: c.size - len(from)}
	switch first := from[0]; first {
	case '{', '[':
		c.deep = c.deep || depth == c.most
		c.rest = c.rest[1:]
		// The closing sign is two behind the opening one in ASCII, for both kinds.
		for !c.deep && c.next()[0] != first+2 {
			if first == '[' {
				v.Items = append(v.Items, c.value(depth+1))
				continue
			}
			m := Member{Key: c.size - len(c.rest), Name: c.string()}
			m.Value = c.value(depth + 1)
			v.Members = append(v.Members, m)
		}
		c.rest = c.rest[1:]
	case '"':
		v.Text = c.string()
	default:
		end := strings.IndexAny(c.rest, " \t\r\n,]}")
		if end < 0 {
			end = len(c.rest)
		}
		c.rest = c.rest[end:]
	}
	v.Raw = from[:len(from)-len(c.rest)]
	return v
}

// next skips what is between values, and returns the rest of the text.
func (c *cutter) next() string {
	c.rest = strings.TrimLeft(c.rest, " \t\r\n,:")
	return c.rest
}

// string cuts off a string, and is what it says. A byte that is no UTF-8 is U+FFFD, as in all of
// encoding/json.
func (c *cutter) string() string {
	end := StringEnd(c.rest)
	quoted := c.rest[:end]
	c.rest = c.rest[end:]
	text, _ := Unquote(quoted)
	if !utf8.ValidString(text) {
		_ = json.Unmarshal([]byte(quoted), &text) // it is valid
	}
	return text
}

// Unquote returns the text of a JSON string. Strings without escapes, as nearly all are, are not
// decoded: an enum of 5,000 countries is gone through for each value of a call.
func Unquote(quoted string) (text string, ok bool) {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	err := json.Unmarshal([]byte(quoted), &text)
	return text, err == nil
}

// StringEnd returns the length of the JSON string that text begins with, both quotes included. Of a
// text that ends within the string it returns the whole length. An escaped quote ends no string.
func StringEnd[T string | []byte](text T) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
