// Package csvrows reads rows of separated values as people and programs write them. A quotation
// mark begins a quoted cell only if another one ends it, so a size such as 6" does not swallow the
// rows below it.
package csvrows

import (
	"regexp"
	"strings"
)

// longestCell is the largest distance, in bytes, at which the closing quotation mark of a cell is
// searched. Excel's longest cell has 32,767 characters.
const longestCell = 1 << 17

// escapedQuote matches a quotation mark after a backslash that does not end a cell. A text with
// such a mark was written by a program that escapes marks in cells with backslashes instead of
// doubling them.
var escapedQuote = regexp.MustCompile(`\\"[^\s,;|"]`)

// Read returns the rows of a text without the empty ones. It finds out which character separates
// the values: a comma, a semicolon, a tab or a bar. A first line such as "sep=;", as in Excel, sets
// the separator. Lines must end in a newline without a carriage return.
func Read(text string) [][]string {
	comma := separator(text)
	if said, rest, found := strings.Cut(text, "\n"); found && strings.HasPrefix(said, "sep=") &&
		len(said) == 5 {
		comma, text = said[4], rest
	}
	return Of(text, comma, len(text))
}

// separator returns the character that most likely separates the values of a text: a tab, a comma,
// a semicolon or a bar. For each of them it counts the rows of equal length among the first 50
// rows, and the one with the most wins. With equal counts the tab wins, because texts rarely
// contain tabs, and otherwise the one with the longest rows. If nothing separates values, it
// returns a comma.
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

// Of returns the first rows of a text without the empty ones. The parameter most is the maximum
// number of rows, and comma is the character that separates the values of a row.
func Of(text string, comma byte, most int) (all [][]string) {
	c := cells{text: text, comma: comma, backslash: escapedQuote.MatchString(text)}
	for c.at < len(text) && len(all) < most {
		if row := c.row(); len(row) > 1 || row[0] != "" {
			all = append(all, row)
		}
	}
	return all
}

// cells reads the cells of a text one by one. Its field at is the byte offset of the next cell.
type cells struct {
	text      string
	comma     byte
	backslash bool // quotation marks in cells are escaped with a backslash, not doubled
	at        int
}

// row reads a row and returns its cells, of which there is at least one.
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

// cell reads a cell and moves to the separator or line end after it. A cell in quotation marks may
// contain separators and line ends. A mark that is not closed is an ordinary character, and so is
// one whose closing mark is followed by text.
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

// quoted reads a cell from after its opening quotation mark. It returns the text and the offset at
// which the cell ends, or 0 if the mark opens no quoted cell. If a mark inside the cell is not
// doubled, the cell must end on the same line.
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

// ends returns the offset at which a cell ends if its closing quotation mark is just before i.
// Blanks may follow the mark, and then a separator, a line end or the end of the text. If anything
// else follows, ends returns 0.
func (c *cells) ends(i int) int {
	for i < len(c.text) && c.text[i] == ' ' {
		i++
	}
	if i == len(c.text) || c.text[i] == c.comma || c.text[i] == '\n' {
		return i
	}
	return 0
}
