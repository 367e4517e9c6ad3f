package chunk

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/odd"
)

// pdfOf is a PDF with a page for each of contents. F1 is a font of single bytes, 500 wide each, F2
// one of UTF-16, 1000 wide.
func pdfOf(tb testing.TB, contents ...string) []byte {
	tb.Helper()
	if len(contents) == 0 {
		contents = []string{""}
	}
	cmap := "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
	for high := range 0xA0 {
		cmap += fmt.Sprintf("1 beginbfrange <%02X00> <%02XFF> <%02X00> endbfrange\n", high, high, high)
	}
	cmap += "endcmap end end"
	widths := strings.Repeat("500 ", 224)
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "", // the pages come below
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 255/Widths[" + widths + "]>>",
		"<</Type/Font/Subtype/Type0/BaseFont/Gothic/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[5 0 R]>>",
		"<</Type/Font/Subtype/CIDFontType2/BaseFont/Gothic/DW 1000/W[32[500] 48 57 500]>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(cmap), cmap),
	}
	var kids []string
	for _, c := range contents {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>", n+1),
			fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(c), c))
	}
	return odd.PDFOf(objects, kids)
}

// wide is a string of font F2.
func wide(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04x", u)
	}
	return "<" + b.String() + ">"
}

func TestTextsOfAPDFArePutTogether(t *testing.T) {
	data := pdfOf(t,
		"BT /F1 20 Tf 72 750 Td (Leave) Tj /F1 10 Tf 0 -40 Td [(Twenty) -250 (d) 20 (ays) -300 (are)] TJ 0 -12 Td (grant-) Tj T* ET "+
			"BT /F1 10 Tf 72 686 Td (ed a year. ) Tj (More.) Tj 0 -40 Td (Another paragraph) Tj ET BT /F1 10 Tf 300 50 Td (1) Tj ET",
		"q 1 0 0 1 72 700 cm BT /F1 20 Tf (Rules) Tj ET BT /F2 10 Tf 1 0 0 1 0 -40 Tm "+wide("リモートワーク手当は")+" Tj 1 0 0 1 0 -52 Tm "+wide("月に5千円です。")+" Tj ET Q "+
			"BT /F1 10 Tf 12 TL 72 600 Td (one) Tj (two) ' 2 1 (three) \" ET",
	)
	got := must.Have(Read("rules.pdf", data))(t)
	const want = "= rules\n[Leave] Twenty days are granted a year. More.⏎⏎Another paragraph\n" +
		"[Rules] リモートワーク手当は月に5千円です。⏎⏎one two three\n"
	if show(got) != want {
		t.Errorf("it gives\n%swant\n%s", show(got), want)
	}
}

// TestBrokenPDFsEnd reads a PDF of which every part was cut away or overwritten once.
func TestBrokenPDFsEnd(t *testing.T) {
	whole := pdfOf(t, "q BT /F1 12 Tf 72 700 Td [(He) -300 (llo)] TJ ET Q Q /X Do Tf Tm (")
	for i := 0; i < len(whole); i += 7 {
		_, _ = Read("cut.pdf", whole[:i])
		hurt := bytes.Clone(whole)
		copy(hurt[i:], "[<<(")
		_, _ = Read("hurt.pdf", hurt)
	}
}

// A page of a few megabytes must not take hundreds of them: what it shows is bounded in strings as
// well, and what its fonts and parts unpack to is counted together.
func TestAPageThatShowsMillionsOfStringsIsBounded(t *testing.T) {
	data := pdfOf(t, "BT /F1 1 Tf "+strings.Repeat("(a)'", mostPieces+1000)+" ET")
	file := must.Have(pdf.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	if pieces, err := piecesOf(pagesOf(file).pages[0], time.Now().Add(time.Hour)); len(pieces) != mostPieces || err != nil {
		t.Errorf("%d pieces, want %d; %v", len(pieces), mostPieces, err)
	}
	r := &reader{unpacked: mostUnpacked + 1}
	if data := r.stream(file.Page(1).V.Key("Contents")); data != nil {
		t.Errorf("%d bytes more were unpacked", len(data))
	}
	if _, err := piecesOf(pagesOf(file).pages[0], time.Time{}); err != errSlow {
		t.Errorf("a page whose time is over ends by %v", err)
	}
}

// A hostile map of letters has no more of them than there are codes, and few ranges.
func TestAMapOfLettersIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3 * mostRanges {
		fmt.Fprintf(&b, "1 beginbfrange <%06X> <%06X> <0041> endbfrange 1 beginbfchar <%06X> <0042> endbfchar\n", i, i+1, 0x10000+i)
	}
	m := toUnicode([]byte(b.String()), true)
	if len(m.ranges) != mostRanges || len(m.single) != 0 {
		t.Errorf("%d ranges and %d letters are kept", len(m.ranges), len(m.single))
	}
	if got := m.decode("\x00\x00\x00\x01\xff\xff\x00\x01"); got != "ABB" {
		t.Errorf("it reads %q", got)
	}
}

// TestAPDFThatDoesNotEndIsEnded reads files whose parts name themselves: a tree of pages, which is
// found at once, and a table of objects, at which the library reads for ever. Nothing works on it
// after the answer, and the next file is read.
func TestAPDFThatDoesNotEndIsEnded(t *testing.T) {
	for more, want := range map[string]string{"": "nested too deeply", "/Prev %d": "takes longer than 10s"} {
		loop := "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [2 0 R] /Count 1 >>\nendobj\n"
		xref := len(loop)
		if more != "" {
			more = fmt.Sprintf(more, xref)
		}
		loop += fmt.Sprintf("xref\n0 3\n0000000000 65535 f \n%010d 00000 n \n%010d 00000 n \ntrailer\n<< /Size 3 /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n",
			strings.Index(loop, "1 0 obj"), strings.Index(loop, "2 0 obj"), more, xref)
		start := time.Now()
		if _, err := Read("loop.pdf", []byte(loop)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if took := time.Since(start); took > 40*time.Second {
			t.Errorf("it took %v", took)
		}
	}
	if got, err := Read("good.pdf", pdfOf(t, "BT /F1 12 Tf 72 700 Td (Good day) Tj ET")); err != nil || len(got.Blocks) != 1 {
		t.Errorf("the next file: %v, %v", got, err)
	}
}
