package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolnorm/bench/arena/input"
)

// outcome is how well a program has read an input.
type outcome int

// The outcomes.
const (
	skipped outcome = iota // the reader was not asked
	right                  // the calls that were meant and no others; or no call if none was meant
	lost                   // calls are missing, and nothing wrong could run
	// a call that was not meant and fits its schema, although others were meant
	wrong
	falsely // such a call although no call was meant
	outcomes
)

// outcomeNames are the names of the outcomes on the page.
var outcomeNames = [outcomes]string{"skipped", "right", "lost", "wrong", "false"}

// judge decides how well the programs under comparison have read the inputs. It knows the schemas
// of all tools.
type judge struct {
	tools map[string]map[string]*jsonschema.Schema // by set and name
}

// newJudge returns a judge that knows the schemas of all tools. The map sets has lists of tools as
// JSON, by the name of the list. It returns an error if a list or a schema is not valid.
func newJudge(sets map[string]json.RawMessage) (*judge, error) {
	j := &judge{tools: map[string]map[string]*jsonschema.Schema{}}
	for set, raw := range sets {
		var tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &tools); err != nil {
			return nil, err
		}
		j.tools[set] = map[string]*jsonschema.Schema{}
		for _, t := range tools {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.Function.Parameters)))
			if err != nil {
				return nil, err
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource("tool.json", doc); err != nil {
				return nil, err
			}
			if j.tools[set][t.Function.Name], err = c.Compile("tool.json"); err != nil {
				return nil, err
			}
		}
	}
	return j, nil
}

// runs reports whether a call names a tool of a set and fits the tool's schema, so that a client
// would run it.
func (j *judge) runs(set string, c input.Call) bool {
	s := j.tools[set][c.Name]
	if s == nil {
		return false
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments(c)))
	return err == nil && s.Validate(v) == nil
}

// arguments returns a call's arguments, or {} if they are empty.
func arguments(c input.Call) string {
	if strings.TrimSpace(c.Arguments) == "" {
		return "{}"
	}
	return c.Arguments
}

// same reports whether two calls have the same name and arguments with the same value.
func same(a, b input.Call) bool {
	var x, y any
	if a.Name != b.Name || json.Unmarshal([]byte(arguments(a)), &x) != nil ||
		json.Unmarshal([]byte(arguments(b)), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// of returns the outcome of a program's reply to an input: whether it has the calls that were
// meant.
func (j *judge) of(c *input.Case, r *reply) outcome {
	if r.Skip {
		return skipped
	}
	n := 0 // the number of calls that are as they were meant, from the first one on
	for n < len(c.Want) && n < len(r.Calls) && same(c.Want[n], r.Calls[n]) {
		n++
	}
	if n == len(r.Calls) && (n == len(c.Want) || c.Prefix) {
		return right
	}
	for _, x := range r.Calls[n:] {
		if j.runs(c.ToolSet, x) && !meantLater(c.Want[n:], x) {
			if len(c.Want) == 0 {
				return falsely
			}
			return wrong
		}
	}
	return lost
}

// meantLater reports whether the call x is in rest, the expected calls that have not been read yet.
func meantLater(rest []input.Call, x input.Call) bool {
	return slices.ContainsFunc(rest, func(w input.Call) bool { return same(w, x) })
}
