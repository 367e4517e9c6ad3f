// Package csvrows reads rows of separated values as people and programs write them: a quote is one
// only if something ends it, so that the size 6" does not take in the rows below it.
package csvrows

import (
	"regexp"
	"strings"
)

// longestCell bounds how far the quote that ends a cell is looked for, in bytes. Excel's longest
// cell has 32,767 characters.
const longestCell = 1 << 17

// escapedQuote matches a quote behind a backslash that does not end a cell. Where a text has one,
// its program writes quotes in cells so, and does not double them.
var escapedQuote = regexp.MustCompile(`\\"[^\s,;|"]`)

// Read returns the rows of a text, without the empty ones. The values of a row may be separated by
// commas, semicolons, tabs or bars. A first line such as "sep=;" names the separator, for Excel.
func Read(text string) [][]string {
	comma := separator(text)
	if said, rest, found := strings.Cut(text, "\n"); found && strings.HasPrefix(said, "sep=") &&
		len(said) == 5 {
		comma, text = said[4], rest
	}
	return Of(text, comma, len(text))
}

// separator returns the character that separates the values of a text. It tries all separators and
// takes the one that results in the most rows of equal length among the first rows. Of several the
// tab counts, which texts rarely have, and then the one with the most values.
func separator(text string) byte {
	best, most := byte(','), 0
	for _, comma := range []byte("\t,;|") {
		counts := map[int]int{}
		for _, row := range Of(text[:min(len(text), 1<<16)], comma, 50) {
			if len(row) > 1 {
				counts[len(row)]++
			}
		}
		for fields, rows := range counts {
			if comma == '\t' {
				fields = 99
			}
			if worth := rows*100 + min(fields, 99); worth > most {
				best, most = comma, worth
			}
		}
	}
	return best
}

// Of returns the first rows of a text, at most as many as given, without the empty ones. The values
// of a row are separated by comma.
func Of(text string, comma byte, most int) (all [][]string) {
	c := cells{text: text, comma: comma, backslash: escapedQuote.MatchString(text)}
	for c.at < len(text) && len(all) < most {
		if row := c.row(); len(row) > 1 || row[0] != "" {
			all = append(all, row)
		}
	}
	return all
}

// cells reads the cells of a text from at on.
type cells struct {
	text      string
	comma     byte
	backslash bool // a backslash is in front of each quote in a cell
	at        int
}

// row reads a row and returns its cells, at least one.
func (c *cells) row() (row []string) {
	for {
		row = append(row, c.cell())
		if c.at >= len(c.text) {
			return row
		}
		if c.at++; c.text[c.at-1] == '\n' {
			return row
		}
	}
}

// cell reads a cell up to the separator or the line end behind it. A cell in quotes may have both.
// A quote that nothing ends, or that more text than a blank follows, is a character like others, so
// that the size 6" does not take in the rows below it.
func (c *cells) cell() string {
	rest := strings.TrimLeft(c.text[c.at:], " ")
	start := len(c.text) - len(rest)
	if strings.HasPrefix(rest, `"`) {
		if quoted, end := c.quoted(start + 1); end > 0 {
			c.at = end
			return quoted
		}
	}
	end := strings.IndexAny(rest, string(c.comma)+"\n")
	if end < 0 {
		end = len(rest)
	}
	c.at = start + end
	return rest[:end]
}

// quoted reads the text of a cell behind its first quote. It returns the text and where the cell
// ends, or 0 if it is not one in quotes. Behind a quote in it that is not doubled, the cell has to
// end in the same line.
func (c *cells) quoted(from int) (text string, end int) {
	var b strings.Builder
	most, odd, lines := min(len(c.text), from+longestCell), false, false
	for i := from; i < most; i++ {
		next := c.text[i+1:]
		switch now := c.text[i]; {
		case now == '\\' && c.backslash && next != "" && (next[0] == '"' || next[0] == '\\'):
			i++
			b.WriteByte(next[0])
		case now == '\n' && odd:
			return "", 0
		case now != '"':
			lines = lines || now == '\n'
			b.WriteByte(now)
		case c.ends(i+1) > 0:
			return b.String(), c.ends(i + 1)
		case strings.HasPrefix(next, `"`):
			i++
			b.WriteByte('"')
		case lines:
			return "", 0
		default:
			odd = true
			b.WriteByte('"')
		}
	}
	return "", 0
}

// ends returns where a cell ends behind the quote before i: at a separator, a line end or the end
// of the text, maybe behind blanks. It returns 0 if it does not end there.
func (c *cells) ends(i int) int {
	for i < len(c.text) && c.text[i] == ' ' {
		i++
	}
	if i == len(c.text) || c.text[i] == c.comma || c.text[i] == '\n' {
		return i
	}
	return 0
}
