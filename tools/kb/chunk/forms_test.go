package chunk

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"toolnorm/internal/test/must"
)

// TestNumbersStayApart holds that text that is struck through, raised or lowered does not become a
// part of the number beside it.
func TestNumbersStayApart(t *testing.T) {
	want := "fee ~~5 or~~6, 10^6 and 10^-3 m2, log10 100, 2024^1 or 1 2024, 1st ~~not 7~~"
	styles := [][2]string{{"", "fee "}, {"S", "5 "}, {"S", "or"}, {"", "6, 10"}, {"^", "6"}, {"", " and 10"}, {"^", "-3"}, {"", " m"}, {"^", "2"}, {"", ", log"},
		{"_", "10"}, {"", "100, 2024"}, {"^", "1"}, {"", " or "}, {"^", "1"}, {"", "2024, 1"}, {"^", "st"}, {"", " "}, {"S", "not 7"}}
	runs := func(forms map[string]string) string {
		all := ""
		for _, s := range styles {
			all += strings.ReplaceAll(forms[s[0]], "TEXT", s[1])
		}
		return all
	}
	word := func(properties string) string {
		return "<w:r><w:rPr>" + properties + `</w:rPr><w:t xml:space="preserve">TEXT</w:t></w:r>`
	}
	slide := func(properties string) string { return "<a:r><a:rPr " + properties + "/><a:t>TEXT</a:t></a:r>" }
	for name, in := range map[string][]byte{
		"a.html": []byte(runs(map[string]string{"": "TEXT", "S": "<del>TEXT</del>", "^": "<sup>TEXT</sup>", "_": "<b><sub>TEXT</sub></b>"})),
		"b.html": []byte("<table><tr><td>" + runs(map[string]string{"": "TEXT", "S": `<span style="text-decoration: line-through">TEXT</span>`, "^": "<sup>TEXT</sup>", "_": "<sub>TEXT</sub>"}) + "</td></tr></table>"),
		"a.docx": wordFile(t, "<w:p>"+runs(map[string]string{"": word(`<w:strike w:val="0"/>`), "S": word("<w:strike/>"), "^": word(`<w:vertAlign w:val="superscript"/>`), "_": word(`<w:vertAlign w:val="subscript"/>`)})+"</w:p>"),
		"a.pptx": slideFile(t, "<p:sld><a:p>"+runs(map[string]string{"": slide(`strike="noStrike"`), "S": slide(`strike="sngStrike"`), "^": slide(`baseline="30000"`), "_": slide(`baseline="-25000"`)})+"</a:p></p:sld>"),
		"a.odt": odfFile(t, `<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/></style:style><style:style style:name="U"><style:text-properties style:text-position="super 58%"/></style:style>
			<style:style style:name="D"><style:text-properties style:text-position="-33% 58%"/></style:style><office:text><text:p>`+runs(map[string]string{"": "TEXT", "S": `<text:span text:style-name="S">TEXT</text:span>`,
			"^": `<text:span text:style-name="U">TEXT</text:span>`, "_": `<text:span text:style-name="D">TEXT</text:span>`})+"</text:p></office:text>"),
	} {
		got, err := Read(name, in)
		if err != nil || len(got.Blocks) == 0 || got.Blocks[0].Text != want {
			t.Errorf("%s: %v\ngives %+v\nwant %s", name, err, got.Blocks, want)
		}
	}
	text, err := Read("c.html", []byte("<h1><del>Old</del></h1><p>a</p><del><p>b</p><p>c</p></del>d<pre><s>e</s></pre>f"))
	if got := show(text); err != nil || got != "= c\n[~~Old~~] a⏎⏎~~b~~⏎⏎~~c~~⏎⏎d⏎⏎e⏎⏎f\n" {
		t.Errorf("%v, %s", err, got)
	}
}

// TestFormulasKeepTheirForm holds that a fraction or a power in a formula is not another number.
func TestFormulasKeepTheirForm(t *testing.T) {
	r := func(text string) string { return "<m:r><m:t>" + text + "</m:t></m:r>" }
	office := "<m:oMath><m:f><m:fPr/><m:num>" + r("1") + "</m:num><m:den>" + r("2") + "</m:den></m:f>" + r("=") + "<m:sSup><m:e>" + r("10") + "</m:e><m:sup>" + r("6") + "</m:sup></m:sSup>" +
		r("+") + "<m:rad><m:deg/><m:e>" + r("16") + "</m:e></m:rad>" + r("+") + "<m:rad><m:deg>" + r("3") + "</m:deg><m:e>" + r("8") + "</m:e></m:rad>" + r("+x") + "<m:sSub><m:e/><m:sub>" + r("1") + "</m:sub></m:sSub></m:oMath>"
	page := `<math><semantics><mrow>
		<mfrac><mn>1</mn><mn>2</mn></mfrac><mo>=</mo><msup><mn>10</mn><mn>6</mn></msup><mo>+</mo><msqrt><mn>16</mn></msqrt><mo>+</mo><mroot><mn>8</mn><mn>3</mn></mroot>
		<mo>+</mo><msub><mi>x</mi><mn>1</mn></msub></mrow><annotation encoding="application/x-tex">\frac{1}{2}</annotation></semantics></math>`
	for name, in := range map[string][]byte{
		"a.docx": wordFile(t, "<w:p><w:r><w:t>so </w:t></w:r>"+office+"<w:r><w:t> is</w:t></w:r></w:p>"),
		"a.pptx": slideFile(t, "<p:sld><a:p><a:r><a:t>so </a:t></a:r><a14:m>"+office+"</a14:m><a:r><a:t> is</a:t></a:r></a:p></p:sld>"),
		"a.html": []byte("<p>so " + page + " is</p>"),
	} {
		got, err := Read(name, in)
		if want := "so (1)/(2)=10^6+√(16)+√[3](8)+x1 is"; err != nil || len(got.Blocks) == 0 || got.Blocks[0].Text != want {
			t.Errorf("%s: %v\ngives %+v\nwant %s", name, err, got.Blocks, want)
		}
	}
}

// TestMergedCellsCountInEachOfTheirRows holds that below a row of names each value of a long table
// has the name of its column, and each row what a cell of several rows says, in every format.
func TestMergedCellsCountInEachOfTheirRows(t *testing.T) {
	long := strings.Repeat("x", 700) // so that the table is longer than a passage
	want := "City: Oslo; Street: A; Nr: 1\nCity: Oslo; Street: " + long + "; Nr: 2\nCity: Bonn; Street: both\nCity: Rome; Street: " + long + "; Nr: 4"
	// (a|b: a cell of a rows and b columns; ^ a cell below another, - one beside it)
	rows := [][][3]string{{{"City"}, {"Street"}, {"Nr"}}, {{"Oslo", "2", "1"}, {"A"}, {"1"}}, {{"^"}, {long}, {"2"}},
		{{"Bonn"}, {"both", "1", "2"}, {"-"}}, {{"Rome"}, {long}, {"4"}}}
	table := func(whole, row string, cell func(text, down, span string) string) string {
		all := ""
		for _, r := range rows {
			cells := ""
			for _, c := range r {
				cells += cell(c[0], c[1], c[2])
			}
			all += fmt.Sprintf(row, cells)
		}
		return fmt.Sprintf(whole, all)
	}
	drop := func(form string) func(text, down, span string) string {
		return func(text, down, span string) string {
			if text == "^" || text == "-" {
				return ""
			}
			return strings.NewReplacer("DOWN", max(down, "1"), "SPAN", max(span, "1"), "TEXT", text).Replace(form)
		}
	}
	keep := func(form, below, beside string) func(text, down, span string) string {
		return func(text, down, span string) string {
			switch text {
			case "^":
				return below
			case "-":
				return beside
			}
			return drop(form)(text, down, span)
		}
	}
	for name, in := range map[string][]byte{
		"a.html": []byte(table("<table><caption>All</caption><tbody>%s</table>", "<tr>%s</tr>", drop(`<td rowspan="DOWN" colspan="SPAN">TEXT</td>`))),
		"a.docx": wordFile(t, table("<w:tbl>%s</w:tbl>", "<w:tr>%s</w:tr>", func(text, down, span string) string {
			if text == "-" {
				return ""
			}
			merge := map[bool]string{true: `<w:vMerge w:val="restart"/>`}[down == "2"]
			if text == "^" {
				text, merge = "", "<w:vMerge/>"
			}
			return `<w:tc><w:tcPr><w:gridSpan w:val="` + max(span, "1") + `"/>` + merge + `</w:tcPr><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:tc>`
		})),
		"a.pptx": slideFile(t, table("<p:sld><a:tbl>%s</a:tbl></p:sld>", "<a:tr>%s</a:tr>",
			keep(`<a:tc rowSpan="DOWN" gridSpan="SPAN"><a:p><a:r><a:t>TEXT</a:t></a:r></a:p></a:tc>`, `<a:tc vMerge="1"><a:p/></a:tc>`, `<a:tc hMerge="1"><a:p/></a:tc>`))),
		"a.ods": odfFile(t, table(`<office:spreadsheet><table:table table:name="All">%s</table:table></office:spreadsheet>`, "<table:table-row>%s</table:table-row>",
			keep(`<table:table-cell table:number-rows-spanned="DOWN" table:number-columns-spanned="SPAN"><text:p>TEXT</text:p></table:table-cell>`, "<table:covered-table-cell/>", "<table:covered-table-cell/>"))),
		"a.xlsx": mergedSheet(t, long),
		"a.hwpx": zipOf(t, map[string]string{"Contents/section0.xml": table("<hs:sec><hp:p><hp:run><hp:tbl>%s</hp:tbl></hp:run></hp:p></hs:sec>", "<hp:tr>%s</hp:tr>",
			drop(`<hp:tc><hp:subList><hp:p><hp:run><hp:t>TEXT</hp:t></hp:run></hp:p></hp:subList><hp:cellSpan colSpan="SPAN" rowSpan="DOWN"/></hp:tc>`))}),
	} {
		got, err := Read(name, in)
		if err != nil || len(got.Blocks) == 0 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := got.Blocks[0].Text; !strings.HasSuffix(text, "City | Street | Nr\n"+want) {
			t.Errorf("%s gives\n%s\nwant\n%s", name, text, want)
		}
	}
}

// mergedSheet is a sheet with the table of TestMergedCellsCountInEachOfTheirRows.
func mergedSheet(t *testing.T, long string) []byte {
	book := excelize.NewFile()
	for i, row := range [][]any{{"City", "Street", "Nr"}, {"Oslo", "A", 1}, {nil, long, 2}, {"Bonn", "both"}, {"Rome", long, 4}} {
		must.OK(t, book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row))
	}
	for _, m := range [][2]string{{"A2", "A3"}, {"B4", "C4"}, {"F9", "F99"}} {
		must.OK(t, book.MergeCell("Sheet1", m[0], m[1]))
	}
	var b bytes.Buffer
	must.OK(t, book.Write(&b))
	return b.Bytes()
}

// TestMergedCellsAreBounded holds that cells of a thousand rows and columns do not fill the memory.
func TestMergedCellsAreBounded(t *testing.T) {
	page := "<table><tr>" + strings.Repeat(`<td rowspan="60000" colspan="1000">a`, 100) + strings.Repeat("<tr><td>b", 50_000) + "</table>"
	got, err := Read("a.html", []byte(page))
	if size := len(fmt.Sprint(got.Blocks)); err != nil || size > 8<<20 {
		t.Errorf("%d bytes of text, %v", size, err)
	}
}
