package dynamic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/sqlsafe"
	"toolnorm/tools"
)

// table converts rows into a result, in the form that the option for the result says.
//
//	auto   one row is its object, any other number an array
//	rows   an array
//	one    the first row, or null
//	value  the first value of the first row, or null
//
// If a limit has cut the rows, the result is not an array but an object with the rows and
// "truncated": true. The forms one and value are never cut, because only one row is asked for.
// table returns an error if the rows cannot be encoded.
func (o Options) table(t *sqlsafe.Table) (tools.Result, error) {
	switch {
	case o.Result == "value":
		return o.shown(first(t)), nil
	case o.Result == "one" && len(t.Records) == 0:
		return o.shown(json.RawMessage("null")), nil
	case o.Format == "text":
		return tools.TextOf(o.lines(t)), nil
	case o.Result == "one", o.Result != "rows" && len(t.Records) == 1 && !t.Truncated:
		return o.shown(t.Records[0]), nil
	case t.Truncated: // half a list must not look like a whole one
		all, err := chat.JSON(struct {
			Rows      []json.RawMessage `json:"rows"`
			Truncated bool              `json:"truncated"`
		}{t.Records, true})
		return o.shown(all), err
	}
	all, err := chat.JSON(t.Records)
	return o.shown(all), err
}

// shown returns a JSON value as the result of a tool. If the option Format is text, the result is
// only a text: a string without its quotes, or any other value as JSON. Otherwise the result also
// has the value as structured content.
func (o Options) shown(value json.RawMessage) tools.Result {
	if o.Format == "text" {
		return tools.TextOf(plain(value))
	}
	res := tools.TextOf(string(value))
	res.Structured = value
	return res
}

// plain returns a JSON value as people write it: a text without its quotes, null as "", and any
// other value as JSON.
func plain(value json.RawMessage) string {
	var text string
	switch {
	case string(value) == "null":
		return ""
	case json.Unmarshal(value, &text) == nil:
		return text
	}
	return string(value)
}

// cells returns the values of a record in the order of the columns, or nil if the record is not an
// object. The values stay JSON and keep their digits, as they are never converted to a float.
func cells(t *sqlsafe.Table, record json.RawMessage) []json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(record, &members) != nil {
		return nil
	}
	all := make([]json.RawMessage, len(t.Columns))
	for i, name := range t.Columns {
		all[i] = members[name]
	}
	return all
}

// first returns the first value of the first row, or null if there is none.
func first(t *sqlsafe.Table) json.RawMessage {
	if len(t.Records) > 0 {
		if all := cells(t, t.Records[0]); len(all) > 0 {
			return all[0]
		}
	}
	return json.RawMessage("null")
}

// unbroken replaces tabs and line breaks in a value by blanks, because they would begin another
// cell or row.
var unbroken = strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ")

// lines returns rows as tab-separated lines under a header. A single value is written alone. Tabs
// and line breaks in values become blanks: the form is for models and people, and is not meant to
// be parsed.
func (o Options) lines(t *sqlsafe.Table) string {
	if o.Result != "rows" && len(t.Records) == 1 && len(t.Columns) == 1 && !t.Truncated {
		return plain(first(t))
	}
	var b bytes.Buffer
	for i, name := range t.Columns {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(unbroken.Replace(name))
	}
	shown := t.Records
	if o.Result == "one" {
		shown = shown[:1]
	}
	for _, record := range shown {
		b.WriteByte('\n')
		for i, cell := range cells(t, record) {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(unbroken.Replace(plain(cell)))
		}
	}
	if t.Truncated && o.Result != "one" {
		fmt.Fprintf(&b, "\n(truncated after %d rows)", len(t.Records))
	}
	return b.String()
}
