package chunk

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"toolnorm/internal/test/must"
)

// zipOf is a file of parts.
func zipOf(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part, err := w.Create(name)
		if err == nil {
			_, err = part.Write([]byte(parts[name]))
		}
		must.OK(t, err)
	}
	must.OK(t, w.Close())
	return b.Bytes()
}

// relationsOf is a part that names others: id, kind, part.
func relationsOf(all ...[3]string) string {
	text := "<Relationships>"
	for _, r := range all {
		text += fmt.Sprintf(`<Relationship Id="%s" Type="http://x/%s" Target="%s"/>`, r[0], r[1], r[2])
	}
	return text + "</Relationships>"
}

// wordFile is a file of Word with a body.
func wordFile(t testing.TB, body string) []byte {
	return zipOf(t, map[string]string{
		"_rels/.rels":       relationsOf([3]string{"r1", "officeDocument", "word/document.xml"}),
		"word/document.xml": `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`,
		"word/_rels/document.xml.rels": relationsOf([3]string{"r1", "styles", "styles.xml"}, [3]string{"r2", "footnotes", "footnotes.xml"},
			[3]string{"r3", "numbering", "numbering.xml"}),
		"word/styles.xml": `<w:styles><w:style w:styleId="T"><w:name w:val="Title"/></w:style><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style>
			<w:style w:styleId="2"><w:name w:val="Mine"/><w:basedOn w:val="3"/></w:style><w:style w:styleId="3"><w:basedOn w:val="2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`,
		"word/footnotes.xml": `<w:footnotes><w:footnote w:id="7"><w:p><w:r><w:t>From May on.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"word/numbering.xml": `<w:numbering><w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="第%1条"/></w:lvl>
			<w:lvl w:ilvl="1"><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum><w:num w:numId="9"><w:abstractNumId w:val="5"/></w:num></w:numbering>`,
	})
}

// wordPara is a paragraph of Word in a style.
func wordPara(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

// slideFile is a presentation of slides.
func slideFile(t testing.TB, slides ...string) []byte {
	parts := map[string]string{"_rels/.rels": relationsOf([3]string{"r1", "officeDocument", "/ppt/presentation.xml"})}
	list, related := "", [][3]string{}
	for i, s := range slides {
		id, name := fmt.Sprintf("rId%d", i), fmt.Sprintf("slide%d.xml", i)
		list += fmt.Sprintf(`<p:sldId id="%d" r:id="%s"/>`, 256+i, id)
		related = append(related, [3]string{id, "slide", "slides/" + name})
		parts["ppt/slides/"+name] = s
		parts["ppt/slides/_rels/"+name+".rels"] = relationsOf([3]string{"r1", "notesSlide", "../notesSlides/" + name})
		parts["ppt/notesSlides/"+name] = fmt.Sprintf(`<p:notes><p:sp><p:nvPr><p:ph type="sldNum"/></p:nvPr><a:p><a:r><a:t>%d</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>Say %d.</a:t></a:r></a:p></p:sp></p:notes>`, i, i)
	}
	parts["ppt/presentation.xml"] = `<p:presentation><p:sldIdLst>` + list + `</p:sldIdLst></p:presentation>`
	parts["ppt/_rels/presentation.xml.rels"] = relationsOf(related...)
	return zipOf(t, parts)
}

// odfFile is a file of LibreOffice with a body.
func odfFile(t testing.TB, body string) []byte {
	return zipOf(t, map[string]string{
		"content.xml": `<office:document-content><office:automatic-styles><style:style style:name="ta2"><style:table-properties table:display="false"/></style:style></office:automatic-styles>
			<office:body>` + body + `</office:body></office:document-content>`,
		"meta.xml": `<office:document-meta><dc:title>Rules</dc:title></office:document-meta>`,
	})
}

// sheetFile is a workbook with a sheet for each list of rows; one whose name begins with an
// exclamation mark is hidden.
func sheetFile(t testing.TB, sheets map[string][][]any) []byte {
	t.Helper()
	book := excelize.NewFile()
	date := "yyyy\\-mm\\-dd"
	style, err := book.NewStyle(&excelize.Style{CustomNumFmt: &date})
	for _, name := range slices.Sorted(maps.Keys(sheets)) {
		if _, wrong := book.NewSheet(name); wrong != nil {
			err = wrong
		}
		for r, row := range sheets[name] {
			for c, value := range row {
				cell, _ := excelize.CoordinatesToCellName(c+1, r+1)
				if wrong := book.SetCellValue(name, cell, value); wrong != nil {
					err = wrong
				}
				if _, is := value.(time.Time); is {
					err = book.SetCellStyle(name, cell, cell, style)
				}
			}
		}
		if strings.HasPrefix(name, "!") {
			err = book.SetSheetVisible(name, false)
		}
	}
	_ = book.DeleteSheet("Sheet1")
	var b bytes.Buffer
	if err == nil {
		err = book.Write(&b)
	}
	must.OK(t, err)
	return b.Bytes()
}

func TestOfficeFilesAreCutAlongTheirStructure(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"a.docx", wordFile(t, wordPara("T", "Handbook")+wordPara("1", "Leave")+
			`<w:p><w:r><w:t xml:space="preserve">Twenty </w:t></w:r><w:del><w:r><w:delText>old</w:delText><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t>days</w:t></w:r></w:ins><w:r><w:footnoteReference w:id="7"/></w:r>
			<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>A box.</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>A box.</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p>`+
			wordPara("2", "Sick leave")+`<w:p><w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>`+
			`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>1</w:t><w:br/><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`),
			"= Handbook\n[Leave] Twenty days⏎⏎[7] From May on.⏎⏎A box.\n[Leave > Sick leave] 漢字⏎⏎a | b⏎1 2\n"},
		{"numbers.docx", wordFile(t, strings.Repeat(`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="9"/></w:numPr></w:pPr><w:r><w:t>one</w:t></w:r></w:p>`+
			strings.Repeat(`<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="9"/></w:numPr></w:pPr><w:r><w:t>two</w:t></w:r></w:p>`, 2), 2)),
			"= numbers\n[] 第3条 one⏎⏎3.i) two⏎⏎3.ii) two⏎⏎第4条 one⏎⏎4.i) two⏎⏎4.ii) two\n"},
		{"b.pptx", slideFile(t, `<p:sld><p:sp><a:p><a:r><a:t>One</a:t></a:r></a:p></p:sp><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>Leave</a:t></a:r></a:p></p:sp></p:sld>`,
			`<p:sld show="0"><a:p><a:r><a:t>secret</a:t></a:r></a:p></p:sld>`, `<p:sld><a:tbl><a:tr><a:tc><a:p><a:r><a:t>x</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>y</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:sld>`),
			"= Leave\n[Leave] One⏎⏎Say 0.\n[] x | y⏎⏎Say 2.\n"},
		{"chart.pptx", slideFile(t, `<p:sld><c:chart><c:cat><c:strCache><c:pt><c:v>East</c:v></c:pt><c:pt><c:v>West</c:v></c:pt></c:strCache></c:cat><c:cat><c:strCache><c:v>East</c:v><c:v>West</c:v></c:strCache></c:cat></c:chart></p:sld>`),
			"= chart\n[] East, West⏎⏎Say 0.\n"},
		{"c.odt", odfFile(t, `<office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h text:outline-level="1">Leave</text:h><text:p>Twenty<text:s text:c="2"/>days
			<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>From May on.</text:p></text:note-body></text:note><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p></office:text>`),
			"= Rules\n[Leave] Twenty  days 漢字⏎⏎From May on.\n"},
		{"d.ods", odfFile(t, `<office:spreadsheet><table:table table:name="Fees"><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell><text:p>Fee</text:p></table:table-cell></table:table-row>
			<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>Hall</text:p></table:table-cell><table:table-cell><text:p>20 €</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16382"/></table:table-row>
			<table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table><table:table table:style-name="ta2" table:name="h"><table:table-row><table:table-cell><text:p>secret</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`),
			"= Rules\n[Fees] Name | Fee⏎Name: Hall; Fee: 20 €⏎Name: Hall; Fee: 20 €\n"},
		{"e.odp", odfFile(t, `<office:presentation><draw:page><draw:frame><draw:text-box><text:p>One</text:p></draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box><text:p>Leave</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`),
			"= Rules\n[Leave] One\n"},
		{"f.xlsx", sheetFile(t, map[string][][]any{"!h": {{"secret"}}, "Fees": {{"All fees"}, {}, {"Name", "Fee", "From"}, {"Hall", 20.5, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}, {"Desk", nil, "soon"}}}),
			"= f\n[Fees] All fees⏎Name | Fee | From⏎Name: Hall; Fee: 20.5; From: 2026-04-01⏎Name: Desk; From: soon\n"},
		{"g.csv", []byte("Name;Fee\r\n\"Hall; large\";20\r\nDesk;\"5\n\""), "= g\n[] Name | Fee⏎Name: Hall; large; Fee: 20⏎Name: Desk; Fee: 5\n"},
		{"open.csv", []byte("name,note\nA,\"never closed\nB,fine\nC,\"x, \"\"y\"\"\nz\"\n\nD, \"a, b\" ,\nE,\"5\" wide\",\"\"\n"), "= open\n[] name | note⏎name: A; note: \"never closed⏎name: B; note: fine⏎name: C; note: x, \"y\" z⏎name: D; note: a, b⏎name: E; note: 5\" wide\n"},
		{"start.tsv", []byte("name\tsize\nA\t\"big\" one\nB\t6\"\nC\t\"10\"\""), "= start\n[] name | size⏎name: A; size: \"big\" one⏎name: B; size: 6\"⏎name: C; size: \"10\"\"\n"},
		{"back.csv", []byte("sep=,\r\nname,note\r\nA,\"say \\\"hi\\\", now\"\r\nB,\"C:\\\\\",1"), "= back\n[] name | note⏎name: A; note: say \"hi\", now⏎name: B; note: C:\\; 1\n"},
		{"path.csv", []byte("name,path\nA,\"C:\\\"\nB,\"D:\\x\""), "= path\n[] name | path⏎name: A; path: C:\\⏎name: B; path: D:\\x\n"},
		{"h.tsv", []byte("1\t2\n3\t4\n"), "= h\n[] 1 | 2⏎3 | 4\n"},
		{"i.hwpx", zipOf(t, map[string]string{"Contents/header.xml": `<hh:head><hh:paraPr id="3"><hh:heading type="OUTLINE" level="0"/></hh:paraPr></hh:head>`,
			"Contents/section0.xml": `<hs:sec><hp:p paraPrIDRef="3"><hp:run><hp:t>휴가</hp:t></hp:run></hp:p><hp:p paraPrIDRef="0"><hp:run><hp:t>스무<hp:tab/>날<hp:deleteBegin/>옛<hp:deleteEnd/></hp:t></hp:run></hp:p>
			<hp:p><hp:run><hp:tbl><hp:tr><hp:tc><hp:subList><hp:p><hp:run><hp:t>가</hp:t></hp:run></hp:p></hp:subList></hp:tc><hp:tc><hp:subList><hp:p><hp:run><hp:t>나</hp:t></hp:run></hp:p></hp:subList></hp:tc></hp:tr></hp:tbl></hp:run></hp:p></hs:sec>`}),
			"= i\n[휴가] 스무\t날⏎⏎가 | 나\n"},
		{"j.epub", zipOf(t, map[string]string{"META-INF/container.xml": `<container><rootfile full-path="OEBPS/a.opf"/></container>`,
			"OEBPS/a.opf": `<package><dc:title>Book</dc:title><item id="c" href="c%201.xhtml"/><itemref idref="c"/><item id="d" href="d.xhtml"/><itemref idref="d"/></package>`, "OEBPS/c 1.xhtml": "<h1>Leave</h1><p>Twenty days.",
			"OEBPS/d.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><h1>Pay</h1><p>Monthly.</p></body></html>`}),
			"= Book\n[Leave] Twenty days.\n[Pay] Monthly.\n"},
		{"l.eml", []byte("\ufeffSubject: Leave\nContent-Type: text\nContent-Transfer-Encoding: base64\n\nVHdlbnR5IGRheXM\n"), "= Leave\n[] Subject: Leave⏎⏎Twenty days\n"},
		{"k.eml", []byte("From: =?utf-8?q?J=C3=B6rg?= <j@example.com>\r\nodd line\r\nSubject: =?iso-2022-jp?B?GyRCSXs2SBsoQg==?=\r\n =?utf-8?q?_rules?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=cp932\r\nContent-Transfer-Encoding: base64\r\n\r\nlZuLxg==\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>again\r\n--c--\r\n--b\r\nContent-Disposition: attachment; filename=\"a.pdf\"\r\n\r\nx\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nThe text.\r\n--b--\r\n"),
			"= 副業 rules\n[] Subject: 副業 rules⏎From: Jörg <j@example.com>⏎⏎副業\n[Inner] Subject: Inner⏎⏎The text.\n[] Attachments: a.pdf\n"},
	} {
		got, err := Read(c.name, c.in)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if show(got) != c.want {
			t.Errorf("%s gives\n%swant\n%s", c.name, show(got), c.want)
		}
		if strings.Contains("b.pptx d.ods f.xlsx", c.name) && !strings.Contains(strings.Join(got.Problems, ""), "hidden") {
			t.Errorf("%s: nothing says what is hidden", c.name)
		}
	}
}

// TestOfficeFilesThatCannotBeRead holds that each has an error in a sentence, and in a bounded
// time.
func TestOfficeFilesThatCannotBeRead(t *testing.T) {
	bomb := strings.Repeat("<!--"+strings.Repeat(" ", 1<<20)+"-->", 300)
	long := strings.Repeat("<w:p><w:r><w:t>"+strings.Repeat("word ", 1<<16)+"</w:t></w:r></w:p>", 120)
	wide := "n1"
	for i := range 4000 {
		wide += fmt.Sprintf(",%060dn", i)
	}
	wide += "\n" + strings.Repeat(strings.Repeat("1,", 4000)+"\n", 1000)
	for name, c := range map[string]struct{ in, want string }{
		"a.docx": {"no zip", "cut off"},
		"b.docx": {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "encrypted"},
		"c.docx": {string(odfFile(t, "")), "cut off"},
		"d.docx": {string(wordFile(t, bomb)), "256 MiB"},
		"e.docx": {string(wordFile(t, long)), "32 MiB"},
		"f.docx": {string(wordFile(t, strings.Repeat("<w:p>", 100_000))), "no text"},
		"g.docx": {string(wordFile(t, "")), "no text"},
		"a.odt":  {string(zipOf(t, map[string]string{"META-INF/manifest.xml": "<m:encryption-data/>", "content.xml": "x"})), "encrypted"},
		"a.xlsx": {"PK\x03\x04", "cut off"},
		"a.pptx": {string(slideFile(t)), "cut off"},
		"a.hwpx": {string(zipOf(t, nil)), "cut off"},
		"a.epub": {string(zipOf(t, nil)), "cut off"},
		"a.csv":  {wide, "32 MiB"},
		"a.eml":  {"just text", "e-mail"},
	} {
		if got, err := Read(name, []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.100v, %v; want %q", name, got.Title, err, c.want)
		}
	}
}

// TestADamagedPartKeepsWhatIsInFrontOfIt cuts the XML of a document at random places. What stands
// in front is read, and that the rest is missing is told. The last seeds are held out.
func TestADamagedPartKeepsWhatIsInFrontOfIt(t *testing.T) {
	body := ""
	for i := range 40 {
		body += wordPara(fmt.Sprint(i%4), fmt.Sprintf("word%d here", i))
	}
	for i := range uint64(60) {
		seed := i
		if i >= 40 {
			seed += 1_000_003
		}
		r := rand.New(rand.NewPCG(seed, 1))
		at := r.IntN(len(body))
		odd := []string{"", "<", "&", "<!DOCTYPE x [<!ENTITY a 'b'>", "\x00", "</w:p></w:p></w:body>", "<w:p", "]]>"}[r.IntN(8)]
		got, err := readHere(".docx", wordFile(t, body[:at]+odd))
		whole := strings.Count(body[:at], "here</w:t></w:r></w:p>")
		if err != nil && whole > 1 {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		text := show(got) + got.Title
		for n := range whole {
			if !strings.Contains(text, fmt.Sprintf("word%d here", n)) {
				t.Errorf("seed %d, %q: word%d of %d is missing", seed, odd, n, whole)
				break
			}
		}
	}
}
