package chunk

// grid is the table that is being read. A cell that takes several rows has its text in each of
// them, since a row has to make sense without those above it.
type grid struct {
	rows [][]string
	// The current cell: how many columns (span) and rows (down) it takes, whether it continues the
	// cell above it (merged), and whether another cell covers it (covered).
	span, down      int
	merged, covered bool

	reach  map[int]reaching // by column: cells of rows above that reach down to the next row
	filled int              // bytes that repeated cells have added; see room
}

// reaching is a table cell that also covers rows below its own.
type reaching struct {
	text string
	rows int
}

// mostSpan is how many columns a cell may take.
const mostSpan = 1000

// mostFilled bounds how many bytes a table may grow by repeating the texts of cells that take
// several rows or columns. Each repeated cell adds one byte to its text. A small file can have
// cells of a thousand rows.
const mostFilled = 1 << 20

// add appends a cell with the given text to the last row. Before the cell come the cells from above
// that also cover this row, and after it empty ones for the other columns that the cell takes. A
// cell that is merged with the one above gets the text of that one instead.
func (g *grid) add(text string) {
	if g.covered && g.fillOne() {
		return
	}
	if !g.covered {
		g.fill()
	}
	last := len(g.rows) - 1
	at := len(g.rows[last])
	if g.merged && last > 0 && at < len(g.rows[last-1]) && g.room(g.rows[last-1][at]) {
		text = g.rows[last-1][at]
	}
	g.rows[last] = append(g.rows[last], text)
	g.reaches(at, text)
	for i := 1; i < min(g.span, mostSpan) && g.room(""); i++ {
		g.rows[last] = append(g.rows[last], "")
		g.reaches(at+i, "")
	}
}

// reaches records that the current cell also covers rows below its own, if it takes several rows.
// These rows get the given text in the column with the index at.
func (g *grid) reaches(at int, text string) {
	if g.down > 1 {
		if g.reach == nil {
			g.reach = map[int]reaching{}
		}
		g.reach[at] = reaching{text, g.down - 1}
	}
}

// fill adds to the last row the cells from above that cover its next columns.
func (g *grid) fill() {
	for g.fillOne() {
	}
}

// fillOne adds to the last row the cell from above that covers its next column. It returns false if
// there is no such cell, or if the table may not grow (see room).
func (g *grid) fillOne() bool {
	row := &g.rows[len(g.rows)-1]
	from, has := g.reach[len(*row)]
	if !has || !g.room(from.text) {
		return false
	}
	if from.rows--; from.rows > 0 {
		g.reach[len(*row)] = from
	} else {
		delete(g.reach, len(*row))
	}
	*row = append(*row, from.text)
	return true
}

// room adds the length of a text, which repeats another cell, to the bytes that the table has
// repeated so far. It returns false if these are more than mostFilled.
func (g *grid) room(text string) bool {
	g.filled += len(text) + 1
	return g.filled <= mostFilled
}
