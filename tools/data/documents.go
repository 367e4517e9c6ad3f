package data

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// readers read documents out of files, by the files' endings.
// A reader only splits; its caller drops empty documents and refuses those that are too long.
var readers = map[string]func(text []byte) ([]string, error){
	".txt": linesOf, ".md": paragraphs, ".csv": commaRows, ".tsv": tabRows, ".json": jsonList,
	".jsonl": jsonLines,
}

// The bounds of an import.
const (
	largestFile     = 64 << 20
	longestDocument = 32 << 10 // bytes; models that make vectors read some 8,000 tokens
)

// documentsOf reads the documents of a file, in their order, without empty ones. A file that is not
// UTF-8 is refused: a wrongly guessed encoding makes Korean and Japanese texts that no search
// finds.
func documentsOf(path string) ([]string, error) {
	read := readers[strings.ToLower(filepath.Ext(path))]
	if read == nil {
		return nil, errors.New("only .txt, .md, .csv, .tsv, .json and .jsonl can be imported")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > largestFile {
		return nil, fmt.Errorf("%d bytes are more than %d", info.Size(), largestFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	found, err := read(bytes.TrimPrefix(text, []byte("\ufeff"))) // Excel writes a byte order mark
	if err != nil {
		return nil, err
	}
	var all []string
	for _, one := range found {
		if one = strings.TrimSpace(one); len(one) > longestDocument {
			return nil, fmt.Errorf("a document has %d bytes, more than %d: %.60s…", len(one),
				longestDocument, one)
		} else if one != "" {
			all = append(all, one)
		}
	}
	return all, nil
}

// linesOf returns a document for each line. The last line may have no line end; the caller drops
// empty lines.
func linesOf(text []byte) ([]string, error) { return strings.Split(string(text), "\n"), nil }

// paragraphs returns the documents of a text that separates them by empty lines. It treats Windows
// line ends like plain ones, as otherwise no line would be empty.
func paragraphs(text []byte) ([]string, error) {
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n"), nil
}

// commaRows returns a document for each row of a CSV file, as rowsOf writes them.
func commaRows(text []byte) ([]string, error) { return rowsOf(text, ',') }

// tabRows does the same as commaRows for rows that tabs separate.
func tabRows(text []byte) ([]string, error) { return rowsOf(text, '\t') }

// rowsOf writes each row with the names of the columns, which are in the first: table: users,
// column: email, type: VARCHAR(255). With tabs, quotation marks may occur anywhere, since
// spreadsheets do not escape them there. Empty cells are left out: they say nothing and would be
// found by the names of their columns.
func rowsOf(text []byte, comma rune) (all []string, err error) {
	rows := csv.NewReader(bytes.NewReader(text))
	rows.Comma, rows.LazyQuotes = comma, comma == '\t'
	head, err := rows.Read()
	for err == nil {
		var row []string
		if row, err = rows.Read(); err != nil {
			break
		}
		var parts []string
		for i, cell := range row {
			if strings.TrimSpace(cell) != "" {
				parts = append(parts, head[i]+": "+cell)
			}
		}
		all = append(all, strings.Join(parts, ", "))
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// jsonList returns the documents of a JSON list of texts, or of objects with a text or document.
func jsonList(text []byte) (all []string, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, one := range list {
		s, err := jsonDocument(one)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// jsonLines does the same as jsonList for a file with one JSON value per line. Errors name the
// line, since one bad line of a large file is hard to find.
func jsonLines(text []byte) (all []string, err error) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s, err := jsonDocument(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// jsonDocument returns a text, the text or document of an object, or, of an object with neither,
// the object as it is written. An object without either name is kept as it is: its members can be
// found all the same.
func jsonDocument(raw json.RawMessage) (s string, err error) {
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var object struct{ Text, Document string }
	if err := json.Unmarshal(raw, &object); err != nil {
		return "", err
	}
	return cmp.Or(object.Text, object.Document, string(raw)), nil
}
