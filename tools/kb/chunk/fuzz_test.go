package chunk

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"toolnorm/internal/test/must"
)

// fuzzed holds for one kind of file what FuzzRead does for all: the program goes on, and passages
// can be stored. made makes a file around what was generated.
func fuzzed(f *testing.F, ending string, made func(t testing.TB, data string) []byte, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		got, err := apart[ending](made(t, data))
		if err != nil {
			return
		}
		for _, p := range got.Cut() {
			if columns(p.Text) > mostColumns {
				t.Errorf("a passage of %d columns", columns(p.Text))
			}
		}
		for _, b := range got.Blocks {
			if text := clean(b.Heading + b.Text); !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Errorf("%q cannot be stored", text)
			}
		}
	})
}

// asItIs is a file that is what was generated.
func asItIs(_ testing.TB, data string) []byte { return []byte(data) }

func FuzzDOCX(f *testing.F) {
	fuzzed(f, ".docx", wordFile, wordPara("1", "a")+`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="9"/></w:numPr></w:pPr><w:r><w:rPr><w:vanish/></w:rPr><w:t>a</w:t><w:footnoteReference w:id="7"/></w:r></w:p>`)
}

func FuzzDOCXParts(f *testing.F) {
	fuzzed(f, ".docx", func(t testing.TB, data string) []byte {
		return zipOf(t, map[string]string{"word/document.xml": wordPara("1", "a"), "word/_rels/document.xml.rels": relationsOf([3]string{"a", "styles", "s"}, [3]string{"b", "numbering", "s"}, [3]string{"c", "footnotes", "s"}), "word/s": data})
	}, `<w:style w:styleId="1"><w:basedOn w:val="1"/><w:numId w:val="1"/></w:style>`, `<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:lvlText w:val="%1"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`)
}

func FuzzPPTX(f *testing.F) {
	fuzzed(f, ".pptx", func(t testing.TB, data string) []byte { return slideFile(t, data, `<p:sld show="0"/>`) },
		`<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>a</a:t></a:r></a:p></p:sp><a:tbl><a:tr><a:tc gridSpan="3"/></a:tr></a:tbl><c:strCache><c:v>a</c:v></c:strCache></p:sld>`)
}

func FuzzODF(f *testing.F) {
	fuzzed(f, ".odt", odfFile, `<office:spreadsheet><table:table table:name="a"><table:table-row table:number-rows-repeated="9"><table:table-cell table:number-columns-repeated="9"><text:p>a<text:s text:c="9"/></text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
		`<draw:page><draw:frame presentation:class="title"><text:p>a</text:p></draw:frame></draw:page><text:h text:outline-level="2">a</text:h><draw:object xlink:href="."/>`)
}

func FuzzHWPX(f *testing.F) {
	fuzzed(f, ".hwpx", func(t testing.TB, data string) []byte {
		return zipOf(t, map[string]string{"Contents/section0.xml": data, "Contents/header.xml": data})
	}, `<hp:p paraPrIDRef="1"><hp:run><hp:t>a<hp:deleteBegin/>b</hp:t></hp:run></hp:p><hh:paraPr id="1"><hh:heading type="OUTLINE" level="0"/></hh:paraPr>`)
}

func FuzzEPUB(f *testing.F) {
	fuzzed(f, ".epub", func(t testing.TB, data string) []byte {
		return zipOf(t, map[string]string{"META-INF/container.xml": `<rootfile full-path="a"/>`, "a": data, "b": data})
	}, `<item id="c" href="b"/><itemref idref="c"/>`)
}

func FuzzXLSX(f *testing.F) {
	file := sheetFile(f, map[string][][]any{"a": {{"Name", "Fee"}, {"x", 1.5}}})
	fuzzed(f, ".xlsx", func(t testing.TB, data string) []byte {
		z := must.Have(zip.NewReader(bytes.NewReader(file), int64(len(file))))(t)
		parts := map[string]string{}
		a := &archive{parts: map[string]*zip.File{}, left: mostPartBytes}
		for _, part := range z.File {
			a.parts[partName(part.Name)] = part
			text, _ := a.read(part.Name)
			parts[part.Name] = string(text)
			if strings.Contains(part.Name, "worksheets/sheet") {
				parts[part.Name] = data
			}
		}
		return zipOf(t, parts)
	}, `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>45000</v></c><c r="C1" t="inlineStr"><is><t>a</t></is></c></row></sheetData></worksheet>`)
}

func FuzzCSV(f *testing.F) {
	fuzzed(f, ".csv", asItIs, "a,b\n1,2\n\n\"x\ny\",3\n", "sep=;\na;b\n1;2", "a\tb\n1\t2")
}

func FuzzMail(f *testing.F) {
	fuzzed(f, ".eml", asItIs, "Subject: =?utf-8?q?a?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\nYQ==\n--b\nContent-Type: message/rfc822\n\nSubject: x\n\ny\n--b--\n",
		"From: a\nContent-Type: text/html; charset=cp932\nContent-Transfer-Encoding: quoted-printable\n\n<p>=41")
}
