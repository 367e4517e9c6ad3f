package chunk

import (
	"encoding/xml"
	"maps"
	"regexp"
	"strings"
)

// wordRoles maps the elements of WordprocessingML to the functions that handle them. Left out are
// deleted text (w:del, w:delText), moved text at its old place, phonetic readings above a word, and
// what Word repeats for older programs (mc:Fallback). The function run leaves out hidden text.
var wordRoles = map[string]role{
	"p": paragraph, "t": textRole, "tab": writes("\t"), "ptab": writes("\t"), "br": writes("\n"),
	"cr": writes("\n"), "noBreakHyphen": writes("-"),
	"tbl": tableRole, "tr": rowRole, "tc": cellRole,
	"gridSpan": ofCell(func(g *grid, e xml.StartElement) { g.span = number0(attribute(e, "val")) }),
	"vMerge": ofCell(func(g *grid, e xml.StartElement) {
		g.merged = attribute(e, "val") != "restart"
	}),
	"del": skipped, "moveFrom": skipped, "rt": skipped, "Fallback": skipped, "tabs": skipped,
	"sectPr": skipped,
	// formulas
	"num": enclosed("(", ")/"), "den": enclosed("(", ")"), "rad": root,
	"sup": signed(raised), "sub": signed(lowered),
	"pPr": func(f *flow, _ xml.StartElement) { f.inside(f.node, nil) }, "r": run,
}

// ofCell returns a function for elements with a property of a table cell, such as its width. It
// calls set with the current table and the element. Outside of a table it does nothing.
func ofCell(set func(*grid, xml.StartElement)) role {
	return func(f *flow, e xml.StartElement) {
		if f.table != nil {
			set(f.table, e)
		}
	}
}

// run reads a run, which is a part of a paragraph with a look of its own. A hidden run is left out.
func run(f *flow, _ xml.StartElement) {
	hidden, struck, sign := false, false, ""
	property := func(e xml.StartElement) {
		v := attribute(e, "val")
		on := v != "0" && v != "false"
		switch e.Name.Local {
		case "vanish":
			hidden = on
		case "strike", "dstrike":
			struck = struck || on
		case "vertAlign":
			sign = map[string]string{"superscript": raised, "subscript": lowered}[v]
		}
	}
	f.inside(func(e xml.StartElement) {
		switch {
		case e.Name.Local == "rPr":
			f.inside(property, nil)
		case !hidden:
			f.within(struck, sign, func() { f.node(e) })
		}
	}, nil)
}

// readDOCX reads the text of a Word file: paragraphs, tables, text boxes and notes, below the
// headings that its styles define. Comments, page headers and footers are left out. It returns an
// error if the file cannot be opened or has too much text.
func readDOCX(data []byte) (Text, error) {
	a, err := openArchive(data)
	if err != nil {
		return Text{}, err
	}
	main := a.main("word/document.xml")
	if a.parts[partName(main)] == nil {
		return Text{}, errNoZip
	}
	related := a.related(main)
	part := func(kind string) *elements {
		for _, r := range related {
			if r.kind == kind {
				return a.elementsOf(r.part)
			}
		}
		return &elements{err: errNoZip}
	}
	styles, lists := wordStyles(part("styles")), wordNumbers(part("numbering"))
	f := &flow{roles: maps.Clone(wordRoles), number: func(p *para) string {
		return lists.next(p.list, p.depth)
	}}
	property := func(name string, set func(p *para, value string)) {
		f.roles[name] = func(f *flow, e xml.StartElement) {
			if f.para != nil {
				set(f.para, attribute(e, "val"))
			}
		}
	}
	property("pStyle", func(p *para, value string) {
		s := styles[value]
		p.level, p.title, p.list, p.depth = s.level, s.title, s.list, s.depth
	})
	property("outlineLvl", func(p *para, value string) { p.level = levelOf(value) })
	property("ilvl", func(p *para, value string) { p.depth = number0(value) })
	property("numId", func(p *para, value string) { p.list = value })
	f.roles["numPr"] = func(f *flow, _ xml.StartElement) { f.inside(f.node, nil) }
	for _, kind := range []string{"footnote", "endnote"} {
		texts := wordNotes(part(kind+"s"), kind)
		f.roles[kind+"Reference"] = func(f *flow, e xml.StartElement) {
			if text := texts[attribute(e, "id")]; text != "" && f.para != nil {
				f.para.behind = append(f.para.behind, note(attribute(e, "id"), text))
			}
		}
	}
	f.run(a.elementsOf(main))
	if f.Title == "" {
		f.Title = a.titleIn("docProps/core.xml")
	}
	return f.whole()
}

// whole returns the text that was read. It returns an error if there is too much text, or if
// nothing could be read because the parts are missing.
func (f *flow) whole() (Text, error) {
	if f.err == errTooMuch || f.err == errUnpacked || len(f.Blocks) == 0 && f.err == errNoZip {
		return Text{}, f.err
	}
	return f.Text, nil
}

// wordStyle is what a style defines for a paragraph.
type wordStyle struct {
	level   int // level of a heading; 0: it is not a heading
	title   bool
	list    string // the list that numbers the paragraph; empty: none
	depth   int    // the level of the list
	basedOn string
}

// headingName matches the names of heading styles, which are the same in every Word, while their
// ids are translated.
var headingName = regexp.MustCompile(`(?i)^heading ([1-9])$`)

// wordStyles returns the styles of paragraphs by id, with the properties of the styles on which
// they are based.
func wordStyles(x *elements) map[string]wordStyle {
	all := map[string]wordStyle{}
	id := ""
	x.each(func(e xml.StartElement) {
		s, value := all[id], attribute(e, "val")
		switch e.Name.Local {
		case "style":
			id = attribute(e, "styleId")
			s = wordStyle{}
		case "name":
			if found := headingName.FindStringSubmatch(value); found != nil {
				s.level = number0(found[1])
			}
			s.title = strings.EqualFold(value, "title")
		case "basedOn":
			s.basedOn = value
		case "outlineLvl":
			s.level = levelOf(value)
		case "numId":
			s.list = value
		case "ilvl":
			s.depth = number0(value)
		default:
			return
		}
		all[id] = s
	})
	for id, s := range all {
		for range 20 { // a style may be based on itself
			base, has := all[s.basedOn]
			if !has {
				break
			}
			if s.level == 0 && !s.title {
				s.level, s.title = base.level, base.title
			}
			if s.list == "" {
				s.list, s.depth = base.list, max(s.depth, base.depth)
			}
			s.basedOn = base.basedOn
		}
		all[id] = s
	}
	return all
}

// levelOf converts Word's outline level into the level of a heading. It returns 0, which means no
// heading, for an empty value and for a level outside of 0 to 8.
func levelOf(val string) int {
	if n := number0(val); n >= 0 && n < 9 && val != "" {
		return n + 1
	}
	return 0
}

// wordNotes returns the texts of footnotes or endnotes by id. kind is the name of their elements.
func wordNotes(x *elements, kind string) map[string]string {
	texts := map[string]string{}
	f := &flow{roles: maps.Clone(wordRoles)}
	f.roles[kind] = func(f *flow, e xml.StartElement) {
		f.Blocks = nil
		f.deeper()
		var all []string
		for _, b := range f.Blocks {
			all = append(all, b.Text)
		}
		texts[attribute(e, "id")] = strings.Join(all, "\n")
	}
	f.run(x)
	return texts
}
