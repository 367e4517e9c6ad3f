package sqlsafe

import (
	"encoding/json"
	"fmt"
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/clip"
)

// Table is the result of a query. Each value is already JSON text, because some numbers would lose
// digits as a float64.
type Table struct {
	// the names as in Records: a second column with the same name gets the suffix _2
	Columns []string
	// of the columns' values, as JSON Schema types separated by commas; empty: any
	Types []string
	// one object for each row, with its members in the order of the columns
	Records   []json.RawMessage
	Truncated bool     // a limit was reached, so rows are missing or a value was cut
	Hit       []string // the limits that were reached: rows, bytes, cell
}

// table collects rows until a limit is reached.
type table struct {
	Table
	limits Limits
	keys   [][]byte // `"name":`
	bytes  int
}

// newTable returns an empty table with the named columns, to which rows can be added. Its field
// Records is not nil, so that a table without rows has an empty list in JSON. It fails if a name
// cannot be encoded.
func newTable(columns []string, limits Limits) (*table, error) {
	t := &table{limits: limits, Table: Table{Columns: distinct(columns),
		Records: []json.RawMessage{}}}
	for _, name := range t.Columns {
		key, err := chat.JSON(name)
		if err != nil {
			return nil, err
		}
		t.keys = append(t.keys, append(key, ':'))
	}
	return t, nil
}

// distinct returns a unique name for each column, because two columns with one name would be a
// single member of an object. For example, a second a becomes a_2. Existing names are avoided: in
// a, a, a_2 the second becomes a_3.
func distinct(columns []string) []string {
	taken, all := map[string]bool{}, make([]string, len(columns))
	for _, name := range columns {
		taken[name] = true
	}
	seen := map[string]bool{}
	for i, name := range columns {
		all[i] = name
		for n := 2; seen[all[i]] || all[i] != name && taken[all[i]]; n++ {
			all[i] = fmt.Sprintf("%s_%d", name, n)
		}
		seen[all[i]] = true
	}
	return all
}

// add appends a row of JSON values, and reports whether another row may follow. A row that exceeds
// the limit of bytes is left out entirely, because half a record would be wrong.
func (t *table) add(row []json.RawMessage) bool {
	if len(t.Records) >= t.limits.Rows {
		t.cut("rows")
		return false
	}
	record := []byte{'{'}
	for i, value := range row {
		if i > 0 {
			record = append(record, ',')
		}
		record = append(record, t.keys[i]...)
		record = append(record, t.held(value)...)
	}
	record = append(record, '}')
	if t.bytes += len(record); t.bytes > t.limits.Bytes {
		t.cut("bytes")
		return false
	}
	t.Records = append(t.Records, record)
	return true
}

// cut records that a limit was reached.
func (t *table) cut(limit string) {
	t.Truncated = true
	if !slices.Contains(t.Hit, limit) {
		t.Hit = append(t.Hit, limit)
	}
}

// held returns a value that is within the limit unchanged. For a longer value it returns a text
// with the beginning of the value and its length in bytes. A text is cut after a whole character,
// so that it stays valid UTF-8.
func (t *table) held(value json.RawMessage) json.RawMessage {
	if len(value) <= t.limits.Cell {
		return value
	}
	t.cut("cell")
	text := string(value)
	_ = json.Unmarshal(value, &text) // a text is cut itself, any other value in its JSON form
	short, err := chat.JSON(
		fmt.Sprintf("%s… (%d bytes)", clip.To(text, t.limits.Cell), len(text)))
	if err != nil {
		return json.RawMessage("null")
	}
	return short
}
