// Package clip shortens texts without splitting a character.
//
// Logs, errors and prompts quote what models, servers and clients wrote. A text that is cut within
// a character would end in U+FFFD wherever it becomes JSON.
package clip

import "strings"

// To returns the beginning of text, at most n bytes of it. A character that the cut would split is
// left out, and so are all bytes that are not UTF-8.
func To(text string, n int) string { return strings.ToValidUTF8(text[:min(n, len(text))], "") }

// Runes returns the first n characters of text.
func Runes(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}

// Dots returns text unchanged if it has at most n bytes. Otherwise it returns the result of To,
// followed by "…".
func Dots(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return To(text, n) + "…"
}
