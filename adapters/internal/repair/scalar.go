package repair

import (
	"strconv"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// words are those for true, false and null in JSON, Python and JavaScript.
// Not-a-number and the infinities have no JSON at all; null is what JSON.stringify makes of them.
var words = map[string]string{
	"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false",
	"null": "null", "None": "null", "none": "null", "nil": "null", "undefined": "null", "NULL": "null",
	"NaN": "null", "nan": "null", "Infinity": "null", "-Infinity": "null", "inf": "null", "-inf": "null",
}

// Scalar reads a word as a scalar of JSON; value is empty where it is none. own reports that JSON
// spells it so. A number that JSON knows is not touched: beyond 2^53, 1.50 and 1E+2 stay as they
// are, since no machine number is made of them.
func Scalar(word string) (value string, own bool) {
	if v, ok := words[word]; ok {
		return v, v == word
	}
	if schema.IsNumber(word) { // as nearly all are
		return word, true
	}
	if v, ok := number(word); ok {
		return v, false
	}
	return "", false
}

// Word returns the literal of JSON that a word stands for, or "".
func Word(word string) string { return words[word] }

// number repairs the spelling of a number. [.25, +7, 8., 0x1F, 1_000, 007] are of Python,
// JavaScript and C. Where the schema wants a text, the spelling itself is the text, "007". Digits
// are never converted, so no number is rounded; hexadecimal ones have to be.
func number(s string) (string, bool) {
	rest := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(rest)]
	if sign == "" {
		rest = strings.TrimPrefix(s, "+")
	}
	if rest == "" || rest[0] != '.' && !scan.IsDigit(rest[0]) {
		return "", false
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(rest), "0x"); ok { // 0x1F; beyond 64 bits it is no number
		n, err := strconv.ParseUint(hex, 16, 64)
		return sign + strconv.FormatUint(n, 10), err == nil
	}
	s = strings.TrimLeft(strings.TrimSuffix(strings.ReplaceAll(rest, "_", ""), "."), "0") // 1_000, 8. and 007
	if s == "" || !scan.IsDigit(s[0]) {                                                   // 0 and .25
		s = "0" + s
	}
	return sign + s, schema.IsNumber(s)
}
