package dynamic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"toolnorm/chat"
)

// The types of tools, as the table has them. PYTHON is an expression in a subset of Python, which
// internal/pyexpr evaluates; no Python interpreter runs.
const (
	typeSQL    = "SQL"
	typePython = "PYTHON"
)

// Draft is a tool as an administrator writes it. The names of its members are those of the tables'
// columns. The same type is read from the page, written into files by export, and kept whole as a
// version's snapshot: a member that is added here must have a zero value that means what it meant
// before.
type Draft struct {
	Name string `json:"name" yaml:"name"`
	// what models read
	DescriptionAgent string `json:"description_agent" yaml:"description_agent"`
	// what people read
	DescriptionUser string `json:"description_user" yaml:"description_user,omitempty"`
	// SQL or PYTHON
	Type string `json:"tool_type" yaml:"tool_type"`
	// the SELECT or the expression
	Definition string `json:"definition" yaml:"definition"`
	// the rest of the definition
	Options Options `json:"options" yaml:"options,omitempty"`
	// it is offered
	Active bool `json:"is_active" yaml:"is_active"`
	// in their order
	Params []Param `json:"params" yaml:"params,omitempty"`
	// the one that was edited, for Update
	Version int `json:"version,omitempty" yaml:"-"`

	// calls, and what has to come of them
	Examples []Example `json:"examples,omitempty" yaml:"examples,omitempty"`
	// it is saved though an example fails; never kept
	Force bool               `json:"force,omitempty" yaml:"-"`
	shape string             // what it asks looked like when it was saved
	said  map[string]Details // of the parameters in the definition, until they are attached
}

// Param is a parameter of a tool.
type Param struct {
	Name        string `json:"param_name" yaml:"param_name"`
	Type        string `json:"param_type" yaml:"param_type"`
	Required    bool   `json:"is_required" yaml:"is_required"`
	Description string `json:"description" yaml:"description,omitempty"`
	Details     `yaml:",inline"`
}

// UnmarshalJSON reads a parameter. It is required unless it says otherwise, since a SELECT mostly
// has no use for a missing value.
func (p *Param) UnmarshalJSON(text []byte) error {
	type plain Param
	one := plain{Required: true}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&one); err != nil {
		return err
	}
	*p = Param(one)
	return nil
}

// Options hold how a tool is run and how its result looks. Zero values are the defaults.
// They have no columns in the specification's table, so they go into the column
// definition beside the text (column).
type Options struct {
	// empty: the only one that is configured
	Connection string `json:"connection,omitempty" yaml:"connection,omitempty"`
	// auto, rows, one or value
	Result  string `json:"result,omitempty" yaml:"result,omitempty"`
	Format  string `json:"format,omitempty" yaml:"format,omitempty"`         // json or text
	Timeout int    `json:"timeout_ms,omitempty" yaml:"timeout_ms,omitempty"` // milliseconds
	MaxRows int    `json:"max_rows,omitempty" yaml:"max_rows,omitempty"`
	// a person is asked before each call
	Confirm bool `json:"confirm,omitempty" yaml:"confirm,omitempty"`
}

// Tool is a tool as it is kept. A client sends back only a Draft: the store alone sets id, time of
// creation and creator, so a page cannot forge them.
type Tool struct {
	ID int `json:"id"`
	Draft
	RegDT     string `json:"reg_dt"` // RFC 3339, UTC
	CreatedBy string `json:"created_by"`

	// This program sets the following fields; they are not in the store.
	Tokens  int    `json:"tokens"`            // about what it costs in a prompt
	Offered bool   `json:"offered"`           // the faces have it now
	Problem string `json:"problem,omitempty"` // why it is active and not offered
}

// column is a definition with its options as one JSON object, the second form that the
// column takes.
type column struct {
	SQL  *string `json:"sql,omitempty"`
	Expr *string `json:"expr,omitempty"`
	Options
	// what is said of them beside their types, by their names
	Params map[string]Details `json:"params,omitempty"`
}

// stored returns what the column holds: the text alone, or an object when there are options. A text
// that looks like such an object is wrapped, too, as it would otherwise be unpacked when it is read
// back.
func (d *Draft) stored() string {
	c := column{Options: d.Options, Params: map[string]Details{}}
	for _, p := range d.Params {
		if !p.empty() {
			c.Params[p.Name] = p.Details
		}
	}
	if d.Options == (Options{}) && len(c.Params) == 0 && !isColumn(d.Definition) {
		return d.Definition
	}
	if d.Type == typeSQL {
		c.SQL = &d.Definition
	} else {
		c.Expr = &d.Definition
	}
	text, err := chat.JSON(c)
	if err != nil {
		return d.Definition // strings and numbers always encode
	}
	return string(text)
}

// isColumn reports whether a definition is the object with sql or expr. {"a": 1} is a dict of
// Python's. The specification leaves open how "JSON or raw" are told apart; the first
// brace alone would take a dict, or a SELECT that a comment in braces begins, for the
// object.
func isColumn(text string) bool {
	var members map[string]json.RawMessage
	if !strings.HasPrefix(strings.TrimSpace(text), "{") ||
		json.Unmarshal([]byte(text), &members) != nil {
		return false
	}
	_, sql := members["sql"]
	_, expr := members["expr"]
	return sql || expr
}

// unpack takes apart a definition that is an object with sql or expr. Options in it win over those
// beside it, since they are written with the text.
func (d *Draft) unpack() error {
	if !isColumn(d.Definition) {
		return nil
	}
	c := column{Options: d.Options}
	// An option that is misspelt would be dropped in silence, and the tool run without
	// its limit.
	dec := json.NewDecoder(strings.NewReader(d.Definition))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return err
	}
	if c.SQL != nil && d.Type != typePython {
		d.Type, d.Definition = typeSQL, *c.SQL
	} else if c.Expr != nil && d.Type != typeSQL {
		d.Type, d.Definition = typePython, *c.Expr
	}
	d.Options, d.said = c.Options, c.Params
	return nil
}

// attach assigns to the parameters the details that the definition has for them, and returns the
// names that match no parameter.
func (d *Draft) attach() (unknown []string) {
	for _, name := range slices.Sorted(maps.Keys(d.said)) {
		i := slices.IndexFunc(d.Params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			unknown = append(unknown, name)
			continue
		}
		d.Params[i].Details = d.said[name]
	}
	d.said = nil
	return unknown
}
