package dynamic

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"toolnorm/chat"
)

// The types of tools, as the table names them. PYTHON is an expression in a subset of Python, which
// internal/pyexpr evaluates; no Python interpreter runs.
const (
	typeSQL    = "SQL"
	typePython = "PYTHON"
)

// Draft is a tool as an administrator writes it. Its members have the names of the tables' columns.
// The page sends a Draft, an export writes it into files, and each version has one as its snapshot.
// So if a member is added here, its zero value must mean what its absence meant before.
type Draft struct {
	Name string `json:"name" yaml:"name"`
	// for models
	DescriptionAgent string `json:"description_agent" yaml:"description_agent"`
	// for people
	DescriptionUser string `json:"description_user" yaml:"description_user,omitempty"`
	// SQL or PYTHON
	Type string `json:"tool_type" yaml:"tool_type"`
	// the SELECT or the expression
	Definition string `json:"definition" yaml:"definition"`
	// further settings of the definition
	Options Options `json:"options" yaml:"options,omitempty"`
	// whether the tool is offered
	Active bool `json:"is_active" yaml:"is_active"`
	// in their order
	Params []Param `json:"params" yaml:"params,omitempty"`
	// the version that was edited, for Update
	Version int `json:"version,omitempty" yaml:"-"`

	// calls with their expected results
	Examples []Example `json:"examples,omitempty" yaml:"examples,omitempty"`
	// save the draft even if an example fails; never stored
	Force bool               `json:"force,omitempty" yaml:"-"`
	shape string             // the tables it queries as they were when it was saved; see shape
	said  map[string]Details // details of parameters in the definition, until attach assigns them
}

// Param is a parameter of a tool.
type Param struct {
	Name        string `json:"param_name" yaml:"param_name"`
	Type        string `json:"param_type" yaml:"param_type"`
	Required    bool   `json:"is_required" yaml:"is_required"`
	Description string `json:"description" yaml:"description,omitempty"`
	Details     `yaml:",inline"`
}

// UnmarshalJSON implements json.Unmarshaler. A parameter is required by default, since a SELECT
// rarely has a use for a missing value. An unknown member is an error.
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

// Options say how a tool is run and how its result is shown. Zero values are the defaults. The
// specification's table has no columns for them, so they are stored in the column "definition",
// beside the definition's text (see column).
type Options struct {
	// empty: the only connection that is configured
	Connection string `json:"connection,omitempty" yaml:"connection,omitempty"`
	// auto, rows, one or value
	Result  string `json:"result,omitempty" yaml:"result,omitempty"`
	Format  string `json:"format,omitempty" yaml:"format,omitempty"`         // json or text
	Timeout int    `json:"timeout_ms,omitempty" yaml:"timeout_ms,omitempty"` // milliseconds
	MaxRows int    `json:"max_rows,omitempty" yaml:"max_rows,omitempty"`
	// a person is asked before each call
	Confirm bool `json:"confirm,omitempty" yaml:"confirm,omitempty"`
}

// Tool is a tool as it is stored. A client sends back only a Draft, because only the store sets the
// id, the creation time and the creator, so that a page cannot forge them.
type Tool struct {
	ID int `json:"id"`
	Draft
	RegDT     string `json:"reg_dt"` // RFC 3339, UTC
	CreatedBy string `json:"created_by"`

	// This program sets the following fields; they are not in the store.
	Tokens  int    `json:"tokens"`            // about how many tokens it costs in a prompt
	Offered bool   `json:"offered"`           // models and clients can call it now
	Problem string `json:"problem,omitempty"` // why it is active but not offered
}

// column is the value of the database column definition if that is a JSON object, with the tool's
// definition and its options. Otherwise the column has the text of the definition alone.
type column struct {
	SQL  *string `json:"sql,omitempty"`
	Expr *string `json:"expr,omitempty"`
	Options
	// the details of the parameters, by name
	Params map[string]Details `json:"params,omitempty"`
}

// stored returns the value for the database column definition. This value is a JSON object if there
// are options or details of parameters, and otherwise the text of the definition alone. If that
// text itself looks like such an object, it is put into an object as well, because it would
// otherwise be misread later.
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

// isColumn reports whether a definition is a JSON object with sql or expr, and not the text of a
// SELECT or an expression; the specification leaves open how to tell. A brace at the beginning is
// not enough: {"a": 1} is a Python dict, and a SELECT may begin with a comment in braces.
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

// unpack replaces a definition that is a JSON object with sql or expr by the text of that member.
// The options in the object replace the draft's own, because they were written together with the
// text. unpack returns an error if the object has unknown members or wrong types.
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

// attach moves the details of parameters, such as a minimum, from d.said to the parameters. The
// column definition had these details, by the names of the parameters. attach returns the names in
// d.said that no parameter has.
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
