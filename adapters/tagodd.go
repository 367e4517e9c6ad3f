package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
)

// escapedAgain reports whether line breaks or quotes in a string are escaped twice, and there are
// no other escapes and no line breaks in it.
func escapedAgain(text string) bool {
	rest := strings.NewReplacer(`\n`, "", `\"`, "").Replace(text)
	return len(rest) < len(text) && !strings.ContainsAny(rest, "\\\n")
}

// wraps lists the pairs of quotes and marks that models put around a text.
var wraps = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"«", "»"}, {"‘", "’"},
	{"「", "」"}, {declaration.CDATAOpen, declaration.CDATAClose}}

// isDressed reports whether a text is wrapped in quotes, a fence or CDATA, or is on lines of its
// own. A single line break at the end counts only after one line, because a text of several lines
// usually ends with one, as files do.
func isDressed(text string) bool {
	for _, w := range wraps {
		if rest, ok := strings.CutPrefix(text, w[0]); ok && strings.HasSuffix(rest, w[1]) {
			return true
		}
	}
	text = strings.TrimRight(text, " ")
	if strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		return true
	}
	line, ends := strings.CutSuffix(text, "\n")
	return ends && !strings.Contains(line, "\n")
}
