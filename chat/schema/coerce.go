package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// KindOf returns the type of a JSON value, determined by its first byte, or 0 for an empty text. A
// number is also an Integer if its text is one. 1.0 is only a Number here, as in draft 4, although
// later drafts call it an integer. Where an integer is required, FromText writes 1, which fits in
// all drafts.
func KindOf(value string) Kinds {
	if value == "" {
		return 0
	}
	switch value[0] {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	if strings.ContainsAny(value, ".eE") {
		return Number
	}
	return Integer | Number
}

// IsNumber reports whether s is a number in strict JSON (RFC 8259, section 6): no plus sign, no
// leading zero, digits on both sides of the point. strconv accepts more, such as 0x1p-2, inf and
// .5, and no client could read a call with these.
func IsNumber(s string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	// encoding/json accepts blanks around a value, and words, but a number begins with a digit or a
	// minus, and ends with a digit.
	return s != "" && (s[0] == '-' || digit(s[0])) && digit(s[len(s)-1]) && json.Valid([]byte(s))
}

// FromText reads untyped text (a value in tags, or a string where the schema demands something
// else) as a number, boolean, null or enum member that t allows. It returns JSON text, and false if
// the text spells none of these. Tags have no types, as in `<parameter=days>3</parameter>`, so only
// the schema says that 3 is a number. The most specific reading comes first: values of an enum,
// then null and the booleans, then numbers. Python's True and None are known as well. If a string
// is also allowed, a text with leading zeros is not a number, because 0049 may be a code.
func (t *Type) FromText(text string) (string, bool) {
	if !t.Known() {
		return "", false
	}
	s := strings.TrimSpace(text)
	if v, ok := t.fromEnum(s); ok {
		return v, true
	}
	switch lower := strings.ToLower(s); {
	// Only here does "null" mean null. Where null is not among the types, the word remains a text.
	case t.kinds&Null != 0 && (s == "null" || s == "None" || s == "nil"):
		return "null", true
	case t.kinds&Boolean != 0 && (lower == "true" || lower == "false"):
		return lower, true
	case t.kinds&(Integer|Number) != 0:
		if t.kinds&String == 0 { // otherwise it may be a code, or a sum with its currency
			s = withoutZeros(plainNumber(s))
		}
		if n, ok := number(s, t.kinds&Number == 0); ok {
			return n, true
		}
	}
	if t.Only(Boolean | Null) {
		v, ok := boolWords[strings.ToLower(s)]
		return v, ok
	}
	return "", false
}

// boolWords are the words that people use for true and false. They count only where the schema
// allows nothing but a boolean. Where it allows a text or a number as well, "on" and 1 mean
// themselves. So `<parameter=recursive>yes</parameter>` is true, and so is the Y of a table that
// has Y and N.
var boolWords = map[string]string{"1": "true", "yes": "true", "y": "true", "on": "true",
	"0": "false", "no": "false", "n": "false", "off": "false"}

// number returns a text as a JSON number, and false if it is not one. An integer may have a
// fraction of zeros, and a plus sign is dropped. It never computes with the digits, so that
// identifiers of nineteen digits do not change. "5.0" and "5" are the same integer. "5.5" is not an
// integer and is left to the package that checks calls (engine/valid). "1e3" is not one either,
// because writing out its digits would mean computing.
func number(s string, integer bool) (string, bool) {
	s = strings.TrimPrefix(s, "+")
	if !IsNumber(s) {
		return "", false
	}
	if !integer || !strings.ContainsAny(s, ".eE") {
		return s, true
	}
	whole, frac, _ := strings.Cut(s, ".")
	if frac != "" && strings.Trim(frac, "0") == "" {
		return whole, true
	}
	return "", false
}

// groupings are the ways in which people write numbers that have only one meaning (1,234.50 and
// 1.234,50, 1,234,567, 21,5), with the signs to remove from each. A single group, as in 1,234, is
// not among them, because it may mean a thousand or a bit more than one.
var groupings = []struct {
	form      *regexp.Regexp
	out, back string // the signs that are dropped, and the sign that becomes a point
}{
	{regexp.MustCompile(`^[+-]?[0-9]{1,3}(,[0-9]{3})+\.[0-9]+$|^[+-]?[0-9]{1,3}(,[0-9]{3}){2,}$`),
		",", "."},
	{regexp.MustCompile(`^[+-]?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+$|^[+-]?[0-9]{1,3}(\.[0-9]{3}){2,}$`),
		".", ","},
	{regexp.MustCompile(`^[+-]?[0-9]+,([0-9]{1,2}|[0-9]{4,})$`), "", ","},
}

// plainNumber returns a number without its currency, its degrees and the separators between its
// digits: 1234.50 for "€1,234.50". Other texts are returned unchanged.
func plainNumber(s string) string {
	bare := strings.TrimSpace(
		strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(s, "°C"), "°F"), "°€£$¥"))
	bare = strings.TrimSpace(strings.TrimLeft(bare, "€£$¥"))
	for _, g := range groupings {
		if g.form.MatchString(bare) {
			if g.out != "" {
				bare = strings.ReplaceAll(bare, g.out, "")
			}
			return strings.Replace(bare, g.back, ".", 1)
		}
	}
	if IsNumber(bare) {
		return bare
	}
	return s
}

// withoutZeros removes the zeros before a number's other digits, which JSON does not allow. A model
// writes 007 when it has read it in the message. One digit always remains: 0 becomes 0, -00 becomes
// -0, and 0.5 does not change.
func withoutZeros(s string) string {
	i := 0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		i++
	}
	rest := s[i:]
	for len(rest) > 1 && rest[0] == '0' && rest[1] >= '0' && rest[1] <= '9' {
		rest = rest[1:]
	}
	return s[:i] + rest
}

// fromEnum returns the value of the enum that a text means, and false if there is none or more than
// one. A value of another type than a string must have the same spelling, so that 2 becomes the
// number of [1,2,3]. A string matches regardless of case and quotation marks, such as celsius for
// "Celsius", if only one value matches. Choosing between several, such as "asc" and "ASC", would be
// a guess.
func (t *Type) fromEnum(s string) (string, bool) {
	bare := strings.Trim(s, `"'`)
	found, n := "", 0
	for _, v := range t.enum {
		word, ok := plain(v)
		if !ok {
			continue
		}
		if word == s {
			return v, true
		}
		if strings.EqualFold(word, bare) {
			found, n = v, n+1
		}
	}
	return found, n == 1
}

// plain returns the text of a value: the contents of a string, and any other value unchanged. It
// returns false for an invalid string.
func plain(v string) (string, bool) {
	if v == "" || v[0] != '"' {
		return v, true
	}
	return jsontree.Unquote(v)
}

// Fit returns a JSON scalar that t allows: the value itself if it fits, otherwise its nearest
// spelling in the right type, otherwise the value unchanged. Strings are passed and returned with
// their quotation marks. "Unchanged" is intended, because Fit does not validate. A value that still
// does not fit is found when the call is checked (engine/valid), which can name the place and have
// the call written again, while a value that was forced to fit would be silently wrong. A number
// where a string is required gets quotation marks, because no other string can be meant. null does
// not, because it means that there is no value.
func (t *Type) Fit(value string) string {
	if !t.Known() || t.fits(value) {
		return value
	}
	// A string is read by its contents, "3" as 3. It remains a string if the type does not allow
	// the value that was read.
	if value[0] == '"' {
		var s string
		if json.Unmarshal([]byte(value), &s) == nil {
			if v, ok := t.FromText(s); ok {
				return v
			}
		}
		return value
	}
	if v, ok := t.FromText(value); ok {
		return v
	}
	if t.kinds&String != 0 && KindOf(value)&Null == 0 {
		return Quote(value)
	}
	return value
}

// fits reports whether a scalar is of a type that t allows and, if t lists values, is spelled like
// one of these. Fit looks for a value with the same meaning if this returns false.
func (t *Type) fits(value string) bool {
	return t.kinds&KindOf(value) != 0 && (len(t.enum) == 0 || slices.Contains(t.enum, value))
}

// Quote returns s as a JSON string without escaping more than JSON demands, as chat.AppendQuoted
// does. encoding/json would write `\u003c` for `<`, which is the same value, but in six bytes
// instead of one, and unreadable where arguments contain code.
func Quote(s string) string { return string(chat.AppendQuoted(nil, s)) }
