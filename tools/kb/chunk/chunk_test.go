package chunk

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"

	"toolnorm/internal/test/must"
)

// show prints passages as the cases below have them.
func show(t Text) string {
	var b strings.Builder
	fmt.Fprintf(&b, "= %s\n", t.Title)
	for _, p := range t.Cut() {
		fmt.Fprintf(&b, "[%s] %s\n", p.Heading, strings.ReplaceAll(p.Text, "\n", "⏎"))
	}
	return b.String()
}

func TestFilesAreCutAlongTheirStructure(t *testing.T) {
	sjis := must.Have(japanese.ShiftJIS.NewEncoder().String(`<meta charset="Shift_JIS"><h1>副業</h1><p>許可が要ります。</p>`))(t)
	for _, c := range []struct{ name, in, want string }{
		{"handbook.md", "# Handbook\n\nFor all.\n\n## Leave\n\nTwenty days.\nPlus one.\n\nMore.\n\n### Sick leave ###\n\nA note.\n\n## 副業\n許可が要ります。\n",
			"= Handbook\n[] For all.\n[Leave] Twenty days.⏎Plus one.⏎⏎More.\n[Leave > Sick leave] A note.\n[副業] 許可が要ります。\n"},
		{"code.md", "---\ntitle: \"Set up\"\ntags: [a]\n---\nFirst\n=====\n\n```sh\n# no heading\n\nrun\n```\n\nSecond\n---\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~~\n# open",
			"= Set up\n[First] ```sh⏎# no heading⏎⏎run⏎```\n[First > Second] | a | b |⏎|---|---|⏎| 1 | 2 |⏎⏎~~~⏎# open\n"},
		{"toml.md", "+++\ntitle = 'Set up'\n+++\n# First {#first}\none\ftwo\vthree\n## Second ## {#s .x}\nfour", "= Set up\n[First] one⏎two⏎three\n[First > Second] four\n"},
		{"windows.md", "\ufeff# 수당\r\n\r\n월 5만 원\r\n", "= 수당\n[] 월 5만 원\n"},
		{"empty headings.md", "#\n\n##\n\ntext\n\n#hashtag\n", "= empty headings\n[] text⏎⏎#hashtag\n"},
		{"note.txt", "Remote work\n\nOne.\nTwo.\n　\nThree.\x00", "= Remote work\n[] Remote work⏎⏎One.⏎Two.⏎⏎Three.\n"},
		{"page.html", `<!doctype html><html><head><title>Rules &amp; more</title><style>p{}</style></head><body><nav>Menu</nav><h1>Leave</h1>
			<p>Twenty   <b>days</b> a&nbsp;year,<br>or more.</p><script>no()</script><ul><li>one</li><li><p>two</p></li></ul>
			<h2>Rates</h2><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre>x
  y</pre><div>in <span>a</span> div</div><p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です`,
			"= Rules & more\n[Leave] Twenty days a year,⏎or more.⏎⏎- one⏎- two\n[Leave > Rates] a | b⏎1 | 2⏎⏎x⏎  y⏎⏎in a div⏎⏎漢字です\n"},
		{"closed.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head><body><p/><a id="x"/>One <![CDATA[a < b]]><br/><textarea/>two<iframe src="y"/></body></html>`,
			"= closed\n[] One a < b⏎two\n"},
		{"numbers.html", "<ol type=a start=2><li>one<ol><li>in</ol><li>two<li value=9>three</ol><ul><li>four</ul><ol start=x type=I><li>five<li>six</ol>", "= numbers\n[] b. one⏎1. in⏎c. two⏎i. three⏎⏎- four⏎⏎I. five⏎II. six\n"},
		{"arranged.html", "<table><tr><td>One<br>two<tr><td>three</table>", "= arranged\n[] One⏎two⏎three\n"},
		{"declared.html", `<?xml version="1.0"?><html><head><title/></head><body>One</body></html>`, "= declared\n[] One\n"},
		{"hidden.html", `<body style="opacity:0"><p hidden>a</p><dialog>b</dialog><p popover>c<p style="color:red; DISPLAY : /**/ none !important">d</p><video>e</video><noscript>f</noscript><template>g</template>
			<p style="visibility:hidden">h</p><p style="font-size: 0px">i</p><table><tr hidden><td>j<td>k<tr><td>A<td style="opacity:.0">l<td>B</table><p style="font-size:0.9em" aria-hidden="true">Two<i style="mso-hide:all">m</i> days<!-- n --><dialog open>asked<p hidden><script>o</script>`,
			"= hidden\n[] A | B⏎⏎Two days⏎⏎asked\n"},
		{"comments.md", "# H\n<!-- a\n\nb --> One <!-- c -->day, `<!-- two`.\n[//]: # (d)\n<!---->\n```\n<!-- e -->\n```\nopen <!-- f\n\n> <!-- g",
			"= H\n[] One day, `<!-- two`.⏎⏎```⏎<!-- e -->⏎```⏎open <!-- f⏎⏎> <!-- g\n"},
		{"sjis.html", sjis, "= sjis\n[副業] 許可が要ります。\n"},
		{"fragment.htm", "no tags at all", "= fragment\n[] no tags at all\n"},
	} {
		got, err := Read(c.name, []byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if show(got) != c.want {
			t.Errorf("%s gives\n%swant\n%s", c.name, show(got), c.want)
		}
		if told := strings.Join(got.Problems, ""); c.name == "hidden.html" && told != "9 hidden parts are left out" {
			t.Error(told)
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a.xyz":   {"x", ".md"},
		"a.doc":   {"x", "save it as .docx"},
		"a.png":   {"x", "picture"},
		"a.txt":   {"\xff\xfe\x00", "not UTF-8"},
		"a.html":  {"<p>\xff\xfe", "not UTF-8"},
		"b.txt":   {" \n\n ", "no text"},
		"b.html":  {"<script>x</script>", "no text"},
		"a.pdf":   {"no pdf", "not a PDF"},
		"b.pdf":   {"%PDF-1.4\n1 0 obj\n<<>>\nendobj\nxref\n0 1\ntrailer\n<</Root 1 0 R>>\nstartxref\n9\n%%EOF", "PDF"},
		"big.txt": {strings.Repeat("a", LargestFile+1), "more than"},
		"pic.pdf": {string(pdfOf(t)), "OCR"},
	} {
		if got, err := Read(name, []byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestLongParagraphsAreCutBehindSentences(t *testing.T) {
	for _, sentence := range []string{
		"The amount is 3.5 million yen, as said before. ", "リモートワーク手当は月に五千円です。", "「申請はいつですか？」と聞かれます。", "수당은 매달 25일에 지급됩니다. ",
		"no end at all but words ", "終わりのない文が続いていくばかり",
	} {
		text := strings.TrimSpace(strings.Repeat(sentence, 200))
		one := Text{Blocks: []Block{{"H", text}}}
		all := one.Cut()
		if len(all) < 4 {
			t.Fatalf("%q: %d passages", sentence, len(all))
		}
		for i, p := range all {
			if n := columns(p.Text); n > mostColumns || n < mostColumns/2 && i < len(all)-1 {
				t.Errorf("a passage of %d columns: %q", n, p.Text)
			}
			ends := strings.ContainsAny(sentence, ".。")
			if ends && !strings.HasSuffix(strings.TrimSpace(p.Text), strings.TrimSpace(sentence)) || !utf8.ValidString(p.Text) {
				t.Errorf("%q is cut inside: …%q", sentence, p.Text[len(p.Text)-40:])
			}
		}
		if strings.ContainsAny(sentence, ".。") && !strings.HasPrefix(all[1].Text, strings.TrimSpace(sentence)) {
			t.Errorf("the second begins with %.60q", all[1].Text)
		}
	}
}

// The beginning of the rest is looked at for each passage, and not all of it: 4 MB are cut in the
// time of 4 MB.
func TestALineOfMegabytesIsCut(t *testing.T) {
	text := strings.Repeat("a", 4<<20)
	one := Text{Blocks: []Block{{"H", text}}}
	var again strings.Builder
	for _, p := range one.Cut() {
		again.WriteString(p.Text)
	}
	if again.String() != text {
		t.Errorf("%d of %d letters are left", again.Len(), len(text))
	}
}

func TestSmallParagraphsStayTogether(t *testing.T) {
	text := Text{Blocks: []Block{{"A", strings.Repeat("a", 700)}, {"A", strings.Repeat("b", 400)}, {"A", strings.Repeat("c", 400)}, {"B", "d"}}}
	var lengths []int
	for _, p := range text.Cut() {
		lengths = append(lengths, len(p.Text))
	}
	if fmt.Sprint(lengths) != "[1102 400 1]" {
		t.Errorf("passages of %v", lengths)
	}
}

// FuzzRead holds what every file must leave intact: the program, and passages that can be stored.
func FuzzRead(f *testing.F) {
	f.Add("a.md", []byte("# A\n\ntext. more.\n```\nx"))
	f.Add("a.html", []byte("<table><td>a<ul><li>b<pre>c<h1>d"))
	f.Add("a.txt", []byte("one。two！\n\nthree"))
	f.Add("a.pdf", pdfOf(f, "BT /F1 12 Tf 72 700 Td [(He) -300 (llo)] TJ ET"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		text, err := Read(name, data)
		if err != nil {
			return
		}
		all := text.Cut()
		if len(all) == 0 {
			t.Fatal("a text without passages")
		}
		for _, p := range all {
			if whole := p.Heading + text.Title + p.Text; !utf8.ValidString(whole) || strings.ContainsRune(whole, 0) || strings.TrimSpace(p.Text) == "" || columns(p.Text) > mostColumns {
				t.Errorf("a passage %q below %q", p.Text, p.Heading)
			}
		}
		for _, b := range text.Blocks {
			if strings.Join(sentences(b.Text), "") != b.Text {
				t.Errorf("sentences lose something of %q", b.Text)
			}
		}
	})
}
