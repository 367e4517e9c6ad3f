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
// A reader only cuts; what is empty or too long is the same question for all of them.
var readers = map[string]func(text []byte) ([]string, error){
	".txt": linesOf, ".md": paragraphs, ".csv": commaRows, ".tsv": tabRows, ".json": jsonList, ".jsonl": jsonLines,
}

// The bounds of an import.
const (
	largestFile     = 64 << 20
	longestDocument = 32 << 10 // bytes; models that make vectors read some 8,000 tokens
)

// documentsOf reads the documents of a file, in their order, without empty ones. A file that is no
// UTF-8 is refused: guessed encodings make Korean and Japanese texts that are found by nothing.
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
	found, err := read(bytes.TrimPrefix(text, []byte("\ufeff"))) // as Excel begins its files
	if err != nil {
		return nil, err
	}
	var all []string
	for _, one := range found {
		if one = strings.TrimSpace(one); len(one) > longestDocument {
			return nil, fmt.Errorf("a document has %d bytes, more than %d: %.60s…", len(one), longestDocument, one)
		} else if one != "" {
			all = append(all, one)
		}
	}
	return all, nil
}

// linesOf: a document a line.
// A last line without its end counts, and an empty one is dropped by the caller.
func linesOf(text []byte) ([]string, error) { return strings.Split(string(text), "\n"), nil }

// paragraphs: documents with empty lines between.
// Windows' line ends are taken for plain ones, or no line would be empty.
func paragraphs(text []byte) ([]string, error) {
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n"), nil
}

// commaRows: a document a row, as rowsOf writes them.
func commaRows(text []byte) ([]string, error) { return rowsOf(text, ',') }

// tabRows: the same with tabs between.
func tabRows(text []byte) ([]string, error) { return rowsOf(text, '\t') }

// rowsOf writes each row with the names of the columns, which are in the first: table: users,
// column: email, type: VARCHAR(255). Quotation marks may stand anywhere where tabs separate:
// spreadsheets write them bare there. Empty cells say nothing and would be found by the names of
// their columns.
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

// jsonList: a list of texts, or of objects with a text or document.
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

// jsonLines: the same, one a line.
// The line is named, since one bad line of a large file is hard to find.
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

// jsonDocument returns a text, the text or document of an object, or, of an object without, the
// object as it is written. An object without either name is kept as it is: its members can be found
// all the same.
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
