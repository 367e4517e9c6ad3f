package repair

import (
	"strconv"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// words has the words for true, false and null in JSON, Python and JavaScript. JSON has no
// not-a-number and no infinities; JSON.stringify writes them as null.
var words = map[string]string{
	"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false",
	"FALSE": "false",
	"null":  "null", "None": "null", "none": "null", "nil": "null", "undefined": "null",
	"NULL": "null",
	"NaN":  "null", "nan": "null", "Infinity": "null", "-Infinity": "null", "inf": "null",
	"-inf": "null",
}

// Scalar returns a word as a JSON scalar, or "" if it is not a scalar. own reports whether it is
// spelled as in JSON already. Valid JSON numbers are returned unchanged, also 1.50, 1E+2, and
// numbers beyond 2^53.
func Scalar(word string) (value string, own bool) {
	if v, ok := words[word]; ok {
		return v, v == word
	}
	if schema.IsNumber(word) { // most numbers
		return word, true
	}
	if v, ok := number(word); ok {
		return v, false
	}
	return "", false
}

// Word returns the JSON literal for a word, or "".
func Word(word string) string { return words[word] }

// number repairs the spelling of a number: .25, +7, 8., 0x1F, 1_000 and 007 are valid in Python,
// JavaScript or C. Digits are kept, so no number is rounded; only hexadecimal numbers are
// converted.
func number(s string) (string, bool) {
	rest := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(rest)]
	if sign == "" {
		rest = strings.TrimPrefix(s, "+")
	}
	if rest == "" || rest[0] != '.' && !scan.IsDigit(rest[0]) {
		return "", false
	}
	// 0x1F; not a number beyond 64 bits
	if hex, ok := strings.CutPrefix(strings.ToLower(rest), "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 64)
		return sign + strconv.FormatUint(n, 10), err == nil
	}
	// 1_000, 8. and 007
	s = strings.TrimLeft(strings.TrimSuffix(strings.ReplaceAll(rest, "_", ""), "."), "0")
	// 0 and .25
	if s == "" || !scan.IsDigit(s[0]) {
		s = "0" + s
	}
	return sign + s, schema.IsNumber(s)
}
