package form

import (
	"net/http"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/field"
)

// ReadTools reads the tools that the client offers.
func (a *Ask) ReadTools(v *fastjson.Value) error {
	a.Tools = nil
	return field.List(v, func(v *fastjson.Value) error {
		t, err := ReadTool(v)
		a.Tools = append(a.Tools, t)
		return err
	})
}

// ReadTool reads one tool: {"type":"function","function":{…}}, or the function's fields without
// that wrapping. Other types are an error that names the tool: custom, web_search and the like are
// run by OpenAI, or need a reply in a form that no local model writes.
func ReadTool(v *fastjson.Value) (t chat.Tool, err error) {
	if v.Type() != fastjson.TypeObject {
		return t, field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	if kind := v.Get("type"); !field.IsNull(kind) && string(kind.GetStringBytes()) != "function" {
		return t, field.Bad("type", `must be "function"`)
	}
	if f := v.Get("function"); f != nil {
		return t, field.Within("function", ReadOffer(&t, f, "parameters"))
	}
	return t, ReadOffer(&t, v, "parameters")
}

// ReadOffer reads a tool's name, description and schema, for which the APIs have different names. A
// missing schema means a tool without arguments. A blank name could never be called.
func ReadOffer(t *chat.Tool, v *fastjson.Value, schema string) error {
	err := field.Object(v, field.Members{
		{"name", &t.Name},
		{"description", &t.Description},
		{"strict", &t.Strict},
		{schema, func(v *fastjson.Value) (err error) {
			if !field.IsNull(v) {
				t.Schema, err = readSchema(v)
			}
			return err
		}},
	})
	if err == nil && strings.TrimSpace(t.Name) == "" {
		err = field.Bad("name", "must not be empty")
	}
	return err
}

// Offer adds tools to the client's. Forms with tools of their own call it.
func (a *Ask) Offer(more []chat.Tool) {
	a.Tools = append(a.Tools[:len(a.Tools):len(a.Tools)], more...)
}

// SetHold sets how much of a call waits before it is sent: as much as the client's header
// Toolnorm-Hold says, or all of it if the reply is not streamed or a tool is strict. What waits can
// still be corrected.
func (a *Ask) SetHold(h http.Header) error {
	if v := h.Get("Toolnorm-Hold"); v != "" {
		hold, err := adapters.ParseHold(v)
		if err != nil {
			return fault.New(fault.Invalid, "the header Toolnorm-Hold: %v", err)
		}
		a.Hold = hold
	}
	if !a.Stream || slices.ContainsFunc(a.Tools, strict) {
		a.Hold = adapters.HoldCall
	}
	return nil
}

// strict reports whether the client wants the arguments of a tool to fit exactly. OpenAI's strict
// promises arguments that match the schema, and a fragment that was sent cannot be taken back.
func strict(t chat.Tool) bool { return t.Strict }
