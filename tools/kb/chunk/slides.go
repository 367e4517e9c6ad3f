package chunk

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The kinds of shapes on a slide that matter: its title, and what stands on every slide.
const (
	kindTitle = "title"
	kindFrame = "frame"
)

// slideRoles are the elements of DrawingML, which text on slides, in diagrams, in charts and in
// boxes of sheets has.
var slideRoles = map[string]role{
	"p": paragraph, "t": textRole, "br": writes("\n"), "tab": writes("\t"), "tbl": tableRole,
	"tr": rowRole, "tc": cellRole,
	"Fallback": skipped, "sp": shape, "ph": placeholder, "strCache": chartNames,
}

// shape reads a shape, whose kind stands in it in front of its text.
func shape(f *flow, _ xml.StartElement) {
	outer := f.kind
	f.kind = ""
	f.deeper()
	f.kind = outer
}

// placeholder notes what kind of shape it is.
func placeholder(f *flow, e xml.StartElement) {
	switch attribute(e, "type") {
	case "title", "ctrTitle":
		f.kind = kindTitle
	case "sldNum", "dt", "ftr", "hdr", "sldImg":
		f.kind = kindFrame
	}
}

// chartNames reads the names of a chart's series and of what it compares.
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
	// each series repeats the categories
	if text := strings.Join(names, ", "); text != "" &&
		(len(f.Blocks) == 0 || f.Blocks[len(f.Blocks)-1].Text != text) {
		f.put(text, &para{})
	}
}

// readPPTX reads the text of a presentation, slide by slide in the order in which they are shown.
// The title of a slide is the heading of all that is on it: its text, its tables, diagrams and
// charts, and the notes of the speaker.
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

// firstHeading returns the heading of the first block.
func (f *flow) firstHeading() string {
	if len(f.Blocks) > 0 {
		return f.Blocks[0].Heading
	}
	return ""
}

// leftOutHidden returns a note that n hidden parts were left out, or "" if there are none.
func leftOutHidden(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 hidden " + what + " is left out"
	}
	return fmt.Sprintf("%d hidden %ss are left out", n, what)
}

// relationID returns the id of the part that an element refers to. It may have an id of its own as
// well.
func relationID(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// slide reads a slide, unless it is hidden, and what belongs to it.
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

// begin begins a slide.
func (f *flow) begin() {
	f.caption, f.kind = "", ""
	f.restart()
}

// finish puts the title of a slide above what is on it, which may stand in front of the title. A
// slide that has a title alone says that.
func (f *flow) finish(from int) {
	title := f.caption
	f.restart()
	f.enter(1, title)
	kept := f.Blocks[:from]
	for _, b := range f.Blocks[from:] {
		b.Heading = f.path()
		kept = append(kept, b)
	}
	if f.Blocks = kept; len(kept) == from && title != "" {
		f.Blocks = append(f.Blocks, Block{Text: title})
	}
	f.caption = ""
}
