package chunk

import (
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// TestWordsOfPDFsAsProgramsWriteThem holds what other programs do in place of blanks and of
// letters.
func TestWordsOfPDFsAsProgramsWriteThem(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"Ghostscript: the blank is the space between the last letter of a word and the first of the next": {
			"BT /F1 10 Tf 72 700 Td (recei) Tj -0.15 Tc 25 0 Td (ve) Tj 2.776 Tc 9.7 0 Td (st) Tj 0 Tc 12.776 0 Td (wenty ) Tj 3.164 Tc 30 0 Td [(so)316.4(fi)316.4(tb)]TJ ET", "receives twenty s of it b"},
		"letters set wide": {"BT /F1 10 Tf 72 700 Td 4 Tc (CHAPTER) Tj ET", "CHAPTER"},
		"the text in place of the letters": {
			"BT /F1 10 Tf 72 700 Td /Span<</ActualText<FEFFD68CC758>>>BDC (\x01) Tj (\x01) Tj EMC /P<</MCID 0>>BDC ( room) Tj EMC ET", "회의 room"},
		"a text for nothing": {"BT /F1 10 Tf 72 700 Td (a) Tj /Span<</ActualText()>>BDC (-) Tj EMC (b) Tj ET", "ab"},
	} {
		got, err := textOfPDF(pdfOf(t, c.page))
		if err != nil || len(got.Blocks) != 1 || got.Blocks[0].Text != c.want {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, c.want)
		}
	}
}

// TestLockedFilesThatOpenForAnybodyAreRead reads one that qpdf locked with a password for its
// owner, of 256 bits; what groff wrote in it has a map of letters with the ligatures alone.
func TestLockedFilesThatOpenForAnybodyAreRead(t *testing.T) {
	data := must.Read(t, "testdata/locked.pdf")
	got, err := textOfPDF(data)
	if err != nil || !strings.Contains(show(got), "and efficient offices keep a list. Unused days are moved to the next year") {
		t.Errorf("%s, %v", show(got), err)
	}
	for i := range 60 { // no byte of it ends the program
		hurt := append([]byte{}, data...)
		hurt[(i*7919+13)%len(hurt)] ^= 0xff
		_, _ = textOfPDF(hurt)
	}
}

// TestPagesThatSayOtherLettersThanTheyShowAreLeftOut shows what fonts without a map of their
// letters give, and what looks alike and is text.
func TestPagesThatSayOtherLettersThanTheyShowAreLeftOut(t *testing.T) {
	shifted := strings.Map(func(r rune) rune { return r - 29 }, strings.Repeat("Every employee receives twenty days of leave ", 8))
	for text, want := range map[string]bool{
		shifted: true, strings.Repeat("\ue001\ue002\ue003 ", 30): true, strings.Repeat("fi fl ", 30): true,
		strings.Repeat("Every employee receives twenty days. ", 10): false, strings.Repeat("strč prst skrz krk, vlk zmrzl. Příliš žluťoučký kůň úpěl. ", 10): false,
		strings.Repeat("第三条 休暇 ", 60): false, "\ue001 Twenty days": false, strings.Repeat("\ue001 Twenty days of leave. ", 30): false,
	} {
		if got := meaningless([]line{{text: text}}); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// TestTextInAFontWithoutLettersIsReported shows a page of which half is in a font that has numbers
// of pictures alone.
func TestTextInAFontWithoutLettersIsReported(t *testing.T) {
	page := "BT /F1 10 Tf 72 700 Td (Twenty days) Tj /F2 10 Tf 0 -20 Td <" + strings.Repeat("0AF3", 30) + "> Tj ET"
	file := strings.Replace(string(pdfOf(t, page)), "/ToUnicode 6 0 R", "/Unused    6 0 R", 1)
	got, err := textOfPDF([]byte(file))
	if err != nil || show(got) != "= \n[] Twenty days\n" || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "page 1") {
		t.Errorf("%+v, %v", got, err)
	}
}
