package odd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// PDF returns a PDF file with one page for each text. For an empty text it makes a page that is
// damaged or unusual.
func PDF(r *rand.Rand, texts ...string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"}
	var kids []string
	for _, text := range texts {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		show := "BT /F1 12 Tf 72 700 Td (" + text + ") Tj ET"
		page := fmt.Sprintf(
			"<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>", n+1)
		content := fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(show), show)
		if text == "" {
			page, content = oddPage(r, n, page, content)
		}
		objects = append(objects, page, content)
	}
	return PDFOf(objects, kids)
}

// PDFOf returns a PDF file of the given objects, which are numbered from 1. The first must be the
// catalogue. The second is overwritten with the tree of pages, whose children are kids.
func PDFOf(objects, kids []string) []byte {
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(kids),
		strings.Join(kids, " "))
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1,
		xref)
	return b.Bytes()
}

// oddPage returns a page of a PDF file, and the page's content, after it has damaged one of them.
// The parameter n is the page's object number.
func oddPage(r *rand.Rand, n int, page, content string) (string, string) {
	odd := []string{"null", "7", "(text)", "[]", "[0 0 R]", "<<>>", "99 0 R",
		fmt.Sprintf("%d 0 R", n), "/Name", "<<", "true", "-1"}[r.IntN(12)]
	switch r.IntN(6) {
	case 0:
		return odd, content
	case 1:
		return page, odd
	case 2:
		return strings.Replace(page, fmt.Sprintf("/Contents %d 0 R", n+1), "/Contents "+odd, 1),
			content
	case 3:
		return strings.Replace(page, "/Parent 2 0 R", fmt.Sprintf("/Parent %d 0 R", n), 1), content
	case 4:
		return strings.Replace(page, "<</F1 3 0 R>>", odd, 1), content
	}
	show := strings.Repeat("(", 1+r.IntN(50)) +
		" Tj q Q [ << 1 0 0 /X Do BT ET Tf 99999999999999999999 Tm"
	return page, fmt.Sprintf("<</Length %d/Filter%s>>stream\n%s\nendstream", len(show)*r.IntN(3),
		[]string{"/FlateDecode", "[]", " 7", "/None"}[r.IntN(4)], show)
}
