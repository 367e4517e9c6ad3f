// Package clip cuts texts that may be long, between two characters.
//
// Logs, errors and prompts quote what models, servers and clients wrote. A text that is cut within
// a character ends in U+FFFD wherever it becomes JSON.
package clip

import "strings"

// To returns the beginning of text, at most n bytes of it. Bytes that are not UTF-8 are left out.
func To(text string, n int) string { return strings.ToValidUTF8(text[:min(n, len(text))], "") }

// Dots returns text as it is if it has at most n bytes, and otherwise its beginning and "…".
func Dots(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return To(text, n) + "…"
}
