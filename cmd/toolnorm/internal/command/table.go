package command

import (
	"cmp"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gap is what stands between two columns of a table, and leastColumn how narrow a column may get.
const (
	gap         = "  "
	leastColumn = 12
)

// table writes rows in columns. Where width is not 0 no line is wider: the widest columns give way,
// and a cell that is cut ends in "…".
func table(w io.Writer, width int, rows [][]string) error {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	total := len(gap) * (len(wide) - 1)
	for _, n := range wide {
		total += n
	}
	for width > 0 && total > width {
		most := 0
		for i, n := range wide {
			if n > wide[most] {
				most = i
			}
		}
		if wide[most] <= leastColumn {
			break
		}
		wide[most]--
		total--
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if n := utf8.RuneCountInString(cell); n > wide[i] {
				cell = string([]rune(cell)[:wide[i]-1]) + "…"
			}
			line += cell + strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell)) + gap
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// defaultWidth is that of a terminal that does not tell its own.
const defaultWidth = 80

// Width is how many characters a line of the output has: 0, without a limit, where it is no
// terminal.
func (m *Console) Width() int {
	if !isTerminal(m.Out) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := m.Out.(*os.File); ok {
		return cmp.Or(widthOf(f), defaultWidth)
	}
	return defaultWidth
}
