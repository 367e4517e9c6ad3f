package chunk

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// inCells contains the elements whose structure would be lost in a cell of one line.
var inCells = map[atom.Atom]bool{
	atom.Table: true, atom.Ul: true, atom.Ol: true, atom.Dl: true, atom.Pre: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true,
}

// table reads a table of values as a block that begins with its caption. It returns false, and
// reads nothing, if the table may only arrange the page: no row has several cells, or a cell has
// more than a line of text.
func (p *page) table(n *html.Node) bool {
	g, caption := new(grid), ""
	several := func(row []string) bool { return len(row) > 1 }
	if !g.read(n, &caption) || !slices.ContainsFunc(g.rows, several) {
		return false
	}
	p.flush()
	p.text.WriteString(caption)
	p.line("")
	p.text.WriteString(g.text())
	p.flush()
	return true
}

// read adds the rows below an element of a table to g, and stores the table's caption. It returns
// false if a cell has more than a line of text.
func (g *grid) read(n *html.Node, caption *string) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tr:
			g.rows = append(g.rows, nil)
			if !g.read(c, caption) {
				return false
			}
			g.fill()
		case atom.Thead, atom.Tbody, atom.Tfoot:
			if !g.read(c, caption) {
				return false
			}
		case atom.Caption:
			*caption, _ = cellText(c)
		case atom.Td, atom.Th:
			text, line := cellText(c)
			if !line {
				return false
			}
			g.span, g.down = number0(valueOf(c, "colspan")), number0(valueOf(c, "rowspan"))
			g.add(text)
		}
	}
	return true
}

// cellText returns the text of a cell in one line. The result line is false if the cell has several
// paragraphs or a list, or is longer than a passage.
func cellText(n *html.Node) (text string, line bool) {
	paragraphs := 0
	for inner := range n.Descendants() {
		if inner.DataAtom == atom.P {
			paragraphs++
		}
		if paragraphs > 1 || inCells[inner.DataAtom] {
			return "", false
		}
	}
	cell := new(page)
	cell.children(n)
	cell.end()
	text = oneLine(cell.text.String())
	return text, columns(text) <= mostColumns
}

// valueOf returns the value of an attribute, or "" if there is none.
func valueOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
