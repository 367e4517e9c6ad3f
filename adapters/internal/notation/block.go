package notation

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat/schema"
)

// blockMark matches the text between the name of a literal block of YAML and its first line.
var blockMark = regexp.MustCompile(`^["']?[ \t]*:[ \t]*\|(-?)[ \t]*\r?\n`)

// block reads the value of a parameter that is a literal block of YAML: the lines after the name
// that are indented further than the name. It also returns where the value ends. ok is false if
// there is no such block, if its value does not fit the schema, or if the next parameter would be
// inside the block.
func (l *lines) block() (value string, end int, ok bool) {
	pos := l.tokens[l.key.at].to
	m := blockMark.FindStringSubmatch(l.text[pos:l.next])
	left := column(l.text, l.tokens[l.key.at].from)
	if m == nil || !l.of.Allows(schema.String) ||
		l.next < len(l.text) && column(l.text, l.next) > left {
		return "", 0, false
	}
	pos += len(m[0])
	end = pos
	text, blank, indent := "", "", ""
	for line := range strings.Lines(l.text[pos:l.next]) {
		bare := strings.TrimLeft(line, " ")
		pos += len(line)
		if strings.TrimSpace(bare) == "" {
			blank += "\n"
			continue
		}
		if len(line)-len(bare) <= left {
			break
		}
		if text == "" {
			indent = line[:len(line)-len(bare)]
		}
		behind, whole := strings.CutPrefix(line, indent)
		if !whole {
			return "", 0, false
		}
		text += blank + strings.TrimRight(behind, "\r\n") + "\n"
		blank, end = "", pos
	}
	if m[1] != "" {
		text = strings.TrimSuffix(text, "\n")
	}
	value = schema.Quote(text)
	return value, end, strings.TrimSpace(text) != "" && lenient.Fits(value, l.of)
}

// column returns the number of bytes between the beginning of a line and a position in it.
func column(text string, at int) int { return at - 1 - strings.LastIndexByte(text[:at], '\n') }
