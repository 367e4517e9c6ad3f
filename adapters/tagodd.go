package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
)

// escapedAgain reports whether the line breaks or quotes of a string are escaped once more, and
// nothing else is.
func escapedAgain(text string) bool {
	rest := strings.NewReplacer(`\n`, "", `\"`, "").Replace(text)
	return len(rest) < len(text) && !strings.ContainsAny(rest, "\\\n")
}

// wraps are what models put around a text.
var wraps = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"«", "»"}, {"‘", "’"},
	{"「", "」"}, {declaration.CDATAOpen, declaration.CDATAClose}}

// isDressed reports whether a text is in quotes, in a fence or in CDATA, or on lines of its own. A
// text of several lines mostly ends with a line break, as files do.
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
