package openai

import (
	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
)

// choose applies tool_choice: "none" takes the offer back, and what it names must be on offer.
// It runs when every field is read, since tool_choice may stand in front of tools in the body. "any" is
// Mistral's word for "required".
func (r *request) choose(v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	if v.Type() == fastjson.TypeObject {
		return field.Within("tool_choice", r.chooseNamed(v))
	}
	switch choice := string(v.GetStringBytes()); choice {
	case "none":
		r.Tools, r.NoCalls = nil, true
	case "auto":
	case "required", "any":
		if len(r.Tools) == 0 {
			return field.Bad("tool_choice", "is %q, but no tools are offered", choice)
		}
		r.Required = true
	default:
		return field.Bad("tool_choice", `must be "none", "auto", "required" or an object that names a tool`)
	}
	return nil
}

// chooseNamed reads {"type":"function","function":{"name":…}} and {"type":"allowed_tools",…}.
// The second keeps mode and tools in a member allowed_tools; the Responses API has them beside type, and that
// is taken as well. In mode "auto" the prompt stays as it is, so that the server's prefix cache works: all
// tools are offered, and a call of one that is not named is text.
// An empty list in mode "auto" allows no call at all; with "required" it could never be fulfilled and is an
// error.
func (r *request) chooseNamed(v *fastjson.Value) error {
	switch kind := string(v.GetStringBytes("type")); kind {
	case "function":
		r.Required = true
		return r.allow(v, r.offered())
	case "allowed_tools":
		if inner := v.Get("allowed_tools"); inner != nil {
			v = inner
		}
		switch mode := string(v.GetStringBytes("mode")); mode {
		case "", "auto":
		case "required":
			r.Required = true
		default:
			return field.Bad("mode", `must be "auto" or "required", not %q`, mode)
		}
		r.Allowed = []string{} // an empty list allows none
		offered := r.offered()
		if err := field.Within("tools", field.Items(v.Get("tools"), func(_ int, v *fastjson.Value) error { return r.allow(v, offered) })); err != nil {
			return err
		}
		if r.Required && len(r.Allowed) == 0 {
			return field.Bad("tools", "must name a tool when one is required")
		}
		return nil
	default:
		return field.Bad("type", `must be "function" or "allowed_tools", not %q`, kind)
	}
}

// offered are the names of the tools.
func (r *request) offered() map[string]bool {
	names := make(map[string]bool, len(r.Tools))
	for _, t := range r.Tools {
		names[t.Name] = true
	}
	return names
}

// allow adds the tool that v names, with or without OpenAI's wrapping, to those that may be called.
// A name that is not on offer is an error, since no reply could ever fulfil it.
func (r *request) allow(v *fastjson.Value, offered map[string]bool) error {
	member, name := "name", string(v.GetStringBytes("name"))
	if f := v.Get("function"); f != nil {
		member, name = "function.name", string(f.GetStringBytes("name"))
	}
	if !offered[name] {
		return field.Bad(member, "no tool named %q is offered", name)
	}
	r.Allowed = append(r.Allowed, name)
	return nil
}
