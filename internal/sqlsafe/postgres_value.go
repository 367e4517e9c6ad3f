package sqlsafe

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// largestSafe is the largest integer up to which readers that use doubles, as JavaScript does,
// distinguish all integers. 2^53 itself is exact, though 2^53+1 becomes the same double.
const largestSafe = 1 << 53

// postgresTypes returns the map of PostgreSQL's built-in types, which is never changed. It knows
// which types are arrays, and the types of their elements.
var postgresTypes = sync.OnceValue(pgtype.NewMap)

// postgresValue returns the JSON form of a value in PostgreSQL's text form; nil means NULL. Numbers
// that a double does not represent exactly become texts. The text form is used because every type
// has one and a numeric has all its digits in it. A bytea is \x and hex digits, as the settings of
// the connection say.
func postgresValue(oid uint32, text []byte) json.RawMessage {
	if text == nil {
		return json.RawMessage("null")
	}
	s := string(text)
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.OIDOID:
		return json.RawMessage(s)
	case pgtype.Int8OID:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n <= largestSafe &&
			n >= -largestSafe {
			return json.RawMessage(s)
		}
	case pgtype.Float4OID, pgtype.Float8OID:
		if json.Valid(text) { // not NaN, Infinity
			return json.RawMessage(s)
		}
	case pgtype.BoolOID:
		return json.RawMessage(strconv.FormatBool(s == "t"))
	case pgtype.JSONOID, pgtype.JSONBOID:
		if shallow(text) && json.Valid(text) {
			return json.RawMessage(s)
		}
	case pgtype.ByteaOID:
		if raw, err := hex.DecodeString(strings.TrimPrefix(s, `\x`)); err == nil {
			s = base64.StdEncoding.EncodeToString(raw)
		}
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		s = rfc3339(s)
	default:
		if element, ok := elementOf(oid); ok {
			return postgresArray(element, s)
		}
	}
	return jsonText(s)
}

// postgresArray returns the JSON form of an array: a list, or a text if the array cannot be parsed.
func postgresArray(element uint32, s string) json.RawMessage {
	if list, rest, ok := array(strings.TrimPrefix(s, bounds.FindString(s)), element, 0); ok &&
		rest == "" {
		return list
	}
	return jsonText(s)
}

// value returns the JSON form of a value in the statement's result. Unlike postgresValue, it knows
// the arrays of types that are not built in.
func (b *bound) value(oid uint32, text []byte) json.RawMessage {
	if element, ok := b.arrays[oid]; ok && text != nil {
		return postgresArray(element, string(text))
	}
	return postgresValue(oid, text)
}

// deepestJSON is how deeply a JSON value may be nested. A deeper value is sent as a text, because
// readers in other languages fail a little below 1,000 levels.
const deepestJSON = 200

// shallow reports whether a JSON text has at most deepestJSON levels.
func shallow(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += jsontree.StringEnd(text[i:]) - 1
		case '[', '{':
			if depth++; depth > deepestJSON {
				return false
			}
		case ']', '}':
			depth--
		}
	}
	return true
}

// jsonText returns a text as a JSON string, or null if it cannot be encoded.
func jsonText(s string) json.RawMessage {
	b, err := chat.JSON(s)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// stamp matches a time as PostgreSQL writes it in the style ISO. It does not match infinity and
// years before Christ, which stay as they are.
var stamp = regexp.MustCompile(
	`^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:\d\d)?)?$`)

// rfc3339 returns a time such as 2024-01-02 03:04:05.6+09 in the form of RFC 3339,
// 2024-01-02T03:04:05.6+09:00. A time without a zone stays without one, and a text that is not a
// time is returned unchanged.
func rfc3339(s string) string {
	m := stamp.FindStringSubmatch(s)
	switch {
	case m == nil:
		return s
	case m[3] == "":
		return m[1] + "T" + m[2]
	case m[3] == "+00" && m[4] == "":
		return m[1] + "T" + m[2] + "Z"
	case m[4] == "":
		return m[1] + "T" + m[2] + m[3] + ":00"
	}
	return m[1] + "T" + m[2] + m[3] + m[4]
}

// elementOf returns the type of an array's elements; ok is false for a type that is not an array.
func elementOf(oid uint32) (element uint32, ok bool) {
	t, ok := postgresTypes().TypeForOID(oid)
	if !ok {
		return 0, false
	}
	codec, ok := t.Codec.(*pgtype.ArrayCodec)
	if !ok {
		return 0, false
	}
	return codec.ElementType.OID, true
}

// bounds matches the bounds that PostgreSQL writes before an array that does not begin at 1:
// [0:2]={…}.
var bounds = regexp.MustCompile(`^(?:\[-?\d+:-?\d+\])+=`)

// mostDimensions is how many dimensions PostgreSQL's arrays may have.
const mostDimensions = 6

// array parses an array such as {1,NULL,"a b"}, which may be nested, at the beginning of s. It
// returns the array as a JSON list and the text after it; ok is false if there is no valid array.
// The element type decides on the values: {1,2} gives numbers for int4[], and texts for text[].
func array(s string, element uint32, depth int) (list json.RawMessage, rest string, ok bool) {
	if !strings.HasPrefix(s, "{") || depth > mostDimensions {
		return nil, s, false
	}
	list, s = append(list, '['), s[1:]
	for len(s) > 0 && s[0] != '}' {
		if len(list) > 1 {
			if s[0] != ',' {
				return nil, s, false
			}
			list, s = append(list, ','), s[1:]
		}
		var value json.RawMessage
		if strings.HasPrefix(s, "{") {
			if value, s, ok = array(s, element, depth+1); !ok {
				return nil, s, false
			}
		} else {
			var text []byte
			if text, s, ok = arrayText(s); !ok {
				return nil, s, false
			}
			value = postgresValue(element, text)
		}
		list = append(list, value...)
	}
	if s == "" {
		return nil, s, false
	}
	return append(list, ']'), s[1:], true
}

// arrayText parses one element of an array at the beginning of s. It returns nil for NULL without
// quotes, while "NULL" in quotes is a text; ok is false if there is no valid element.
func arrayText(s string) (text []byte, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ",}")
		switch {
		case end <= 0:
			return nil, s, false
		case s[:end] == "NULL":
			return nil, s[end:], true
		}
		return []byte(s[:end]), s[end:], true
	}
	text = []byte{}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return text, s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		text = append(text, s[i])
	}
	return nil, s, false
}
