package streamcheck

import (
	"encoding/json"
	"regexp"
	"slices"
)

// fragment is a piece of a call. A nil pointer means that a member is missing, not empty.
type fragment struct {
	Index    *int             `json:"index"`
	ID       *json.RawMessage `json:"id"`
	Type     *string          `json:"type"`
	Function *struct {
		Name      *string          `json:"name"`
		Arguments *json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// callID matches ids that every client accepts. An id that is a number, as some servers send, is a
// schema error for the AI SDK.
var callID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// fragments checks the pieces of calls in a delta. A call must be complete before the next one
// begins.
func (c *checker) fragments(raw json.RawMessage) {
	var fs []fragment
	if err := json.Unmarshal(raw, &fs); err != nil || len(fs) == 0 {
		c.breaks("S12", "tool_calls %s: %v", raw, err)
	}
	for _, f := range fs {
		if f.Index == nil || f.Function == nil {
			c.breaks("S12", "no index or function in %s", raw)
			return
		}
		switch {
		case *f.Index == len(c.Calls):
			c.begin(f, raw)
		case *f.Index != len(c.Calls)-1:
			c.breaks("S12", "index %d behind %d calls", *f.Index, len(c.Calls))
			return
		case !c.openCall:
			c.breaks("S13 and S22", "call %d goes on after something else came", *f.Index)
		case f.ID != nil || f.Function.Name != nil:
			c.breaks("S18", "id or name again: %s", raw)
		}
		c.arguments(f, raw)
	}
}

// begin checks the first fragment of a call, which must have the id, the type and the name. For
// example, Goose reads the name only there.
func (c *checker) begin(f fragment, raw json.RawMessage) {
	c.closeCall()
	c.openCall = true
	var id string
	if f.ID == nil || json.Unmarshal(*f.ID, &id) != nil || !callID.MatchString(id) {
		c.breaks("S14", "id in %s", raw)
	}
	if slices.ContainsFunc(c.Calls, func(g Call) bool { return g.ID == id }) {
		c.breaks("S23", "id %q twice", id)
	}
	if f.Type == nil || *f.Type != "function" {
		c.breaks("S15", "type in %s", raw)
	}
	name := ""
	if f.Function.Name == nil || *f.Function.Name == "" {
		c.breaks("S16", "name in %s", raw)
	} else {
		name = *f.Function.Name
	}
	if !slices.Contains(c.want.Tools, name) {
		c.breaks("S25", "%q was not offered", name)
	}
	c.Calls = append(c.Calls, Call{ID: id, Name: name})
}

// arguments checks that the arguments of a fragment are a string, and appends them to the call.
// Goose fails if they are null, and every tested client fails if they are an object.
func (c *checker) arguments(f fragment, raw json.RawMessage) {
	var s string
	if f.Function.Arguments == nil || json.Unmarshal(*f.Function.Arguments, &s) != nil ||
		(*f.Function.Arguments)[0] != '"' {
		c.breaks("S17", "arguments in %s", raw)
	}
	c.ArgChunks++
	c.Calls[len(c.Calls)-1].Args += s
}

// closeCall checks the arguments of the open call, if there is one, and marks the call as complete.
func (c *checker) closeCall() {
	if !c.openCall {
		return
	}
	c.openCall = false
	var obj map[string]json.RawMessage
	args := c.Calls[len(c.Calls)-1].Args
	if json.Unmarshal([]byte(args), &obj) == nil && obj != nil {
		c.finished++
	} else if c.Finish != "length" {
		c.breaks("S24", "arguments %q are no object", args)
	}
}
