package chunk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/unicode/norm"

	"toolnorm/internal/aside"
)

// mostPages is how many pages a PDF may have. The bounds of one page are in pdf_page.go.
const mostPages = 5000

// pageTime bounds how long reading one page, or opening the file, may take.
const pageTime = 10 * time.Second

// textOfPDF reads the text of a PDF. It repairs a damaged file, and decrypts a file that needs no
// password. Pages that cannot be read are reported in the text's problems. It returns an error if
// the file cannot be opened, is too large, or has no text, such as a scanned PDF, in which letters
// are pictures.
func textOfPDF(data []byte) (t Text, err error) {
	defer func() { // the library may panic on a broken file
		if broken := recover(); broken != nil {
			err = errNoPDF
		}
	}()
	pages, title, err := openedPDF(data)
	if errors.Is(err, errNoPDF) || err == nil && !readable(pages) {
		if again, name, wrong := openedPDF(repairedPDF(data)); wrong == nil && readable(again) {
			pages, title, err = again, name, nil
			t.tell("its list of objects is damaged; what could be found was read")
		}
	}
	if errors.Is(err, errLocked) {
		if again, _, wrong := openedPDF(unlockedPDF(data)); wrong == nil && readable(again) {
			pages, err = again, nil
		}
	}
	if err != nil {
		return t, err
	}
	t.Title = title
	if len(pages) > mostPages {
		return t, fmt.Errorf("it has more than %d pages", mostPages)
	}
	var shown [][]line
	size := 0
	for i, p := range pages {
		lines, err := linesOfPage(p)
		if err == nil && meaningless(lines) {
			lines, err = nil, errors.New("its font does not say which letters it shows")
		}
		if err != nil && len(t.Problems) < mostProblems {
			t.Problems = append(t.Problems, fmt.Sprintf("page %d cannot be read: %v", i+1, err))
		}
		for _, l := range lines {
			if size += len(l.text); size > mostText {
				return t, fmt.Errorf("it has more than %d bytes of text", mostText)
			}
		}
		shown = append(shown, lines)
	}
	t.Blocks = paragraphs(withoutHeads(shown))
	if len(t.Blocks) == 0 && len(t.Problems) > 0 {
		return t, errors.New(t.Problems[0])
	}
	if len(t.Blocks) == 0 {
		return t, errors.New(
			"there is no text in it; a scanned PDF needs text recognition (OCR) first")
	}
	return t, nil
}

// The errors of files that cannot be opened.
var (
	errNoPDF  = errors.New("it is not a PDF that can be read; it may be cut off")
	errLocked = errors.New(
		"it is encrypted, in a way that needs a password or cannot be read; import one without encryption")
)

// openedPDF returns the pages of a file and its title. It returns errNoPDF, errLocked or errSlow if
// the file cannot be opened.
func openedPDF(data []byte) (pages []leaf, title string, err error) {
	var opened error
	err = inTime(func() {
		var file *pdf.Reader
		if file, opened = pdf.NewReader(bytes.NewReader(data), int64(len(data))); opened != nil {
			return
		}
		pages = pagesOf(file).pages
		_ = guarded(func() { title = file.Trailer().Key("Info").Key("Title").Text() })
	})
	switch err = cmp.Or(err, opened); {
	case errors.Is(err, errSlow):
		return nil, "", err
	// the library has no names for these
	case errors.Is(err, pdf.ErrInvalidPassword),
		err != nil && strings.Contains(err.Error(), "encrypt"):
		return nil, "", errLocked
	case err != nil:
		return nil, "", errNoPDF
	}
	if noTitle.MatchString(title) {
		title = ""
	}
	return pages, title, nil
}

// readable reports whether at least one page can be read.
func readable(pages []leaf) bool {
	return slices.ContainsFunc(pages, func(p leaf) bool { return p.err == nil })
}

// noTitle matches placeholders that programs write instead of a title.
var noTitle = regexp.MustCompile(
	`(?i)^\W*(anonymous|untitled|unspecified|unknown|no title|title|document|microsoft word - .*)?\W*$`)

// mostProblems is how many pages that cannot be read are reported.
const mostProblems = 20

// meaningless reports whether the text of a page cannot be what the page shows, since the font does
// not say which letters its signs are. Such a text has very few different letters, many control
// characters (blanks in another encoding), or many private-use characters.
func meaningless(lines []line) bool {
	kinds := map[rune]bool{}
	n, controls, private := 0, 0, 0
	for _, l := range lines {
		for _, r := range norm.NFKC.String(l.text) {
			switch {
			case unicode.Is(unicode.Co, r):
				private++
			case r < ' ' && !unicode.IsSpace(r):
				controls++
			case unicode.IsLetter(r):
				kinds[r] = true
				n++
			}
		}
	}
	return n >= 40 && len(kinds) <= 4 || controls >= 20 && controls > n/20 ||
		private >= 20 && private > n/4
}

// linesOfPage reads the lines of one page. It returns an error if that takes too long or the PDF
// library panics, so that only this page is left out. If a font cannot be read, it returns the
// other lines and an error.
func linesOfPage(p leaf) ([]line, error) {
	if p.err != nil {
		return nil, p.err
	}
	var lines []line
	var wrong error
	err := inTime(func() {
		pieces, err := piecesOf(p, time.Now().Add(pageTime))
		lines, wrong = linesOf(pieces), err
	})
	if err != nil { // do may still be running and writing to lines
		return nil, err
	}
	return lines, wrong
}

// inTime calls the function do and waits until it returns, but only for a limited time. The PDF
// library may panic or never end, for example because a list of parts contains itself. inTime
// returns an error if do panics, or errSlow if do takes too long. In that case do goes on in the
// background until the process ends.
func inTime(do func()) error {
	done := make(chan error, 1)
	go func() { done <- guarded(do) }() // ends with the work, or with the process
	select {
	case err := <-done:
		return err
	case <-time.After(pageTime + time.Second):
		aside.Spent()
		return errSlow
	}
}

// errSlow is the error for a page or a file that takes too long.
var errSlow = fmt.Errorf("it takes longer than %v to read", pageTime)

// line is the text at one height of a page. A PDF has no lines. It places strings, and often each
// word separately.
type line struct {
	text string
	size float64 // size of its largest letters
	gap  float64 // distance to the line above; 0: it is the first on its page
}

// linesOf joins the texts that a page shows at single positions into lines. The lines stay in the
// order of the file, which is the reading order even on a page with columns.
func linesOf(pieces []piece) (all []line) {
	var text strings.Builder
	var last piece
	var size, above float64
	end := func() {
		// removes signs that could not be decoded
		if s := strings.TrimSpace(ligatures.Replace(text.String())); s != "" {
			gap := 0.0
			if len(all) > 0 {
				gap = math.Abs(above - last.y)
			}
			all, above = append(all, line{s, size, gap}), last.y
		}
		text.Reset()
		size = 0
	}
	for _, at := range pieces {
		if text.Len() > 0 && math.Abs(at.y-last.y) > max(at.size, last.size)/2 {
			end()
		}
		// Many PDFs have no blanks, and place each word separately.
		if gap := at.x - last.end; text.Len() > 0 && (gap > at.size*wordGap || gap < -at.size*2) &&
			!strings.HasSuffix(text.String(), " ") && !strings.HasPrefix(at.text, " ") {
			text.WriteByte(' ')
		}
		text.WriteString(at.text)
		size, last = max(size, at.size), at
	}
	end()
	return numbersOff(all)
}

// ligatures replaces signs for several letters by the letters, and removes signs that could not be
// decoded.
var ligatures = strings.NewReplacer("\uFFFD", "", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ",
	"ffl", "ﬅ", "st", "ﬆ", "st")

// numbersOff removes the page number, which would otherwise be in the middle of a paragraph that
// continues on the next page. It looks only at the first and the last line, because a number alone
// in the middle is a cell of a table.
func numbersOff(page []line) []line {
	number := func(l line) bool {
		return strings.Trim(l.text, "0123456789-– ") == "" && len(l.text) <= 8
	}
	if len(page) > 0 && number(page[0]) {
		page = page[1:]
	}
	if len(page) > 0 && number(page[len(page)-1]) {
		page = page[:len(page)-1]
	}
	return page
}

// paragraphs joins lines that are close to each other into blocks, below headings, which are lines
// with larger letters than most of the text. Both measures are relative to the file, because a
// slide may have letters of 24 points, and a book may have double line spacing.
func paragraphs(lines []line) []Block {
	body := most(lines, func(l line) (float64, int) { return l.size, len(l.text) })
	usual := most(lines, func(l line) (float64, int) { return l.gap, min(1, int(l.gap)) })
	var h headed
	var text string
	var last line
	flush := func() {
		h.add(text)
		text = ""
	}
	for _, l := range lines {
		if l.size > body*1.15 && columns(l.text) <= 120 {
			flush()
			level := int(1000 - l.size*4) // the larger, the higher
			if h.lone && last.size == l.size {
				l.text = h.titles[len(h.titles)-1] + " " + l.text // a heading of two lines
				h.lone = false
			}
			h.heading(level, l.text)
			last = l
			continue
		}
		if l.gap > usual*1.3 {
			flush()
		}
		last = l
		text = joined(text, l.text)
	}
	flush()
	h.restart()
	return h.Blocks
}

// most returns the most common value of lines, rounded to half a point. The given function returns
// the value of a line and how much the line counts, usually by its length. If all lines counted
// alike, a table of contents with many short ones would decide what is common.
func most(lines []line, of func(line) (float64, int)) (best float64) {
	counts := map[float64]int{}
	for _, l := range lines {
		value, weight := of(l)
		counts[math.Round(value*2)/2] += weight
	}
	values := slices.Collect(maps.Keys(counts))
	slices.SortFunc(values, func(a, b float64) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	if len(values) > 0 {
		best = values[0]
	}
	return best
}

// joined appends the next line to a paragraph. It adds a blank unless the script has none, and
// removes the hyphen at which a word was divided. A hyphen before a capital stays, as in E-Mail.
// The hyphen of a compound word at a line end is lost too, since no rule can distinguish the two.
func joined(text, next string) string {
	if text == "" {
		return next
	}
	before, after := []rune(text), []rune(next)
	last := before[len(before)-1]
	switch {
	case (last == '-' || last == '\u2010' || last == '\u00ad') && len(before) > 1 &&
		unicode.IsLower(before[len(before)-2]) && unicode.IsLower(after[0]):
		return string(before[:len(before)-1]) + next
	case columnsOf(last) == 2 && columnsOf(after[0]) == 2 && !unicode.Is(unicode.Hangul, last):
		return text + next
	}
	return text + " " + next
}
