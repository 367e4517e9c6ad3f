package chunk

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// TestADamagedEndOrBeginningCostsNoPage damages what surrounds the objects of a file, in every way
// that transfers, editors and programs do, and holds that each page is read. The last seeds are
// held out.
func TestADamagedEndOrBeginningCostsNoPage(t *testing.T) {
	tail := regexp.MustCompile(`(?s)xref\s+0 .*$`)
	for seed := range uint64(120) {
		if seed >= 80 {
			seed += 1_000_003
		}
		r := rand.New(rand.NewPCG(seed, 0))
		var contents, want []string
		for i := range 1 + r.IntN(4) {
			want = append(want, fmt.Sprintf("page%dword", i))
			contents = append(contents, fmt.Sprintf("BT /F1 12 Tf 72 700 Td (%s 1 0 obj) Tj ET", want[i]))
		}
		file := pdfOf(t, contents...)
		if r.IntN(3) == 0 {
			file = packedPDF(t, want)
		}
		at := tail.FindIndex(file)[0]
		var did []string
		for range 1 + r.IntN(2) {
			var what string
			switch r.IntN(8) {
			case 0:
				what, file = "a header in front", append([]byte("HTTP/1.1 200 OK\r\n\r\n"), file...)
			case 1:
				what, file = "line ends behind", append(file, bytes.Repeat([]byte{'\n'}, 500+r.IntN(9000))...)
			case 2:
				what, file = "zeros behind", append(file, make([]byte, 100+r.IntN(5000))...)
			case 3:
				what, file = "a page of HTML behind", append(file, "<html>"+strings.Repeat("<p>x", 900)...)
			case 4:
				what, file = "no startxref", bytes.Replace(file, []byte("startxref"), []byte("%tartxref"), 1)
			case 5:
				what, file = "a wrong startxref", regexp.MustCompile(`startxref\s+\d+`).ReplaceAll(file, fmt.Appendf(nil, "startxref\n%d", r.IntN(5000)))
			case 6:
				if cut := at + r.IntN(max(1, len(file)-at)); cut < len(file) && did == nil {
					what, file = "cut behind the objects", file[:cut]
				}
			case 7:
				what, file = "other line ends", bytes.Replace(file, []byte("\n"), []byte("\r\n"), 1+r.IntN(3))
			}
			did = append(did, what)
		}
		got, err := Read("x.pdf", file)
		for _, word := range want {
			if err != nil || !strings.Contains(show(got), word) {
				t.Errorf("seed %d, %q: %s is missing: %v, %q", seed, did, word, err, got.Problems)
				break
			}
		}
	}
}

// packedPDF is a PDF whose catalog, pages and font are packed in a stream of objects, as all of
// today's programs write it. It has a classic list of the others alone, which a reader can do
// little with.
func packedPDF(t *testing.T, words []string) []byte {
	t.Helper()
	var kids, inside []string
	for i := range words {
		kids = append(kids, fmt.Sprintf("%d 0 R", 10+i))
		inside = append(inside, fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>", 30+i))
	}
	inside = append(inside, "<</Type/Catalog/Pages 2 0 R>>", fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(words), strings.Join(kids, " ")), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	head, body := "", ""
	for i, text := range inside {
		number := 10 + i
		if i >= len(words) {
			number = i - len(words) + 1
		}
		head += fmt.Sprintf("%d %d ", number, len(body))
		body += text + " "
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprint(z, head, body)
	must.OK(t, z.Close())
	file := fmt.Appendf(nil, "%%PDF-1.5\n5 0 obj\n<</Type/ObjStm/N %d/First %d/Filter/FlateDecode/Length %d>>stream\n%s\nendstream\nendobj\n", len(inside), len(head), packed.Len(), packed.String())
	for i, word := range words {
		content := fmt.Sprintf("BT /F1 12 Tf 72 700 Td (%s) Tj ET", word)
		file = fmt.Appendf(file, "%d 0 obj\n<</Length %d>>stream\n%s\nendstream\nendobj\n", 30+i, len(content), content)
	}
	return append(file, "xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 60/Root 1 0 R>>\nstartxref\n7\n%%EOF\n"...)
}

// TestEncryptionThatCannotBeReadIsNamed has a file of AES-256, which takes no password to read and
// which the library does not know.
func TestEncryptionThatCannotBeReadIsNamed(t *testing.T) {
	key := strings.Repeat("00", 48)
	lock := "/Encrypt<</Filter/Standard/V 5/R 6/Length 256/P -4/O<" + key + ">/U<" + key + ">/OE<" + key[:64] + ">/UE<" + key[:64] + ">/Perms<" + key[:32] +
		">/CF<</StdCF<</CFM/AESV3/Length 32/AuthEvent/DocOpen>>>>/StmF/StdCF/StrF/StdCF>>/ID[<00><00>]"
	file := bytes.Replace(pdfOf(t, "BT /F1 12 Tf 72 700 Td (Twenty) Tj ET"), []byte("/Root 1 0 R"), []byte("/Root 1 0 R"+lock), 1)
	if got, err := Read("x.pdf", file); err == nil || !strings.Contains(err.Error(), "it is encrypted") {
		t.Errorf("%v: %s", err, show(got))
	}
}

// TestTitlesAndLettersThatSayNothing holds that placeholders are no titles, and that a page whose
// font names no letters is told and not imported.
func TestTitlesAndLettersThatSayNothing(t *testing.T) {
	for title, kept := range map[string]bool{"(anonymous)": false, "untitled": false, "Untitled": false, "Microsoft Word - a.doc": false, " ": false, "Leave": true, "Untitled works": true} {
		if noTitle.MatchString(title) == kept {
			t.Errorf("%q", title)
		}
	}
	good := "BT /F1 12 Tf 72 700 Td (Twenty days are granted a year) Tj ET"
	got, err := Read("x.pdf", pdfOf(t, good, "BT /F1 12 Tf 72 700 Td ("+strings.Repeat("fifi fl ", 20)+") Tj ET", "BT /F1 12 Tf 72 700 Td (0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0) Tj ET"))
	if said := show(got); err != nil || !strings.Contains(said, "Twenty") || strings.Contains(said, "fifi") || !strings.Contains(said, "0 0 0") || len(got.Problems) != 1 {
		t.Errorf("%v, %q: %s", err, got.Problems, said)
	}
}
