package data

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/csvrows"
)

// readers maps file extensions to functions that split a file into documents. A reader only splits.
// Its caller drops empty documents and refuses those that are too long.
var readers = map[string]func(text []byte) ([]string, error){
	".txt": linesOf, ".md": paragraphs, ".csv": rowsOf, ".tsv": rowsOf, ".json": jsonList,
	".jsonl": jsonLines,
}

// The bounds of an import: the size of a file and of a document.
const (
	largestFile     = 64 << 20
	longestDocument = 32 << 10 // bytes; models that make vectors read about 8,000 tokens
)

// documentsOf returns the documents in a file, in their order and without empty ones. It returns an
// error if the extension is not known, the file or a document is too large, or the content cannot
// be read. A file that is not UTF-8 is refused, because a wrongly guessed encoding results in
// Korean and Japanese texts that no search finds.
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

// linesOf returns each line of text as a document, including empty ones. It never returns an error.
func linesOf(text []byte) ([]string, error) { return strings.Split(string(text), "\n"), nil }

// paragraphs returns the documents in a text in which empty lines separate the documents. Windows
// line ends count as plain ones, since otherwise no line would be empty. It never returns an error.
func paragraphs(text []byte) ([]string, error) {
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n"), nil
}

// rowsOf returns a document for each row of separated values below the row with the columns' names
// (see csvrows.Read). If there is only one column, only a comma separates values, so its texts may
// contain tabs, for example. rowsOf returns an error if the rows differ in length.
func rowsOf(text []byte) ([]string, error) {
	lines := strings.ReplaceAll(string(text), "\r\n", "\n")
	rows := csvrows.Read(lines)
	if len(rows) > 0 && len(rows[0]) == 1 {
		rows = csvrows.Of(lines, ',', len(lines))
	}
	return described(rows)
}

// described returns a text for each row, with the names of the columns from the first row: table:
// users, column: email, type: VARCHAR(255). Empty cells are left out, because a search for the name
// of their column would find them. It returns an error if the rows differ in length.
func described(rows [][]string) (all []string, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	head := rows[0]
	for i, row := range rows[1:] {
		if len(row) != len(head) {
			return nil, fmt.Errorf("row %d has %d values, and the first has %d", i+2, len(row),
				len(head))
		}
		var parts []string
		for i, cell := range row {
			if strings.TrimSpace(cell) != "" {
				parts = append(parts, head[i]+": "+cell)
			}
		}
		all = append(all, strings.Join(parts, ", "))
	}
	return all, nil
}

// jsonList returns the documents in a JSON list (see jsonDocument). It returns an error if text is
// not a list or an element is not a document.
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

// jsonLines returns the documents in a file with one JSON value per line (see jsonDocument). An
// error names the line, since one bad line of a large file is hard to find.
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

// jsonDocument returns the value of a JSON string, or the member text or document of a JSON object.
// If an object has neither, its whole JSON is the document, since a search can find its members all
// the same. It returns an error for any other value.
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
