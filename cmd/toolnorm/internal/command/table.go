package command

import (
	"cmp"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/text/width"
)

// gap is the text between two columns of a table. leastColumn is the least width to which a column
// is narrowed.
const (
	gap         = "  "
	leastColumn = 12
)

// table writes rows in columns. The parameter most is the maximum width of a line, or 0 for no
// limit. The widest columns are narrowed, but never below leastColumn, even if a line then stays
// too wide. A cell that is cut ends in "…". table returns an error if w cannot be written to.
func table(w io.Writer, most int, rows [][]string) error {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], columns(cell))
		}
	}
	total := len(gap) * (len(wide) - 1)
	for _, n := range wide {
		total += n
	}
	for most > 0 && total > most {
		widest := 0
		for i, n := range wide {
			if n > wide[widest] {
				widest = i
			}
		}
		if wide[widest] <= leastColumn {
			break
		}
		wide[widest]--
		total--
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			cell = cut(cell, wide[i])
			line += cell + strings.Repeat(" ", wide[i]-columns(cell)) + gap
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// defaultWidth is the width of a terminal that does not report its own.
const defaultWidth = 80

// Width returns the width of the terminal of Out in characters, or 0 for "no limit" if Out is not a
// terminal.
func (m *Console) Width() int { return widthOf(m.Out) }

// widthOf returns how many characters a line of a stream may have, or 0 for "no limit" if the
// stream is not a terminal.
func widthOf(stream any) int {
	if !isTerminal(stream) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := stream.(*os.File); ok {
		return cmp.Or(terminalWidth(f), defaultWidth)
	}
	return defaultWidth
}

// columns returns how many columns of a terminal a text takes. Each Chinese, Japanese or Korean
// letter, and any other wide character, takes two.
func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf returns how many columns a character takes.
func columnsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut returns the text s, shortened to a maximum number of columns, the parameter most. A text that
// was shortened ends in "…".
func cut(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	left := most - 1
	for i, r := range s {
		if left -= columnsOf(r); left < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
