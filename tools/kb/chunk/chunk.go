// Package chunk reads text out of files, of office programs, PDF, HTML, Markdown, mail or plain,
// and cuts it into passages along its structure.
//
// A passage is found by a search and read by a model. It has to make sense by itself, so it never
// crosses a heading, has the headings above it, and ends with a sentence. Files come from anywhere:
// no content may crash the program.
//
//	chunk.go     which reader a file gets, and what all readers return
//	apart.go     the readers that work in a process of their own
//	encoding.go  texts that are not UTF-8; guess.go finds encodings that are not declared
//	cut.go       blocks into passages of bounded size
//	markdown.go  headings, code and tables of Markdown; the paragraphs of plain text
//	html.go      the blocks of a page
//	archive.go   files that are a zip of XML: their parts, and the elements of one
//	flow.go      paragraphs, headings, tables and notes, which all kinds of XML have
//	docx.go      Word; numbers.go the numbers of its lists and headings
//	slides.go    PowerPoint, and the boxes and charts of other programs
//	sheet.go     Excel
//	odf.go       the formats of LibreOffice
//	hwpx.go      Hangul
//	epub.go      books
//	mail.go      e-mails
//	table.go     rows of values as lines, and CSV
//	pdf.go       lines, paragraphs and headings of a PDF, by the places and sizes of its texts
//	pdf_heads.go  running heads and feet
//	pdf_locked.go  PDFs that are encrypted and need no password
//	pdf_repair.go  PDFs whose list of objects is damaged
//	pdf_tree.go  the pages of a PDF, one by one
//	pdf_page.go  where a page shows which text
//	pdf_font.go  which characters the bytes of a text are, and how wide
//	pdf_tokens.go  the operators of a page and of a font's map
package chunk

import (
	"errors"
	"fmt"
	"maps"
	"mime"
	"path/filepath"
	"slices"
	"strings"
)

// Version is the version of this package's output. It is part of a document's hash, so that a
// program that cuts differently cuts files again.
const Version = "3"

// LargestFile is how many bytes of a file are read at most. A book of a thousand pages has two
// million.
const LargestFile = 64 << 20

// Text is the text of a file.
type Text struct {
	Title    string
	Blocks   []Block
	Problems []string // parts of the file that could not be read: pages of a PDF, bytes of a text
}

// tell notes a problem, unless it is empty.
func (t *Text) tell(problem string) {
	if problem != "" {
		t.Problems = append(t.Problems, problem)
	}
}

// Block is a paragraph, a list, a table or a piece of code.
type Block struct {
	Heading string // the headings above it: "Leave > Sick leave"; empty: none
	Text    string
}

// readers read files, by their endings in small letters. The ending decides and not the content: a
// file that is called .md is to be read as Markdown, even if it begins like HTML. Files with an
// ending in apart are read in another process.
var readers = map[string]func(name string, data []byte) (Text, error){
	".txt": readPlain, ".text": readPlain, ".md": readMarkdown, ".markdown": readMarkdown,
	".html": readHTML, ".htm": readHTML, ".xhtml": readHTML,
}

// readerOf returns the reader for files with a name, or nil if there is none.
func readerOf(name string) func(name string, data []byte) (Text, error) {
	ending := strings.ToLower(filepath.Ext(name))
	if apart[ending] != nil {
		return readApart
	}
	return readers[ending]
}

// Readable reports whether files of a name can be read, by its ending.
func Readable(name string) bool { return readerOf(name) != nil }

// Endings returns the endings of the files that can be read, sorted.
func Endings() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(readers)), maps.Keys(apart))
	slices.Sort(all)
	return all
}

// instead are the endings of files that cannot be read, and as what their programs can save them.
var instead = map[string]string{
	".doc": ".docx", ".dot": ".docx", ".rtf": ".docx", ".pages": ".docx", ".wpd": ".docx",
	".xls": ".xlsx", ".xlsb": ".xlsx", ".numbers": ".xlsx",
	".ppt": ".pptx", ".pps": ".pptx", ".key": ".pptx", ".hwp": ".hwpx", ".msg": ".eml",
	".mobi": ".epub", ".ps": ".pdf", ".djvu": ".pdf", ".tex": ".pdf",
}

// Refusal returns an error that explains why a file with this name is not read.
func Refusal(name string) error {
	ending := strings.ToLower(filepath.Ext(name))
	switch as := instead[ending]; {
	case as != "":
		return fmt.Errorf("files of this ending cannot be read; save it as %s", as)
	case strings.HasPrefix(mime.TypeByExtension(ending), "image/"):
		return errors.New(
			"it is a picture; what is written on it needs text recognition (OCR) first")
	}
	return fmt.Errorf("files of this ending cannot be read; save it as one of %s",
		strings.Join(Endings(), ", "))
}

// errEmpty is the error for a file without text: no search could find it.
var errEmpty = errors.New("there is no text in it")

// Read reads a file with the reader for its name. Its error says what is wrong with the file, for
// the file's owner.
func Read(name string, data []byte) (t Text, err error) {
	reader := readerOf(name)
	if reader == nil {
		return t, Refusal(name)
	}
	if len(data) > LargestFile {
		return t, fmt.Errorf("%d bytes are more than %d", len(data), LargestFile)
	}
	if t, err = reader(name, data); err != nil {
		return Text{}, err
	}
	if t.Title = strings.Join(strings.Fields(clean(t.Title)), " "); t.Title == "" {
		t.Title = clean(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	}
	t.Title = firstRunes(t.Title, longestTitle)
	kept := t.Blocks[:0]
	for _, b := range t.Blocks {
		if b.Text = strings.Trim(clean(b.Text), "\n \t"); b.Text != "" {
			b.Heading = clean(b.Heading)
			kept = append(kept, b)
		}
	}
	if t.Blocks = kept; len(kept) == 0 {
		return Text{}, errEmpty
	}
	return t, nil
}

// longestTitle is how many characters of a title or a heading are kept; a longer one is a paragraph
// in large letters.
const longestTitle = 200

// firstRunes returns the first n characters of a text. A cut in the middle of a character would not
// be UTF-8.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// clean makes line ends plain, and removes NUL, which PostgreSQL refuses, and other control
// characters.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"),
		"\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}

// outline has the headings above the place where a reader is. Levels may be left out (an
// h4 below an h2), so a stack of levels is kept and not one title a level.
type outline struct {
	levels []int
	titles []string
}

// enter adds a heading, which ends those of its level and below.
func (o *outline) enter(level int, title string) {
	for len(o.levels) > 0 && o.levels[len(o.levels)-1] >= level {
		o.levels, o.titles = o.levels[:len(o.levels)-1], o.titles[:len(o.titles)-1]
	}
	if title = strings.Join(strings.Fields(title), " "); title != "" {
		o.levels, o.titles = append(o.levels, level),
			append(o.titles, firstRunes(title, longestTitle))
	}
}

// path returns the headings in one line.
func (o *outline) path() string { return strings.Join(o.titles, " > ") }
