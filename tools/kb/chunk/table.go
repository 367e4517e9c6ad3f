package chunk

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// text returns a table as text, with one line for each row. If the table is longer than a passage,
// each value follows the name of its column, since the first row would be in another passage.
func (g *grid) text() string {
	var lines []string
	for _, row := range g.rows {
		lines = append(lines, between(row))
	}
	text := strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
	if tooWide(text) {
		return strings.Join(sheetLines(g.rows), "\n")
	}
	return text
}

// between returns the cells of a row, separated by bars. Empty cells at the end are left out.
func between(row []string) string {
	cells := make([]string, len(row))
	for i, text := range row {
		cells[i] = oneLine(text)
	}
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	return strings.TrimSpace(strings.Join(cells, " | "))
}

// oneLine returns a text in one line, with runs of blanks replaced by one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// addSheet adds the rows of a sheet as a block, with each value after the name of its column. If
// there is too much text, reading ends with errTooMuch.
func (f *flow) addSheet(rows [][]string) {
	text := strings.Join(sheetLines(rows), "\n")
	if f.size += len(text); f.size > mostText {
		f.err = errTooMuch
		return
	}
	f.Blocks = append(f.Blocks, Block{f.path(), text})
}

// sheetLines returns a line for each row: "name: value; name: value" below a row of names,
// otherwise the values separated by bars. A cell that is alone in its row, such as a title above a
// table, is a line of its own. The lines end after mostText bytes, because long names with few
// values could be any multiple of the file.
func sheetLines(rows [][]string) (lines []string) {
	var names []string
	first, last := -1, -1 // the columns of the table
	for size, i := 0, 0; i < len(rows) && size <= mostText; i++ {
		row := rows[i]
		from, to := extent(row)
		switch {
		case from < 0:
			continue
		case from == to && (names == nil || from < first || from > last):
			lines = append(lines, oneLine(row[from]))
		case (names == nil || from > last || to < first || from < first && to > last) &&
			namesColumns(row[from:to+1]) && more(rows[i+1:]):
			names, first, last = row, from, to
			lines = append(lines, between(row[from:to+1]))
		case names == nil:
			lines = append(lines, between(row))
		default:
			lines = append(lines, named(names, row))
		}
		size += len(lines[len(lines)-1])
	}
	return lines
}

// extent returns the first and the last column of a row that are not empty. The result first is -1
// if all columns are empty.
func extent(row []string) (first, last int) {
	first = -1
	for i, text := range row {
		if strings.TrimSpace(text) != "" {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return first, last
}

// more reports whether any of the rows is not empty.
func more(rows [][]string) bool {
	return slices.ContainsFunc(rows, func(row []string) bool {
		first, _ := extent(row)
		return first >= 0
	})
}

// namesColumns reports whether cells are likely the names of columns: different short words, or
// years, with at least one word.
func namesColumns(cells []string) bool {
	seen, words := map[string]bool{}, 0
	for _, text := range cells {
		text = oneLine(text)
		n, err := strconv.Atoi(text)
		year := err == nil && n >= 1900 && n <= 2100
		switch {
		case text == "":
			continue
		case seen[text] || columns(text) > 80:
			return false
		case strings.ContainsFunc(text, unicode.IsLetter):
			words++
		case !year && strings.ContainsFunc(text, unicode.IsDigit):
			return false
		}
		seen[text] = true
	}
	return words > 0 && len(seen) >= 2
}

// named returns the values of a row, each after the name of its column.
func named(names, row []string) string {
	var parts []string
	for i, text := range row {
		if text = oneLine(text); text == "" {
			continue
		}
		if i < len(names) && strings.TrimSpace(names[i]) != "" {
			text = strings.TrimRight(oneLine(names[i]), ":：") + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
