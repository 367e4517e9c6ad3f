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

// isDressed reports whether a text has something around it that may not belong to it: quotes, a
// fence, CDATA, or line breaks. It has line breaks around it if it begins with one, if it ends with
// two, or if it is a single line that ends with one. A text of several lines usually ends with one
// line break, as files do, so one at its end does not count.
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
