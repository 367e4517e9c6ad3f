package chunk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// The bounds of a PDF. A small file can hold streams that unpack to gigabytes; those of one page are in pdf_page.go.
const (
	mostPages = 5000
	mostText  = 32 << 20
)

// pdfTime is how long a PDF may take. A thousand pages take some seconds. What is read here ends by itself when the time is over; the
// library may never end with a broken file: then its goroutine is lost, and the import goes on.
const pdfTime = 2 * time.Minute

// errSlow is the end of a PDF whose time is over.
var errSlow = fmt.Errorf("it takes longer than %v to read; it may be broken", pdfTime)

// readPDF reads the text of a PDF, and gives up on one that does not end.
func readPDF(_ string, data []byte) (Text, error) {
	type outcome struct {
		text Text
		err  error
	}
	done := make(chan outcome, 1)
	go func() { // ends with the file, mostly
		t, err := textOfPDF(data)
		done <- outcome{t, err}
	}()
	select {
	case o := <-done:
		return o.text, o.err
	case <-time.After(pdfTime):
		return Text{}, errSlow
	}
}

// textOfPDF reads the text of a PDF. What was scanned has none: letters are pictures there.
func textOfPDF(data []byte) (t Text, err error) {
	defer func() { // the library ends a broken file by panicking, and not in all of its functions
		if broken := recover(); broken != nil {
			err = fmt.Errorf("it is not a PDF that can be read: %v", broken)
		}
	}()
	file, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return t, errors.New("it is encrypted; import one without a password")
	case err != nil:
		return t, fmt.Errorf("it is not a PDF that can be read: %w", err)
	case file.NumPage() > mostPages:
		return t, fmt.Errorf("%d pages are more than %d", file.NumPage(), mostPages)
	}
	var lines []line
	size, until := 0, time.Now().Add(pdfTime)
	for n := 1; n <= file.NumPage(); n++ {
		pieces, err := piecesOf(file.Page(n), until)
		if err != nil {
			return t, err
		}
		for _, l := range linesOf(pieces) {
			if size += len(l.text); size > mostText {
				return t, fmt.Errorf("it has more than %d bytes of text", mostText)
			}
			lines = append(lines, l)
		}
	}
	t.Title = file.Trailer().Key("Info").Key("Title").Text()
	t.Blocks = paragraphs(lines)
	if len(t.Blocks) == 0 {
		return t, errors.New("there is no text in it; a scanned PDF needs text recognition (OCR) first")
	}
	return t, nil
}

// line is what stands at one height of a page.
// A PDF knows no lines: it places strings, and often each word by itself.
type line struct {
	text string
	size float64 // of most of its letters
	gap  float64 // to the line above; 0: it is the first of its page
}

// linesOf puts the pieces of a page together, in the order in which the file has them: that is the order of reading, where
// columns stand side by side.
func linesOf(pieces []piece) (all []line) {
	var text strings.Builder
	var last piece
	var size, above float64
	end := func() {
		if s := strings.TrimSpace(strings.ReplaceAll(text.String(), "\uFFFD", "")); s != "" { // a sign that the font has no character for
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
		// Many PDFs have no blanks, and say where each word stands.
		if gap := at.x - last.end; text.Len() > 0 && (gap > at.size*.15 || gap < -at.size*2) && !strings.HasSuffix(text.String(), " ") && !strings.HasPrefix(at.text, " ") {
			text.WriteByte(' ')
		}
		text.WriteString(at.text)
		size, last = max(size, at.size), at
	}
	end()
	return numbersOff(all)
}

// numbersOff takes the number of the page away, which would stand in the middle of a paragraph that goes over two pages.
// Only at the ends of a page: a line with nothing but a number in the middle is a cell of a table.
func numbersOff(page []line) []line {
	number := func(l line) bool { return strings.Trim(l.text, "0123456789-– ") == "" && len(l.text) <= 8 }
	if len(page) > 0 && number(page[0]) {
		page = page[1:]
	}
	if len(page) > 0 && number(page[len(page)-1]) {
		page = page[:len(page)-1]
	}
	return page
}

// paragraphs makes blocks of lines: what stands close together, below headings, which are larger than most of the text.
// Both measures are the file's own: a slide has letters of 24 points, and a book may set lines two apart.
func paragraphs(lines []line) (all []Block) {
	body := most(lines, func(l line) (float64, int) { return l.size, len(l.text) })
	usual := most(lines, func(l line) (float64, int) { return l.gap, min(1, int(l.gap)) })
	var o outline
	var text string
	var last line
	flush := func() {
		if text != "" {
			all = append(all, Block{o.path(), text})
		}
		text = ""
	}
	headed := false
	for _, l := range lines {
		if l.size > body*1.15 && columns(l.text) <= 120 {
			flush()
			level := int(1000 - l.size*4) // the larger, the higher
			if headed && last.size == l.size && len(o.titles) > 0 {
				l.text = o.titles[len(o.titles)-1] + " " + l.text // a heading of two lines
			}
			o.enter(level, l.text)
			headed, last = true, l
			continue
		}
		if l.gap > usual*1.3 || headed {
			flush()
		}
		headed, last = false, l
		text = joined(text, l.text)
	}
	flush()
	return all
}

// most is the number that most lines have, counted by weight, to half a point.
// Weighted, or a page of contents with many short lines would decide what the body is.
func most(lines []line, of func(line) (float64, int)) (best float64) {
	counts := map[float64]int{}
	for _, l := range lines {
		value, weight := of(l)
		counts[math.Round(value*2)/2] += weight
	}
	values := slices.Collect(maps.Keys(counts))
	slices.SortFunc(values, func(a, b float64) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	if len(values) > 0 {
		best = values[0]
	}
	return best
}

// joined is a paragraph with its next line: without a blank where the script has none, and without the hyphen at which a word
// was cut.
// A hyphen in front of a capital stays, as in E-Mail; so do those of compounds that a line happened to end at, which no rule can tell.
func joined(text, next string) string {
	if text == "" {
		return next
	}
	before, after := []rune(text), []rune(next)
	last := before[len(before)-1]
	switch {
	case last == '-' && len(before) > 1 && unicode.IsLower(before[len(before)-2]) && unicode.IsLower(after[0]):
		return string(before[:len(before)-1]) + next
	case columnsOf(last) == 2 && columnsOf(after[0]) == 2 && !unicode.Is(unicode.Hangul, last):
		return text + next
	}
	return text + " " + next
}
