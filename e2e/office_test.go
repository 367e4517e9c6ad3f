package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"toolnorm/internal/test/must"
	"toolnorm/tools/kb/chunk"
)

// officePrograms are what the files are made and converted with.
type officePrograms struct{ python, office, pdf string }

// officeSetUp finds the programs, or skips the test.
func officeSetUp(t *testing.T) officePrograms {
	t.Helper()
	p := officePrograms{}
	var err error
	if p.python, err = officePython(); err == nil {
		if p.office, err = exec.LookPath("soffice"); err == nil {
			p.pdf, err = exec.LookPath("pdftotext")
		}
	}
	if err != nil {
		t.Skipf("LibreOffice, poppler and what makes office files are not installed (run e2e/install.sh office): %v", err)
	}
	return p
}

// officePython is the Python that has the libraries.
func officePython() (string, error) {
	if at := os.Getenv("TOOLNORM_OFFICE_PYTHON"); at != "" {
		return at, nil
	}
	return sdkPython("office")
}

// officeSeeds are those of the files; the second was held out.
var officeSeeds = []int{1, 1_000_003}

// TestOfficeFilesSayWhatOtherProgramsRead makes files with the usual libraries and has LibreOffice
// save them again in its formats. What was written has to be found in each, what was deleted or
// hidden must not, and of the words that LibreOffice and poppler read at most one in a hundred may
// be missing.
func TestOfficeFilesSayWhatOtherProgramsRead(t *testing.T) {
	p := officeSetUp(t)
	files := 8
	if n, err := strconv.Atoi(os.Getenv("TOOLNORM_OFFICE_FILES")); err == nil {
		files = n
	}
	seeds := officeSeeds
	if n, err := strconv.Atoi(os.Getenv("TOOLNORM_OFFICE_SEED")); err == nil {
		seeds = []int{n}
	}
	for _, seed := range seeds {
		dir := t.TempDir()
		p.run(t, p.python, "office/make.py", dir, strconv.Itoa(seed), strconv.Itoa(files))
		p.convert(t, dir)
		sums := map[string]*recall{}
		p.eachFile(t, dir, sums)
		for kind, sum := range sums {
			t.Logf("seed %d, %s: %d files, %d words, recall %.4f", seed, kind, sum.files, sum.all, sum.share())
			if sum.share() < .99 {
				t.Errorf("seed %d, %s: a recall of %.4f", seed, kind, sum.share())
			}
		}
	}
}

// TestPDFsSayWhatPopplerReads compares the PDFs below TOOLNORM_PDFS with poppler, page by page
// without the running heads and feet, which are left out here.
func TestPDFsSayWhatPopplerReads(t *testing.T) {
	dir := os.Getenv("TOOLNORM_PDFS")
	if dir == "" {
		t.Skip("TOOLNORM_PDFS names no folder of PDFs")
	}
	p := officeSetUp(t)
	var files []string
	err := filepath.WalkDir(dir, func(at string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(at, ".pdf") {
			files = append(files, at)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no PDFs in %s: %v", dir, err)
	}
	for _, file := range files {
		out := filepath.Join(t.TempDir(), "out.txt")
		p.run(t, p.pdf, file, out)
		text := must.Read(t, out)
		sums := map[string]*recall{}
		p.one(t, file, "", withoutHeads(string(text)), sums)
		for _, sum := range sums {
			t.Logf("%s: %d words, recall %.4f", filepath.Base(file), sum.all, sum.share())
			if sum.share() < .99 {
				t.Errorf("%s: a recall of %.4f", filepath.Base(file), sum.share())
			}
		}
	}
}

// withoutHeads leaves out the first and the last lines of pages that many pages have.
func withoutHeads(text string) string {
	pages := strings.Split(text, "\f")
	count := map[string]int{}
	key := func(line string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, line)
	}
	ends := func(page string, do func(line string)) {
		lines := strings.Split(strings.Trim(page, "\n"), "\n")
		for i, line := range lines {
			if i < 4 || i >= len(lines)-4 {
				do(line)
			}
		}
	}
	for _, page := range pages {
		ends(page, func(line string) { count[key(line)]++ })
	}
	for i, page := range pages {
		ends(page, func(line string) {
			if count[key(line)] >= 3 {
				pages[i] = strings.Replace(pages[i], line, "", 1)
			}
		})
	}
	return strings.Join(pages, "\n")
}

// recall counts the words of another reader that ours has as well.
type recall struct{ files, all, found int }

// share is the part that was found.
func (r *recall) share() float64 { return float64(r.found) / float64(max(1, r.all)) }

// run runs a program, which must not fail.
func (p *officePrograms) run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// convert has LibreOffice save the files in other formats, and as the texts that it reads in them.
func (p *officePrograms) convert(t *testing.T, dir string) {
	t.Helper()
	for _, c := range []struct{ files, to, kind string }{
		{"word*.docx", "again", "odt"}, {"word*.docx", "again", "docx:MS Word 2007 XML"}, {"word*.docx", "again", "pdf"},
		{"sheet*.xlsx", "again", "ods"}, {"slides*.pptx", "again", "odp"}, {"slides*.pptx", "ref", "pdf"},
		{"word*.docx", "ref", "txt:Text (encoded):UTF8"},
		{"sheet*.xlsx", "ref", "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,false,false,false,-1"},
	} {
		files, err := filepath.Glob(filepath.Join(dir, c.files))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", c.files, err)
		}
		p.run(t, p.office, append([]string{
			"-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--headless",
			"--convert-to", c.kind, "--outdir", filepath.Join(dir, c.to),
		}, files...)...)
	}
}

// eachFile compares each file that was made, and each that LibreOffice saved again.
func (p *officePrograms) eachFile(t *testing.T, dir string, sums map[string]*recall) {
	t.Helper()
	wants, err := filepath.Glob(filepath.Join(dir, "*.want"))
	if err != nil || len(wants) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, want := range wants {
		made := strings.TrimSuffix(want, ".want")
		stem := strings.TrimSuffix(filepath.Base(made), filepath.Ext(made))
		again, _ := filepath.Glob(filepath.Join(dir, "again", stem+".*"))
		for _, file := range append([]string{made}, again...) {
			reference := p.reference(t, dir, stem, linesIn(t, made+".never"))
			if filepath.Ext(file) == ".pdf" {
				p.run(t, p.pdf, file, file+".txt")
				reference = strings.ReplaceAll(strings.Join(linesIn(t, file+".txt"), "\n"), "footer of the page", "") // is left out
			}
			p.one(t, file, made, reference, sums)
		}
	}
}

// reference is what LibreOffice or poppler reads in a file, without the hidden sheets and the
// deleted words that LibreOffice shows.
func (p *officePrograms) reference(t *testing.T, dir, stem string, never []string) (text string) {
	t.Helper()
	whole, _ := filepath.Glob(filepath.Join(dir, "ref", stem+".*"))
	sheets, _ := filepath.Glob(filepath.Join(dir, "ref", stem+"-*"))
	sheets = slices.DeleteFunc(sheets, func(at string) bool {
		return slices.ContainsFunc(never, func(name string) bool { return strings.HasSuffix(at, "-"+name+".csv") })
	})
	for _, at := range append(whole, sheets...) {
		if filepath.Ext(at) == ".pdf" {
			p.run(t, p.pdf, at, at+".txt")
			at += ".txt"
		} else if strings.HasSuffix(at, ".pdf.txt") {
			continue
		}
		text += string(must.Read(t, at)) + "\n"
	}
	for _, word := range never {
		text = strings.ReplaceAll(text, word, "")
	}
	return text
}

// one compares one file.
func (p *officePrograms) one(t *testing.T, file, made, reference string, sums map[string]*recall) {
	t.Helper()
	got, err := chunk.Read(file, must.Read(t, file))
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if len(got.Problems) > 0 && !strings.Contains(got.Problems[0], "hidden") {
		t.Logf("%s: %q", filepath.Base(file), got.Problems)
	}
	text := got.Title
	for _, b := range got.Blocks {
		text += "\n" + b.Heading + "\n" + b.Text
	}
	squeezed := squeeze(text)
	if made != "" && !strings.HasSuffix(file, ".pdf") { // where phrases end with lines, and what was deleted is shown as such
		for _, phrase := range linesIn(t, made+".want") {
			if !strings.Contains(squeezed, squeeze(phrase)) {
				t.Errorf("%s: %q is missing", filepath.Base(file), phrase)
			}
		}
		for _, phrase := range linesIn(t, made+".never") {
			if strings.Contains(squeezed, squeeze(phrase)) {
				t.Errorf("%s: %q was deleted or is hidden", filepath.Base(file), phrase)
			}
		}
	}
	kind := filepath.Base(filepath.Dir(file)) + filepath.Ext(file)
	if reference == "" { // .want says it all
		return
	}
	if sums[kind] == nil {
		sums[kind] = new(recall)
	}
	sums[kind].files++
	words := map[string]int{}
	for _, w := range wordsOf(text) {
		words[w]++
	}
	// Lines of slides and of PDFs end within words, axes of charts have numbers, and lists of
	// OpenDocument are counted by the program.
	loosely := strings.HasPrefix(filepath.Base(file), "slides") || made != "" && (filepath.Ext(file) == ".pdf" || filepath.Ext(file) == ".odt")
	var missing []string
	for _, w := range wordsOf(reference) {
		sums[kind].all++
		if words[w]--; words[w] >= 0 || (loosely || strings.ContainsFunc(w, wide)) && (strings.Contains(squeezed, w) || !strings.ContainsFunc(w, unicode.IsLetter)) {
			sums[kind].found++
		} else if !slices.Contains(missing, w) && len(missing) < 10 {
			missing = append(missing, w)
		}
	}
	if len(missing) > 0 && testing.Verbose() {
		t.Logf("%s lacks %q", filepath.Base(file), missing)
	}
}

// linesIn are the lines of a file.
func linesIn(t *testing.T, at string) []string {
	t.Helper()
	data := must.Read(t, at)
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// squeeze is a text without blanks, since blanks between words of Japanese come and go.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// wide reports whether a character is of a script whose lines end within words.
func wide(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// wordsOf are the words of a text. Each character that is no letter ends one.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
