package chunk

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// flow reads the text of a document that is XML: paragraphs, in them text, and tables of rows of
// cells. All office programs write these, by names of their own, which roles has.
type flow struct {
	Text
	outline
	*elements
	roles map[string]role
	loose bool // text is directly in paragraphs, and not in elements of its own
	// returns the number of a paragraph in a list; nil: there are no numbers
	number func(*para) string

	para    *para
	table   *grid
	cell    *strings.Builder // that is being read; nil: no table is
	kind    string           // of the shape on a slide; see slides.go
	caption string           // of the slide
	// level of the last heading, if nothing is below it yet; 0: there is none
	lone int
	size int
}

// role is what an element does. It reads what is in the element, or leaves that out.
type role func(*flow, xml.StartElement)

// para is a paragraph that is being read.
type para struct {
	text   strings.Builder
	level  int      // of the heading; 0: it is not a heading
	title  bool     // it is the document's title
	behind []string // texts that belong to it: boxes, notes
	list   string   // whose number it has; empty: none
	depth  int      // the level of the list
}

// grid is a table that is being read.
type grid struct {
	rows [][]string
	span int // columns of the cell
}

// longestHeading is how wide a heading may be; what is wider is a paragraph in large letters.
const longestHeading = 240

// run reads a part.
func (f *flow) run(x *elements) {
	f.elements = x
	f.inside(f.node, nil)
	f.para, f.cell, f.table = nil, nil, nil
	f.restart()
	if problem := x.broken(); problem != nil {
		f.tell(problem.Error())
	}
}

// node reads an element.
func (f *flow) node(e xml.StartElement) {
	if do := f.roles[e.Name.Local]; do != nil {
		do(f, e)
		return
	}
	f.deeper()
}

// deeper reads what is in an element.
func (f *flow) deeper() {
	if f.loose {
		f.inside(f.node, func(s string) { f.write(blanks.ReplaceAllString(s, " ")) })
		return
	}
	f.inside(f.node, nil)
}

// blanks matches white space that counts as one blank, since line ends in XML are only for its
// readers.
var blanks = regexp.MustCompile(`[ \t\r\n]+`)

// write adds text to the paragraph.
func (f *flow) write(text string) {
	if f.para == nil {
		return
	}
	if f.size += len(text); f.size > mostText {
		f.err = errTooMuch
		return
	}
	if f.loose && text != "" && text[0] == ' ' && strings.HasSuffix(f.para.text.String(), " ") {
		text = strings.TrimLeft(text, " ")
	}
	f.para.text.WriteString(text)
}

// The roles that elements have in most formats.

// skipped leaves an element out.
func skipped(*flow, xml.StartElement) {}

// textRole reads an element whose content is text.
func textRole(f *flow, _ xml.StartElement) { f.inside(f.node, f.write) }

// writes returns a role that stands for a text.
func writes(text string) role { return func(f *flow, _ xml.StartElement) { f.write(text) } }

// paragraph reads a paragraph. A paragraph inside it, as in a box or a note, is put after it.
func paragraph(f *flow, _ xml.StartElement) { f.paragraph(0) }

// paragraph reads a paragraph that is a heading of a level, or none.
func (f *flow) paragraph(level int) {
	outer := f.para
	p := &para{level: level}
	f.para = p
	f.deeper()
	f.para = outer
	if text := strings.TrimSpace(p.text.String()); text != "" {
		if f.number != nil && p.list != "" {
			text = strings.TrimSpace(f.number(p) + " " + text)
		}
		f.put(text, p)
	}
	for _, text := range p.behind {
		f.put(text, &para{})
	}
}

// put adds the text of a paragraph, or of a table, where it belongs.
func (f *flow) put(text string, p *para) {
	switch {
	case f.para != nil:
		f.para.behind = append(f.para.behind, text)
	case f.cell != nil:
		if f.cell.Len() > 0 {
			f.cell.WriteByte('\n')
		}
		f.cell.WriteString(text)
	case f.kind == kindFrame:
	case f.kind == kindTitle:
		f.caption = strings.TrimSpace(f.caption + " " + text)
	case p.title && f.Title == "":
		f.Title = text
	case p.title:
		f.heading(1, text)
	case p.level > 0 && columns(text) <= longestHeading:
		f.heading(p.level, text)
	default:
		f.lone = 0
		f.Blocks = append(f.Blocks, Block{f.path(), text})
	}
}

// heading reads a heading. A heading with nothing below it becomes a text of its own, as otherwise
// no passage would contain it.
func (f *flow) heading(level int, text string) {
	if last := len(f.titles) - 1; f.lone > 0 && level <= f.lone && last >= 0 {
		f.Blocks = append(f.Blocks, Block{f.path(), f.titles[last]})
	}
	f.enter(level, text)
	f.lone = level
}

// restart leaves all headings: a sheet, a slide or the end follows.
func (f *flow) restart() {
	f.heading(0, "")
	f.outline = outline{}
}

// tableRole reads a table.
func tableRole(f *flow, _ xml.StartElement) {
	if text := f.grid().text(); text != "" {
		f.put(text, &para{})
	}
}

// grid reads the cells of a table.
func (f *flow) grid() *grid {
	outer := *f
	f.table, f.cell, f.para = &grid{}, nil, nil
	f.deeper()
	g := f.table
	f.table, f.cell, f.para = outer.table, outer.cell, outer.para
	return g
}

// rowRole reads a row of a table.
func rowRole(f *flow, _ xml.StartElement) {
	if f.table != nil {
		f.table.rows = append(f.table.rows, nil)
	}
	f.deeper()
}

// cellRole reads a cell of a table.
func cellRole(f *flow, e xml.StartElement) {
	if f.table == nil || len(f.table.rows) == 0 {
		f.deeper()
		return
	}
	g, outer, around := f.table, f.cell, f.para
	g.span = number0(attribute(e, "gridSpan"))
	f.cell, f.para = &strings.Builder{}, nil
	f.deeper()
	g.add(f.cell.String(), g.span)
	f.cell, f.para = outer, around
}

// mostSpan is how many columns one cell may take.
const mostSpan = 1000

// add adds a cell to the last row.
func (g *grid) add(text string, span int) {
	row := &g.rows[len(g.rows)-1]
	*row = append(*row, text)
	for range min(span, mostSpan) - 1 {
		*row = append(*row, "")
	}
}

// number0 parses a number, and returns 0 for a text that is not a number.
func number0(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// note returns the text of a note with the sign by which its paragraph refers to it.
func note(sign, text string) string { return fmt.Sprintf("[%s] %s", sign, text) }
