package chunk

import (
	"encoding/xml"
	"fmt"
	"maps"
)

// hwpRoles maps the elements of OWPML, the format of Hangul's .hwpx files, to the functions that
// handle them.
var hwpRoles = map[string]role{
	"t": textRole, "tab": writes("\t"), "lineBreak": writes("\n"), "nbSpace": writes(" "),
	"fwSpace": writes(" "), "hyphen": writes("-"),
	"tbl": tableRole, "tr": rowRole, "tc": cellRole,
	"cellSpan": ofCell(func(g *grid, e xml.StartElement) {
		g.span, g.down = number0(attribute(e, "colSpan")), number0(attribute(e, "rowSpan"))
	}),
	"subText": skipped, "shapeComment": skipped,
	"secPr":  skipped,
	"header": skipped, "footer": skipped, "hiddenComment": skipped, "mainText": textRole,
	"script": textRole, "fieldBegin": skipped, "parameters": skipped,
	"deleteBegin": func(f *flow, _ xml.StartElement) {
		f.deleted(true)
	}, "deleteEnd": func(f *flow, _ xml.StartElement) { f.deleted(false) },
}

// deleted records where text that was deleted with change tracking begins (from is true) and ends
// (from is false).
func (f *flow) deleted(from bool) {
	if from {
		f.kind = "deleted"
		return
	}
	f.kind = ""
}

// readHWPX reads the text of a Hangul file: paragraphs, tables, boxes and notes, below the headings
// that its outline defines. It returns an error if the file cannot be opened, has no sections or
// has too much text.
func readHWPX(data []byte) (Text, error) {
	a, err := openArchive(data)
	if err != nil {
		return Text{}, err
	}
	levels := hwpLevels(a.elementsOf("Contents/header.xml"))
	f := &flow{roles: maps.Clone(hwpRoles)}
	f.roles["p"] = func(f *flow, e xml.StartElement) {
		f.paragraph(levels[attribute(e, "paraPrIDRef")])
	}
	f.roles["t"] = func(f *flow, _ xml.StartElement) {
		f.inside(f.node, func(text string) {
			if f.kind == "" {
				f.write(text)
			}
		})
	}
	read := 0
	for ; read < mostSharedParts &&
		a.parts[partName(fmt.Sprintf("Contents/section%d.xml", read))] != nil; read++ {
		f.kind = ""
		f.run(a.elementsOf(fmt.Sprintf("Contents/section%d.xml", read)))
	}
	if read == 0 {
		return Text{}, errNoZip
	}
	f.Title = a.titleIn("Contents/content.hpf")
	return f.whole()
}

// hwpLevels returns the levels of headings, by the ids of paragraph properties.
func hwpLevels(x *elements) map[string]int {
	levels := map[string]int{}
	id := ""
	x.each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "paraPr":
			id = attribute(e, "id")
		case "heading":
			if attribute(e, "type") == "OUTLINE" {
				levels[id] = number0(attribute(e, "level")) + 1
			}
		}
	})
	return levels
}
