package chunk

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The kinds of shapes on a slide that matter: its title, and what every slide repeats, such as the
// footer.
const (
	kindTitle = "title"
	kindFrame = "frame"
)

// slideRoles maps the elements of DrawingML to the functions that handle them. Text on slides and
// in diagrams, charts and boxes of sheets has these elements.
var slideRoles = map[string]role{
	"p": paragraph, "t": textRole, "br": writes("\n"), "tab": writes("\t"), "tbl": tableRole,
	"tr": rowRole, "tc": cellRole, "r": slideRun,
	"Fallback": skipped, "sp": shape, "ph": placeholder, "strCache": chartNames,
	"num": enclosed("(", ")/"), "den": enclosed("(", ")"), "rad": root,
	"sup": signed(raised), "sub": signed(lowered), // formulas
}

// shape reads a shape on a slide. An element before the shape's text gives its kind, which is
// forgotten at the end of the shape.
func shape(f *flow, _ xml.StartElement) {
	outer := f.kind
	f.kind = ""
	f.deeper()
	f.kind = outer
}

// slideRun reads a part of a paragraph. The element with the part's properties comes before its
// text.
func slideRun(f *flow, _ xml.StartElement) {
	struck, sign := false, ""
	f.inside(func(e xml.StartElement) {
		if e.Name.Local != "rPr" {
			f.within(struck, sign, func() { f.node(e) })
			return
		}
		how := attribute(e, "strike")
		struck = how != "" && how != "noStrike"
		if base := number0(attribute(e, "baseline")); base != 0 {
			sign = map[bool]string{true: raised, false: lowered}[base > 0]
		}
	}, nil)
}

// placeholder reads the element that gives the kind of a shape on a slide, and records whether the
// shape is a title, or a frame such as a page number.
func placeholder(f *flow, e xml.StartElement) {
	switch attribute(e, "type") {
	case "title", "ctrTitle":
		f.kind = kindTitle
	case "sldNum", "dt", "ftr", "hdr", "sldImg":
		f.kind = kindFrame
	}
}

// chartNames adds the names in a chart, those of its series and of its categories, as one text.
func chartNames(f *flow, _ xml.StartElement) {
	var names []string
	var find func(e xml.StartElement)
	find = func(e xml.StartElement) {
		if e.Name.Local != "v" {
			f.inside(find, nil)
			return
		}
		f.inside(func(xml.StartElement) {}, func(text string) { names = append(names, text) })
	}
	f.inside(find, nil)
	// each series repeats the categories, so an equal text is left out
	if text := strings.Join(names, ", "); text != "" &&
		(len(f.Blocks) == 0 || f.Blocks[len(f.Blocks)-1].Text != text) {
		f.put(text, &para{})
	}
}

// readPPTX reads the text of a presentation, slide by slide in the order in which they are shown.
// The title of a slide is the heading of everything on it: its text, its tables, diagrams and
// charts, and the speaker's notes. It returns an error if the file cannot be opened, has no slides
// or has too much text.
func readPPTX(data []byte) (Text, error) {
	a, err := openArchive(data)
	if err != nil {
		return Text{}, err
	}
	main := a.main("ppt/presentation.xml")
	related := a.related(main)
	f := &flow{roles: slideRoles}
	number, hidden := 0, 0
	a.elementsOf(main).each(func(e xml.StartElement) {
		at, isSlide := related[relationID(e)]
		if e.Name.Local != "sldId" || !isSlide || number >= mostSharedParts {
			return
		}
		number++
		if f.slide(a, at.part) {
			hidden++
		}
	})
	if number == 0 {
		return Text{}, errNoZip
	}
	f.tell(leftOutHidden(hidden, "slide"))
	if f.Title = a.titleIn("docProps/core.xml"); strings.EqualFold(f.Title,
		"PowerPoint Presentation") {
		f.Title = ""
	}
	if first := f.firstHeading(); f.Title == "" {
		f.Title = first
	}
	return f.whole()
}

// firstHeading returns the heading of the first block, or "" if there are no blocks.
func (f *flow) firstHeading() string {
	if len(f.Blocks) > 0 {
		return f.Blocks[0].Heading
	}
	return ""
}

// leftOutHidden returns a message that n hidden parts are left out, or "" if n is 0. The parameter
// what is the word for one such part, such as "slide".
func leftOutHidden(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 hidden " + what + " is left out"
	}
	return fmt.Sprintf("%d hidden %ss are left out", n, what)
}

// relationID returns the id by which an element refers to another part of the file, or "" if there
// is none. That attribute has a name space; an attribute id without one is the element's own id.
func relationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// slide reads a slide, which is the given part of the file, with its diagrams, charts and notes. If
// the slide is hidden, it reads nothing and returns true.
func (f *flow) slide(a *archive, part string) (hidden bool) {
	x := a.elementsOf(part)
	f.begin()
	from := len(f.Blocks)
	f.roles = maps.Clone(slideRoles)
	f.roles["sld"] = func(f *flow, e xml.StartElement) {
		if hidden = attribute(e, "show") == "0" || attribute(e, "show") == "false"; !hidden {
			f.deeper()
		}
	}
	f.run(x)
	if hidden {
		return true
	}
	related := a.related(part)
	for _, id := range slices.Sorted(maps.Keys(related)) {
		if r := related[id]; slices.Contains([]string{"diagramData", "chart", "notesSlide"},
			r.kind) {
			f.run(a.elementsOf(r.part))
		}
	}
	f.finish(from)
	return false
}

// begin prepares for a new slide: it removes the title, the kind of shape and the headings of the
// slide before.
func (f *flow) begin() {
	f.caption, f.kind = "", ""
	f.restart()
}

// finish sets the title of a slide as the heading of all its blocks, since the title may come after
// them. The parameter from is the index of the slide's first block. If the slide has only a title,
// or the title is too long for a heading, the title becomes a block.
func (f *flow) finish(from int) {
	title := f.caption
	f.begin()
	if title != "" && (len(f.Blocks) == from || isLong(title)) {
		f.Blocks = slices.Insert(f.Blocks, from, Block{Text: title})
		return
	}
	f.enter(1, title)
	for i := range f.Blocks[from:] {
		f.Blocks[from+i].Heading = f.path()
	}
}
