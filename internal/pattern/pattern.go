// Package pattern compares names with the patterns of settings.
package pattern

import "strings"

// Find returns the value of the longest pattern that fits the name, and false if none fits. In a
// pattern, * matches any text. The longest pattern is the most specific one, so "qwen3*" wins over
// "*" whatever the order of the settings. Of two patterns of the same length the alphabetically
// first wins, since the order of a map changes from run to run.
func Find(patterns map[string]string, name string) (string, bool) {
	best, value, found := "", "", false
	for p, v := range patterns {
		longer := len(p) > len(best) || len(p) == len(best) && p < best
		if (!found || longer) && Fits(p, name) {
			best, value, found = p, v, true
		}
	}
	return value, found
}

// Fits reports whether the pattern matches the whole name; * matches any text. Its time is at most
// the length of the name times the number of parts between the stars. So no pattern in the settings
// can make it slow, as backtracking could.
func Fits(pattern, name string) bool {
	first, rest, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == name
	}
	name, ok = strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] { // the leftmost match leaves most for the others
		_, after, ok := strings.Cut(name, part)
		if !ok {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}
