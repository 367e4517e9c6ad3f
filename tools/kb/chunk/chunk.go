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
//	html.go      the blocks of a page; xhtml.go those of a page that follows the rules of XML,
//	html_table.go those that are tables; html_hidden.go the parts that are not shown
//	archive.go   files that are a zip of XML: their parts, and the elements of one
//	outline.go   the headings above a block
//	flow.go      paragraphs, headings, tables and notes, which all kinds of XML have
//	math.go      formulas
//	marks.go     struck text, and numbers that are raised or lowered
//	docx.go      Word; numbers.go the numbers of its lists and headings
//	slides.go    PowerPoint, and the boxes and charts of other programs
//	sheet.go     Excel
//	odf.go       the formats of LibreOffice
//	hwpx.go      Hangul
//	epub.go      books
//	mail.go      e-mails
//	grid.go      the cells of a table, which may take several rows and columns
//	table.go     rows of values as lines; csv.go those of CSV
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

	"toolnorm/internal/clip"
)

// Version is the version of this package's output. It is part of a document's hash, so that a
// program that cuts differently cuts all files again.
const Version = "6"

// LargestFile is the largest size of a file in bytes. A book of a thousand pages has two million.
const LargestFile = 64 << 20

// Text is the text of a file.
type Text struct {
	Title    string
	Blocks   []Block
	Problems []string // descriptions of parts that could not be read, such as pages of a PDF
}

// tell adds a problem to t.Problems, unless it is empty.
func (t *Text) tell(problem string) {
	if problem != "" {
		t.Problems = append(t.Problems, problem)
	}
}

// Block is a paragraph, a list, a table or a piece of code.
type Block struct {
	Heading string // the headings above it, such as "Leave > Sick leave"; empty: none
	Text    string
}

// readers maps file extensions in lower case to readers. The extension decides and not the content,
// because a file that is called .md should be read as Markdown even if it begins like HTML. Files
// with an extension in apart are read in another process.
var readers = map[string]func(name string, data []byte) (Text, error){
	".txt": readPlain, ".text": readPlain, ".md": readMarkdown, ".markdown": readMarkdown,
	".html": readHTML, ".htm": readHTML, ".xhtml": readHTML,
}

// readerOf returns the reader for files with the given name, or nil if there is none.
func readerOf(name string) func(name string, data []byte) (Text, error) {
	ending := strings.ToLower(filepath.Ext(name))
	if apart[ending] != nil {
		return readApart
	}
	return readers[ending]
}

// Readable reports whether files with the given name can be read. Only the extension counts.
func Readable(name string) bool { return readerOf(name) != nil }

// Endings returns the extensions of files that can be read, sorted.
func Endings() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(readers)), maps.Keys(apart))
	slices.Sort(all)
	return all
}

// instead maps extensions of files that cannot be read to formats in which their programs can save
// them.
var instead = map[string]string{
	".doc": ".docx", ".dot": ".docx", ".rtf": ".docx", ".pages": ".docx", ".wpd": ".docx",
	".xls": ".xlsx", ".xlsb": ".xlsx", ".numbers": ".xlsx",
	".ppt": ".pptx", ".pps": ".pptx", ".key": ".pptx", ".hwp": ".hwpx", ".msg": ".eml",
	".mobi": ".epub", ".ps": ".pdf", ".djvu": ".pdf", ".tex": ".pdf",
}

// Refusal returns an error that explains why a file with the given name cannot be read, and what to
// do.
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

// errEmpty is the error for a file without text, which no search could find.
var errEmpty = errors.New("there is no text in it")

// Read reads a file with the reader for its name. It returns an error for the file's owner if the
// file is of an unknown kind, too large, damaged or without text.
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
	t.Title = clip.Runes(t.Title, longestTitle)
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

// lineEnds replaces all characters that end a line by the plain one. A form feed ends a page, and
// word processors write a vertical tab for a line break in a paragraph.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n",
	"\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// clean returns a text with plain line ends and without control characters. One of these is NUL,
// which PostgreSQL refuses.
func clean(s string) string {
	s = strings.ToValidUTF8(lineEnds.Replace(s), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}
