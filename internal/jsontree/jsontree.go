// Package jsontree parses a whole JSON text into a tree of values, with their order and their
// offsets in the text. It is used for schemas, whose order models follow in their calls, and for
// arguments, of which parts are replaced in the text itself.
//
// encoding/json has no such tree. A map loses the order and repeated members, a float64 loses
// digits of a number, and neither knows its offset in the text.
package jsontree

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Value is one value of a JSON text. Raw is a part of the whole text, so a copy of it is exactly
// what the author wrote, for example a number with all its digits.
type Value struct {
	Raw     string // the value as it is written
	Start   int    // the offset in the text at which it begins
	Text    string // the decoded text, if the value is a string
	Members []Member
	Items   []*Value

	index map[string]*Value // the members by name, if there are many; made at the first use
}

// Member is one member of an object: its name and its value.
type Member struct {
	Name  string
	Key   int // the offset at which its key begins
	Value *Value
}

// Absent is the empty value that Get returns for a missing member, so that a caller can ask for a
// member of a member without checking first.
var Absent = &Value{}

// Get returns the value of the member with the given name, or Absent if v has none. If two members
// have the name, it returns the last: RFC 8259, section 4, leaves that open, and encoding/json
// takes the last one, too.
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

// fewMembers is the largest number of members that are searched one by one, because for so few an
// index costs more than it saves. Most objects in schemas are small; "properties" and "$defs" may
// have a thousand members.
const fewMembers = 32

// indexed returns the index of the members by name, which it makes at the first call.
func (v *Value) indexed() map[string]*Value {
	if v.index == nil {
		v.index = make(map[string]*Value, len(v.Members))
		for _, m := range v.Members {
			v.index[m.Name] = m.Value
		}
	}
	return v.index
}

// mostLevels is the deepest nesting that encoding/json accepts; it rejects a deeper text as
// invalid.
const mostLevels = 10_000

// Parse returns the tree of one JSON value. It returns nil if raw is not valid JSON or is nested
// deeper than the parameter most; deep reports that the depth was the reason. The depth is bounded
// because the parser is recursive, and a stack overflow ends the whole process. encoding/json
// checks the text first, so that the parser meets no mistakes. encoding/json also rejects texts
// that are much too deep, without saying why, so Parse reports any rejected text with very many
// brackets as deep.
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

// cutter parses a JSON text that is known to be valid. It checks the depth while it reads, so that
// a text of brackets alone ends early.
type cutter struct {
	rest string
	size int // of the whole text
	most int
	deep bool // the text is nested deeper than most; the rest is not read
}

// value reads one value, and the white space and separators before it. If the text turns out to be
// too deep, it sets c.deep and returns an incomplete value.
func (c *cutter) value(depth int) *Value {
	from := c.next()
	v := &Value{Start: c.size - len(from)}
	switch first := from[0]; first {
	case '{', '[':
		c.deep = c.deep || depth == c.most
		c.rest = c.rest[1:]
		// In ASCII both closing brackets are two characters after the opening ones.
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

// next skips white space, commas and colons, and returns the rest of the text.
func (c *cutter) next() string {
	c.rest = strings.TrimLeft(c.rest, " \t\r\n,:")
	return c.rest
}

// string reads one string and returns its decoded text. A byte that is not UTF-8 becomes U+FFFD, as
// in all of encoding/json.
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

// Unquote returns the decoded text of a JSON string with its quotes; ok is false if an escape in it
// is invalid. Strings without escapes, as nearly all are, are returned without decoding, because an
// enum of 5,000 countries is read for each value of a call.
func Unquote(quoted string) (text string, ok bool) {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	err := json.Unmarshal([]byte(quoted), &text)
	return text, err == nil
}

// StringEnd returns the length of the JSON string at the beginning of text, with both quotes. If
// the text ends before the string does, it returns the length of the text. An escaped quote does
// not end a string.
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
