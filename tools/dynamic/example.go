package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Example is a call of a tool with its expected result, as a part of what the tool promises.
// Without an expectation, the call only has to succeed.
type Example struct {
	Arguments json.RawMessage `json:"arguments,omitempty"` // a JSON object; empty: {}
	// the expected result; the order of members does not matter
	Result json.RawMessage `json:"result,omitempty"`
	// the expected number of rows or list elements: ">= 1", "3"
	Rows     string `json:"rows,omitempty"`
	Contains string `json:"contains,omitempty"` // a part of the expected result's text
	// a part of the expected error; the call then has to fail
	Error string `json:"error,omitempty"`
}

// The bounds of examples.
const (
	mostCalls      = 20
	longestExample = 16 << 10 // bytes
)

// examples checks the examples of a draft, and reports mistakes to p.
func (d *Draft) examples(p *problems) {
	if len(d.Examples) > mostCalls {
		p.wrong("examples", "example", "%d examples are more than %d", len(d.Examples), mostCalls)
		return
	}
	for i := range d.Examples {
		if err := d.Examples[i].check(); err != nil {
			p.wrong(fmt.Sprintf("examples[%d]", i), "example", "%v", err)
		}
	}
}

// check returns an error if the example is too long or a member of it has the wrong form.
func (e *Example) check() error {
	var args map[string]json.RawMessage
	size := len(e.Arguments) + len(e.Result) + len(e.Rows) + len(e.Contains) + len(e.Error)
	switch {
	case size > longestExample:
		return fmt.Errorf("an example of %d bytes is longer than %d", size, longestExample)
	case len(e.Arguments) > 0 && (json.Unmarshal(e.Arguments, &args) != nil || args == nil):
		return errors.New("arguments is a JSON object")
	case len(e.Result) > 0 && !json.Valid(e.Result):
		return errors.New("result is a JSON value")
	case e.Error != "" && (len(e.Result) > 0 || e.Rows != "" || e.Contains != ""):
		return errors.New("a call that has to fail has no result, rows or contains")
	}
	if e.Rows != "" {
		if _, _, err := readCount(e.Rows); err != nil {
			return err
		}
	}
	return nil
}

// countText matches a whole number with an optional comparison before it.
var countText = regexp.MustCompile(`^\s*(>=|<=|==|=|>|<|)\s*([0-9]{1,9})\s*$`)

// readCount parses a number with an optional comparison before it, such as ">= 3". It returns the
// comparison, or "" if there is none, and the number. It returns an error if text has another form.
func readCount(text string) (op string, n int, err error) {
	m := countText.FindStringSubmatch(text)
	if m == nil {
		return "", 0, fmt.Errorf(
			"rows is a number, with >=, <=, >, < or = in front of it, and not %.40q", text)
	}
	n, err = strconv.Atoi(m[2])
	return m[1], n, err
}

// holds reports whether the number got is as an example expects. The expectation is an operator and
// the number n, such as ">=" and 3. Any operator but >=, <=, > and < means equality.
func holds(op string, got, n int) bool {
	switch op {
	case ">=":
		return got >= n
	case "<=":
		return got <= n
	case ">":
		return got > n
	case "<":
		return got < n
	}
	return got == n
}

// normalize removes blanks from the JSON in an example, so that importing an export changes
// nothing.
func (e *Example) normalize() {
	for _, text := range []*json.RawMessage{&e.Arguments, &e.Result} {
		var b bytes.Buffer
		if json.Compact(&b, *text) == nil {
			*text = b.Bytes()
		}
	}
	if string(e.Arguments) == "{}" || string(e.Arguments) == "null" {
		e.Arguments = nil
	}
	e.Rows = strings.Join(strings.Fields(e.Rows), " ")
}

// MarshalYAML implements yaml.Marshaler. The arguments and the result become YAML values and not
// texts with JSON. It returns an error if either is not valid JSON.
func (e Example) MarshalYAML() (any, error) {
	all := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value *yaml.Node) {
		all.Content = append(all.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str",
			Value: key}, value)
	}
	for _, one := range []struct {
		key  string
		text json.RawMessage
	}{{"arguments", e.Arguments}, {"result", e.Result}} {
		if len(one.text) == 0 {
			continue
		}
		node, err := yamlNode(numbered(one.text))
		if err != nil {
			return nil, err
		}
		if node.Kind != yaml.ScalarNode {
			node.Style = yaml.FlowStyle
		}
		add(one.key, node)
	}
	for _, one := range [][2]string{{"rows", e.Rows}, {"contains", e.Contains},
		{"error", e.Error}} {
		if one[1] != "" {
			add(one[0], textNode(one[1]))
		}
	}
	if len(all.Content) == 0 {
		all.Style = yaml.FlowStyle // {}: a call without arguments that has to succeed
	}
	return all, nil
}

// UnmarshalYAML implements yaml.Unmarshaler. An unknown member, or a member of the wrong type, is
// an error.
func (e *Example) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf(
			"line %d: an example is a mapping of arguments, result, rows, contains and error",
			node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		var err error
		switch key.Value {
		case "arguments":
			e.Arguments, err = bytesOf(value)
		case "result":
			e.Result, err = bytesOf(value)
		case "rows":
			err = value.Decode(&e.Rows)
		case "contains":
			err = value.Decode(&e.Contains)
		case "error":
			err = value.Decode(&e.Error)
		default:
			err = fmt.Errorf("line %d: field %s not found in an example", key.Line, key.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns a YAML value as JSON, or an error if JSON has no such value. A value that YAML
// would read as a date stays a text.
func bytesOf(node *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := jsonOf(&b, node)
	return b.Bytes(), err
}

// decode decodes exactly one JSON value; its numbers become json.Number and keep their digits. It
// returns an error if text is anything else.
func decode(text []byte) (value any, err error) {
	d := numbered(text)
	if err = d.Decode(&value); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	return value, err
}
