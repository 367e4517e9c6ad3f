package dynamic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"toolnorm/engine/valid"
)

// Details are the rules of a parameter beyond its type. The specification's table has no columns
// for them, so they are stored in the column definition, by the names of the parameters (see
// column). For a list, most of them apply to its elements.
type Details struct {
	// the value if a call leaves the parameter out
	Default Value   `json:"default,omitempty" yaml:"default,omitempty"`
	Choices []Value `json:"choices,omitempty" yaml:"choices,omitempty"` // the values of an ENUM
	// a SELECT that returns the values of an ENUM in its first column
	ChoicesSQL string `json:"choices_sql,omitempty" yaml:"choices_sql,omitempty"`
	// of a number, date or time
	Minimum Value `json:"minimum,omitempty" yaml:"minimum,omitempty"`
	Maximum Value `json:"maximum,omitempty" yaml:"maximum,omitempty"`
	// of a text, in characters
	MinLength int `json:"min_length,omitempty" yaml:"min_length,omitempty"`
	MaxLength int `json:"max_length,omitempty" yaml:"max_length,omitempty"`
	// a regular expression that must match somewhere in a text
	Pattern  string  `json:"pattern,omitempty" yaml:"pattern,omitempty"`
	Format   string  `json:"format,omitempty" yaml:"format,omitempty"` // email, uri, …
	MinItems int     `json:"min_items,omitempty" yaml:"min_items,omitempty"`
	MaxItems int     `json:"max_items,omitempty" yaml:"max_items,omitempty"`
	Unique   bool    `json:"unique_items,omitempty" yaml:"unique_items,omitempty"`
	Schema   Value   `json:"schema,omitempty" yaml:"schema,omitempty"` // JSON Schema of an OBJECT
	Examples []Value `json:"examples,omitempty" yaml:"examples,omitempty"`
	// the parameter is filled with this property of the caller, and no model sees it
	Caller string `json:"caller,omitempty" yaml:"caller,omitempty"`
}

// mostChoices bounds an ENUM, which is part of every prompt. mostExamples bounds the examples of a
// parameter.
const (
	mostChoices  = 200
	mostExamples = 10
)

// formats lists the formats of texts that can be checked.
var formats = []string{"email", "uri", "hostname", "ipv4", "ipv6", "time", "duration", "regex"}

// empty reports whether no detail is set.
func (d *Details) empty() bool { return reflect.ValueOf(*d).IsZero() }

// detail is one optional rule of a parameter, such as a minimum: its name, whether it is set, and
// the types of parameters that may have it. If it has no types, it is for lists of every type.
type detail struct {
	name  string
	given bool
	bases []string
}

// forTypes returns the optional rules of a parameter that only some types may have, such as
// minimum, whether they are set or not.
func (d *Details) forTypes() []detail {
	texts, numbers := []string{typeString}, []string{typeInteger, typeNumber, typeDate,
		typeTimestamp}
	return []detail{
		{"choices", len(d.Choices) > 0, []string{typeEnum}},
		{"choices_sql", d.ChoicesSQL != "", []string{typeEnum}},
		{"minimum", len(d.Minimum) > 0, numbers}, {"maximum", len(d.Maximum) > 0, numbers},
		{"min_length", d.MinLength != 0, texts}, {"max_length", d.MaxLength != 0, texts},
		{"pattern", d.Pattern != "", texts}, {"format", d.Format != "", texts},
		{"schema", len(d.Schema) > 0, []string{typeObject}},
		{"min_items", d.MinItems != 0, nil}, {"max_items", d.MaxItems != 0, nil},
		{"unique_items", d.Unique, nil},
	}
}

// details checks the optional rules of a parameter, such as a minimum, and adds mistakes to note. A
// rule that the type does not use is a mistake: an author who sets a minimum believes that it is
// enforced. The parameter field is the prefix of the field names in these problems.
func (p *Param) details(note *problems, field string) {
	wrong := func(name, format string, args ...any) {
		note.wrong(field+name, "parameter", format, args...)
	}
	k := p.kind()
	for _, one := range p.forTypes() {
		switch {
		case !one.given:
		case one.bases == nil && k.lists == 0:
			wrong(one.name, "%s is for lists, and %s is a %s; write LIST<%[3]s>", one.name, p.Name,
				k)
		case one.bases != nil && !slices.Contains(one.bases, k.base):
			wrong(one.name, "%s is for %s, and %s is a %s", one.name, strings.Join(one.bases, ", "),
				p.Name, k)
		}
	}
	for _, one := range []struct {
		name      string
		low, high int
	}{{"length", p.MinLength, p.MaxLength}, {"items", p.MinItems, p.MaxItems}} {
		switch {
		case one.low < 0:
			wrong("min_"+one.name, "min_%s cannot be %d, which is less than 0", one.name, one.low)
		case one.high < 0:
			wrong("max_"+one.name, "max_%s cannot be %d, which is less than 0", one.name, one.high)
		case one.high > 0 && one.low > one.high:
			wrong("max_"+one.name, "max_%s cannot be %d where the least is %d", one.name, one.high,
				one.low)
		}
	}
	if _, err := regexp.Compile(p.Pattern); err != nil {
		wrong("pattern",
			"the pattern cannot be read: %s; look-around and back references are not known",
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if p.Format != "" && !slices.Contains(formats, p.Format) {
		wrong("format", "format is one of %s, not %.40q; DATE, TIMESTAMP and UUID are types",
			strings.Join(formats, ", "), p.Format)
	}
	p.filled(note, field)
	p.choices(note, field)
	p.bounds(note, field)
	if _, err := p.rules(); err != nil {
		wrong("schema", "the schema cannot be used: %v", err)
	}
	if !note.errors() { // otherwise each value would repeat the mistakes above
		p.ownValues(note, field)
	}
}

// choices checks the choices of an ENUM and adds mistakes to note.
func (p *Param) choices(note *problems, field string) {
	if p.kind().base != typeEnum {
		return
	}
	switch {
	case len(p.Choices) == 0 && p.ChoicesSQL == "":
		note.wrong(field+"choices", "parameter",
			"an ENUM needs its choices, or a SELECT that gives them")
	case len(p.Choices) > 0 && p.ChoicesSQL != "":
		note.wrong(field+"choices_sql", "parameter",
			"an ENUM has choices or a SELECT for them, not both")
	case len(p.Choices) > mostChoices:
		note.wrong(field+"choices", "parameter", "%d choices are more than %d", len(p.Choices),
			mostChoices)
	}
	for i, one := range p.Choices {
		switch one.get().(type) {
		case string, json.Number, bool:
		default:
			note.wrong(field+"choices", "parameter",
				"a choice is a text or a number, and %.60s is none", one)
		}
		for _, other := range p.Choices[:i] {
			if plain(json.RawMessage(one)) == plain(json.RawMessage(other)) {
				note.wrong(field+"choices", "parameter", "the choice %.60s is there twice", one)
			}
		}
	}
}

// bounds checks that the minimum and the maximum are values of the parameter's type and in the
// right order. It adds mistakes to note.
func (p *Param) bounds(note *problems, field string) {
	k := kind{base: p.kind().base}
	if !slices.Contains([]string{typeInteger, typeNumber, typeDate, typeTimestamp}, k.base) {
		return
	}
	unbounded := &Param{Name: p.Name, Type: k.String()}
	for _, one := range []struct {
		name  string
		value Value
	}{{"minimum", p.Minimum}, {"maximum", p.Maximum}} {
		if len(one.value) == 0 {
			continue
		}
		if _, wrong := unbounded.read(one.value.get(), nil); len(wrong) > 0 {
			note.wrong(field+one.name, "parameter", "%s",
				strings.Replace(wrong[0], p.Name, one.name, 1))
			return
		}
	}
	if len(p.Minimum) > 0 && len(p.Maximum) > 0 &&
		order(k.base, p.Minimum.get(), p.Maximum.get()) > 0 {
		note.wrong(field+"maximum", "parameter", "the maximum %s is less than the minimum %s",
			p.Maximum, p.Minimum)
	}
}

// ownValues checks that the default and the examples are values that a call may have, and adds
// mistakes to note. Choices from a SELECT are not read for this, since the database may be down.
func (p *Param) ownValues(note *problems, field string) {
	if len(p.Examples) > mostExamples {
		note.wrong(field+"examples", "parameter", "%d examples are more than %d", len(p.Examples),
			mostExamples)
	}
	for i, one := range append([]Value{p.Default}, p.Examples...) {
		if len(one) == 0 {
			continue
		}
		name := "default"
		if i > 0 {
			name = "examples"
		}
		if _, wrong := p.read(one.get(), nil); len(wrong) > 0 {
			note.wrong(field+name, "parameter", "%s", strings.Replace(wrong[0], p.Name, name, 1))
		}
	}
}

// order compares two values of the type base. It returns -1 if a is less than b, 1 if a is greater,
// and 0 if they are equal or cannot be compared.
func order(base string, a, b any) int {
	switch base {
	case typeDate:
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	case typeTimestamp:
		one, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(a))
		other, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(b))
		return one.Compare(other)
	}
	one, ok := new(big.Rat).SetString(fmt.Sprint(a))
	other, is := new(big.Rat).SetString(fmt.Sprint(b))
	if !ok || !is {
		return 0
	}
	return one.Cmp(other)
}

// checkers caches the compiled schemas of parameters.
var checkers valid.Cache

// rules returns a validator for what this package does not check itself: the schema of an OBJECT,
// or the format of a text. It returns nil if the parameter has neither, and an error if the schema
// cannot be used.
func (p *Param) rules() (*valid.Validator, error) {
	schema := p.Schema
	switch {
	case p.Format != "":
		schema = valueOf(map[string]any{"type": "string", "format": p.Format})
	case len(schema) == 0:
		return nil, nil
	case bytes.Contains(schema, []byte(`"$ref"`)), bytes.Contains(schema, []byte(`"$dynamicRef"`)):
		return nil, fmt.Errorf("references ($ref) are not followed; write what they refer to")
	}
	var object struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("it is no JSON object")
	}
	if p.Format == "" && object.Type != nil && object.Type != "object" {
		return nil, fmt.Errorf(`its type has to be "object"`)
	}
	return checkers.Get(json.RawMessage(schema))
}
