package dynamic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolnorm/chat"
)

// Value is a JSON value in a draft, such as a default. It keeps the digits of its numbers and the
// order of its members, also in files. An empty Value and null mean that there is no value.
type Value []byte

// MarshalJSON implements json.Marshaler. It returns the value unchanged, or null if there is none.
func (v Value) MarshalJSON() ([]byte, error) {
	if len(v) == 0 {
		return []byte("null"), nil
	}
	return v, nil
}

// UnmarshalJSON implements json.Unmarshaler. It stores the value without blanks between its parts.
// It returns an error if text is not JSON.
func (v *Value) UnmarshalJSON(text []byte) error {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return err
	}
	// encoding/json may have escaped characters such as <. They are unescaped, so that equal values
	// have equal bytes.
	if bytes.ContainsRune(b.Bytes(), '\\') {
		node, err := yamlNode(numbered(bytes.Clone(b.Bytes())))
		if b.Reset(); err != nil {
			return err
		}
		if err := jsonOf(&b, node); err != nil {
			return err
		}
	}
	if *v = nil; b.String() != "null" {
		*v = b.Bytes()
	}
	return nil
}

// IsZero reports whether there is no value, so that encoders can omit it.
func (v Value) IsZero() bool { return len(v) == 0 }

// get returns the decoded value, with numbers as json.Number. It returns nil if there is no value
// or it is not JSON.
func (v Value) get() any {
	var got any
	if numbered(v).Decode(&got) != nil {
		return nil
	}
	return got
}

// numbered returns a decoder of a JSON text, whose numbers keep their digits.
func numbered(text []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d
}

// valueOf returns v as JSON, or nil if v cannot be encoded.
func valueOf(v any) Value {
	text, err := chat.JSON(v)
	if err != nil {
		return nil
	}
	return Value(text)
}

// MarshalYAML implements yaml.Marshaler. It writes a value as YAML and not as a text with JSON. It
// returns an error if the value is not JSON.
func (v Value) MarshalYAML() (any, error) {
	node, err := yamlNode(numbered(v))
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return node, err
}

// yamlNode reads the next JSON value and returns it as a YAML node. It returns io.EOF if there is
// none, and another error if it is not JSON.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{}
	bracket, ok := token.(json.Delim)
	if !ok {
		switch token := token.(type) {
		case json.Number:
			return &yaml.Node{Kind: yaml.ScalarNode, Value: string(token)}, nil
		case string:
			return textNode(token), nil
		}
		return node, node.Encode(token)
	}
	if node.Kind = yaml.SequenceNode; bracket == '{' {
		node.Kind = yaml.MappingNode
	}
	for d.More() {
		inner, err := yamlNode(d)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, inner)
	}
	if len(node.Content) == 0 {
		node.Style = yaml.FlowStyle
	}
	_, err = d.Token()
	return node, err
}

// textNode returns a text as a YAML node. It quotes a text that begins with a tab. The library
// would write such a text of several lines as a block, which it cannot read again.
func textNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.HasPrefix(text, "\t") {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// UnmarshalYAML implements yaml.Unmarshaler. It returns an error if JSON cannot express the value.
func (v *Value) UnmarshalYAML(node *yaml.Node) error {
	var b bytes.Buffer
	if err := jsonOf(&b, node); err != nil {
		return err
	}
	return v.UnmarshalJSON(b.Bytes())
}

// jsonOf writes a YAML node as JSON to b. It returns an error for an alias, and for a value that
// JSON cannot express.
func jsonOf(b *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.SequenceNode, yaml.MappingNode:
	case yaml.AliasNode:
		return fmt.Errorf("line %d: aliases are not followed", node.Line)
	default:
		return scalarOf(b, node)
	}
	object := node.Kind == yaml.MappingNode
	b.WriteByte("[{"[btoi(object)])
	for i, inner := range node.Content {
		name := object && i%2 == 0
		switch {
		case object && !name:
			b.WriteByte(':')
		case i > 0:
			b.WriteByte(',')
		}
		if name { // the key 1 becomes the name "1"
			b.Write(valueOf(inner.Value))
			continue
		}
		if err := jsonOf(b, inner); err != nil {
			return err
		}
	}
	b.WriteByte("]}"[btoi(object)])
	return nil
}

// btoi returns 1 for true and 0 for false.
func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scalarOf writes a single YAML value as JSON to b. A date without quotes becomes a text, and a
// number keeps its digits if JSON allows them. It returns an error for a value that JSON cannot
// express.
func scalarOf(b *bytes.Buffer, node *yaml.Node) error {
	var got any
	switch tag := node.ShortTag(); {
	case tag == "!!timestamp", tag == "!!str":
		got = node.Value
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(node.Value)):
		got = json.Number(node.Value)
	default:
		if err := node.Decode(&got); err != nil {
			return err
		}
	}
	text, err := chat.JSON(got)
	if err != nil {
		return fmt.Errorf("line %d: %s is no value that JSON has", node.Line, node.Value)
	}
	b.Write(text)
	return nil
}
