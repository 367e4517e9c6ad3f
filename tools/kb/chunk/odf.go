package chunk

import (
	"encoding/xml"
	"maps"
	"strings"
)

// odfRoles maps the elements of OpenDocument to the functions that handle them. Annotations,
// tracked changes, phonetic readings above a word and formatting are left out.
var odfRoles = map[string]role{
	"p": paragraph, "h": func(f *flow, e xml.StartElement) {
		f.paragraph(max(1, number0(attribute(e, "outline-level"))))
	},
	"tab": writes("\t"), "line-break": writes("\n"), "s": odfBlanks, "table": tableRole,
	"table-row": odfRow, "table-cell": odfCell, "covered-table-cell": odfCell,
	"tracked-changes": skipped, "annotation": skipped, "ruby-text": skipped,
	"note-citation": skipped, "forms": skipped,
	"page": odfPage, "frame": odfFrame, "master-styles": skipped, "desc": skipped,
	"date-time-decl": skipped, "footer-decl": skipped, "header-decl": skipped,
	"settings": skipped, "event-listeners": skipped, "page-thumbnail": skipped, "shapes": odfFree,
	"index-title-template": skipped, "table-of-content-source": skipped,
	"hidden-paragraph": skipped, "label-ranges": skipped,
}

// odfBlanks adds the blanks that an element with a number of blanks stands for, but at most eight.
func odfBlanks(f *flow, e xml.StartElement) {
	if f.para != nil {
		f.para.text.WriteString(strings.Repeat(" ", min(8, max(1, number0(attribute(e, "c"))))))
	}
}

// odfFree reads the shapes on a sheet, whose texts belong to no cell.
func odfFree(f *flow, _ xml.StartElement) {
	outer := *f
	f.table, f.cell, f.para = nil, nil, nil
	f.deeper()
	f.table, f.cell, f.para = outer.table, outer.cell, outer.para
}

// mostRepeated is how often a row or a cell that the file has once may be repeated. Sheets end with
// a million repeated empty rows; other rows are rarely repeated so often.
const mostRepeated = 1000

// odfRow reads a row of a table, and repeats it as often as the file says, unless it is empty.
func odfRow(f *flow, e xml.StartElement) {
	rowRole(f, e)
	if f.table == nil || len(f.table.rows) == 0 {
		return
	}
	row := f.table.rows[len(f.table.rows)-1]
	for range min(mostRepeated, number0(attribute(e, "number-rows-repeated"))) - 1 {
		if strings.Join(row, "") == "" {
			break
		}
		for _, text := range row {
			f.size += len(text)
		}
		f.table.rows = append(f.table.rows, row)
	}
}

// odfCell reads a cell of a table, and repeats it in the row as often as the file says.
func odfCell(f *flow, e xml.StartElement) {
	cellRole(f, e)
	if f.table == nil || len(f.table.rows) == 0 {
		return
	}
	row := &f.table.rows[len(f.table.rows)-1]
	if len(*row) == 0 {
		return
	}
	text := (*row)[len(*row)-1]
	if f.table.covered { // only the first has the text of the cell above
		text = ""
	}
	for range min(mostRepeated, number0(attribute(e, "number-columns-repeated"))) - 1 {
		f.size += len(text)
		*row = append(*row, text)
	}
	if f.size > mostText {
		f.err = errTooMuch
	}
}

// odfPage reads a slide, and makes its title the heading of its blocks.
func odfPage(f *flow, _ xml.StartElement) {
	f.begin()
	from := len(f.Blocks)
	f.deeper()
	f.finish(from)
}

// odfFrame reads a box. On a slide, the box's class says what it contains: the text of a title
// becomes the slide's title, and page numbers and the like are left out.
func odfFrame(f *flow, e xml.StartElement) {
	outer := f.kind
	switch attribute(e, "class") {
	case "title":
		f.kind = kindTitle
	case "date-time", "footer", "header", "page-number", "page":
		return
	}
	f.deeper()
	f.kind = outer
}

// odfObjects returns a function that reads an object embedded in a document, such as a chart.
// Objects that are embedded in another object are left out.
func odfObjects(a *archive) role {
	n, within := 0, false
	return func(f *flow, e xml.StartElement) {
		inner := a.elementsOf(attribute(e, "href") + "/content.xml")
		if inner.err != nil || within || n >= mostSharedParts {
			return
		}
		outer := f.elements
		n++
		within, f.elements = true, inner
		f.inside(f.node, nil)
		within, f.elements = false, outer
	}
}

// spanStyle is what a style says about a part of a paragraph.
type spanStyle struct {
	hidden, struck bool
	sign           string // raised, lowered or empty
}

// spanStyleOf returns what an element with the properties of text says in the definition of a
// style.
func spanStyleOf(e xml.StartElement) spanStyle {
	through := attribute(e, "text-line-through-style")
	s := spanStyle{hidden: attribute(e, "display") == "none",
		struck: through != "" && through != "none"}
	position, _, _ := strings.Cut(attribute(e, "text-position"), " ") // of "super 58%", "33% 58%"
	n := number0(strings.TrimSuffix(position, "%"))
	switch {
	case position == "super" || n > 0:
		s.sign = raised
	case position == "sub" || n < 0:
		s.sign = lowered
	}
	return s
}

// readODF reads a text (.odt), a spreadsheet (.ods) or a presentation (.odp) in OpenDocument, the
// format of LibreOffice. It returns an error if the file cannot be opened or has too much text.
func readODF(data []byte) (Text, error) {
	a, err := openArchive(data)
	if err != nil {
		return Text{}, err
	}
	f := &flow{roles: maps.Clone(odfRoles), loose: true}
	hidden, n, style := map[string]bool{}, 0, ""
	f.roles["style"] = func(f *flow, e xml.StartElement) {
		style = attribute(e, "name")
		f.deeper()
	}
	styles := map[string]spanStyle{}
	f.roles["text-properties"] = func(_ *flow, e xml.StartElement) {
		styles[style] = spanStyleOf(e)
	}
	f.roles["span"] = func(f *flow, e xml.StartElement) {
		if in := styles[attribute(e, "style-name")]; !in.hidden {
			f.within(in.struck, in.sign, f.deeper)
		}
	}
	f.roles["object"] = odfObjects(a)
	f.roles["table-properties"] = func(_ *flow, e xml.StartElement) {
		hidden[style] = attribute(e, "display") == "false"
	}
	f.roles["drawing-page-properties"] = func(_ *flow, e xml.StartElement) {
		hidden[style] = attribute(e, "visibility") == "hidden"
	}
	f.roles["page"] = func(f *flow, e xml.StartElement) {
		if hidden[attribute(e, "style-name")] {
			n++
			return
		}
		odfPage(f, e)
	}
	f.roles["spreadsheet"] = func(f *flow, _ xml.StartElement) {
		f.roles["table"] = func(f *flow, e xml.StartElement) {
			if hidden[attribute(e, "style-name")] {
				n++
				return
			}
			f.restart()
			f.enter(1, attribute(e, "name"))
			f.addSheet(f.grid().rows)
		}
		f.deeper()
	}
	f.run(a.elementsOf("content.xml"))
	f.Title = a.titleIn("meta.xml")
	f.tell(leftOutHidden(n,
		map[bool]string{true: "slide", false: "sheet"}[f.roles["spreadsheet"] == nil]))
	return f.whole()
}
