package chunk

// grid is the table that is being read. A cell that takes several rows has its text in each of
// them, since a row has to make sense without those above it.
type grid struct {
	rows [][]string
	// What the current cell takes, whether it only continues the one above it, and whether it is
	// below another one, whose rows and columns say which.
	span, down      int
	merged, covered bool

	reach  map[int]reaching // cells of rows above that take rows below, by column
	filled int              // bytes that cells of several rows or columns have added
}

// reaching is a cell that takes more rows.
type reaching struct {
	text string
	rows int
}

// mostSpan is how many columns a cell may take.
const mostSpan = 1000

// mostFilled bounds what cells of several rows or columns may add to a table in bytes, of which
// each cell counts as one. A small file can have cells of a thousand rows.
const mostFilled = 1 << 20

// add adds a cell to the last row, behind those that reach down to it, followed by empty cells for
// the other columns that it takes.
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

// reaches records that the current cell takes rows below in the column at.
func (g *grid) reaches(at int, text string) {
	if g.down > 1 {
		if g.reach == nil {
			g.reach = map[int]reaching{}
		}
		g.reach[at] = reaching{text, g.down - 1}
	}
}

// fill adds the cells that reach down to the next columns of the last row.
func (g *grid) fill() {
	for g.fillOne() {
	}
}

// fillOne adds the cell that reaches down to the next column of the last row. It returns false if
// there is none.
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

// room reports whether a cell with the given text may be added to a table for another one, and
// counts it.
func (g *grid) room(text string) bool {
	g.filled += len(text) + 1
	return g.filled <= mostFilled
}
