package chunk

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// flow reads the text of an XML document. All office programs write paragraphs with text in them,
// and tables of rows of cells, but with different element names. The map roles has a function for
// each name that matters.
type flow struct {
	headed
	*elements
	roles map[string]role
	loose bool // text is directly in paragraphs, and not in elements of its own
	// returns the number of a paragraph in a list; nil: paragraphs have no numbers
	number func(*para) string

	para    *para
	table   *grid
	cell    *strings.Builder // the cell that is being read; nil: no cell is
	kind    string           // kind of the current shape on a slide; see slides.go
	caption string           // title of the current slide
	size    int
}

// role is a function that handles an element. It reads the content of the element, or leaves it
// out.
type role func(*flow, xml.StartElement)

// para is the paragraph that is being read.
type para struct {
	marks
	text   strings.Builder
	level  int      // level of a heading; 0: it is not a heading
	title  bool     // it is the document's title
	behind []string // texts to put after it, such as boxes and notes
	list   string   // the list that numbers it; empty: none
	depth  int      // the level of the list
}

// run reads the elements of one part of a file. If they are damaged, this is added to the text's
// problems.
func (f *flow) run(x *elements) {
	f.elements = x
	f.inside(f.node, nil)
	f.para, f.cell, f.table = nil, nil, nil
	f.restart()
	if problem := x.broken(); problem != nil {
		f.tell(problem.Error())
	}
}

// node handles an element. It calls the function that f.roles has for the element's name, or reads
// the content if there is none.
func (f *flow) node(e xml.StartElement) {
	if do := f.roles[e.Name.Local]; do != nil {
		do(f, e)
		return
	}
	f.deeper()
}

// deeper reads the content of the current element: the elements in it, each by its function in
// f.roles (see node), and the text between them if f.loose is true.
func (f *flow) deeper() {
	if f.loose {
		f.inside(f.node, func(s string) { f.write(blanks.ReplaceAllString(s, " ")) })
		return
	}
	f.inside(f.node, nil)
}

// blanks matches white space that counts as one blank, since line ends in XML do not mean anything.
var blanks = regexp.MustCompile(`[ \t\r\n]+`)

// write adds text to the current paragraph, if there is one. If there is too much text, reading
// ends with errTooMuch.
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
	f.para.text.WriteString(f.para.close())
	if text != "" {
		f.para.text.WriteString(f.para.begin(f.para.text.String(), text))
	}
	f.para.text.WriteString(text)
}

// within calls the function read, which reads a part of a paragraph. The parameter struck says
// whether the part is struck through. The parameter sign is "^" for raised text, "_" for lowered
// text, and empty for other text.
func (f *flow) within(struck bool, sign string, read func()) {
	if f.para == nil {
		read()
		return
	}
	f.para.within(struck, sign, read)
}

// The roles that elements have in most formats.

// skipped handles an element whose content is left out, so it does nothing.
func skipped(*flow, xml.StartElement) {}

// textRole reads an element whose content is text, and adds the text.
func textRole(f *flow, _ xml.StartElement) { f.inside(f.node, f.write) }

// writes returns a function for an element that stands for the given text; it writes the text.
func writes(text string) role { return func(f *flow, _ xml.StartElement) { f.write(text) } }

// paragraph reads the current element as a paragraph that is no heading, and adds its text to the
// document. The text of a paragraph inside it, as in a box or a note, is added after it.
func paragraph(f *flow, _ xml.StartElement) { f.paragraph(0) }

// paragraph reads the current element as a paragraph. It is a heading of the given level, or no
// heading if that is 0.
func (f *flow) paragraph(level int) {
	outer := f.para
	p := &para{level: level}
	f.para = p
	f.deeper()
	f.para = outer
	p.text.WriteString(p.end())
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

// put adds the text of a paragraph or a table where it belongs: to a surrounding paragraph, a table
// cell, a slide's title or the blocks of the text. It drops text that every slide repeats.
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
	case p.title && f.Title == "" && !isLong(text):
		f.Title = text
	case p.title:
		f.heading(1, text)
	case p.level > 0:
		f.heading(p.level, text)
	default:
		f.add(text)
	}
}

// tableRole reads a table, and adds it as one text.
func tableRole(f *flow, _ xml.StartElement) {
	if text := f.grid().text(); text != "" {
		f.put(text, &para{})
	}
}

// grid reads the current element, a table, and returns its cells.
func (f *flow) grid() *grid {
	outer := *f
	f.table, f.cell, f.para = &grid{}, nil, nil
	f.deeper()
	g := f.table
	f.table, f.cell, f.para = outer.table, outer.cell, outer.para
	return g
}

// rowRole reads a row of a table. Outside of a table it only reads the content.
func rowRole(f *flow, _ xml.StartElement) {
	if f.table == nil {
		f.deeper()
		return
	}
	g := f.table
	g.rows = append(g.rows, nil)
	f.deeper()
	g.fill()
}

// cellRole reads a cell of a table and adds it to the row. Outside of a row it only reads the
// content.
func cellRole(f *flow, e xml.StartElement) {
	if f.table == nil || len(f.table.rows) == 0 {
		f.deeper()
		return
	}
	g, outer, around := f.table, f.cell, f.para
	// PowerPoint and LibreOffice also write the cells that another cell covers
	g.span, g.down = 0, number0(attribute(e, "number-rows-spanned"))
	g.merged = attribute(e, "vMerge") == "1" || attribute(e, "vMerge") == "true"
	g.covered = e.Name.Local == "covered-table-cell"
	f.cell, f.para = &strings.Builder{}, nil
	f.deeper()
	g.add(f.cell.String())
	f.cell, f.para = outer, around
}

// number0 parses a number, and returns 0 for text that is not a number.
func number0(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// note returns the text of a footnote with the sign that refers to it in front, such as "[1] text".
func note(sign, text string) string { return fmt.Sprintf("[%s] %s", sign, text) }
