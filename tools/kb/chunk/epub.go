package chunk

import (
	"encoding/xml"
	"net/url"
	"path"
)

// readEPUB reads the chapters of a book in their order, each as an HTML page. A chapter that cannot
// be read is reported in the text's problems. It returns an error if the file cannot be opened, has
// no chapters or has too much text.
func readEPUB(data []byte) (t Text, err error) {
	a, err := openArchive(data)
	if err != nil {
		return t, err
	}
	index := ""
	a.elementsOf("META-INF/container.xml").each(func(e xml.StartElement) {
		if e.Name.Local == "rootfile" && index == "" {
			index = attribute(e, "full-path")
		}
	})
	parts := map[string]string{}
	var order []string
	a.elementsOf(index).each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "item":
			if at, err := url.PathUnescape(attribute(e, "href")); err == nil {
				parts[attribute(e, "id")] = path.Join(path.Dir(index), at)
			}
		case "itemref":
			if len(order) < mostSharedParts {
				order = append(order, parts[attribute(e, "idref")])
			}
		}
	})
	if len(order) == 0 {
		return t, errNoZip
	}
	t.Title = a.titleIn(index)
	size := 0
	for _, part := range order {
		page, err := a.read(part)
		if err != nil && a.left <= 0 {
			return t, err
		}
		if size += len(page); size > mostText {
			return t, errTooMuch
		}
		chapter, err := readHTML(part, page)
		if err != nil {
			t.tell(part + ": " + err.Error())
		}
		t.Blocks = append(t.Blocks, chapter.Blocks...)
		for _, problem := range chapter.Problems {
			t.tell(part + ": " + problem)
		}
	}
	return t, nil
}
