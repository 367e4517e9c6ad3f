package proxy

import (
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// readTools reads the tools that the client offers.
func (a *Ask) readTools(v *fastjson.Value) error {
	a.Tools = nil
	if isNull(v) {
		return nil
	}
	return items(v, func(_ int, v *fastjson.Value) error {
		t, err := readTool(v)
		a.Tools = append(a.Tools, t)
		return err
	})
}

// readTool reads one tool: {"type":"function","function":{…}}, or the function's fields without that wrapping.
func readTool(v *fastjson.Value) (t chat.Tool, err error) {
	if v.Type() != fastjson.TypeObject {
		return t, bad("", "must be an object, not %s", kindOf(v))
	}
	if kind := v.Get("type"); !isNull(kind) && string(kind.GetStringBytes()) != "function" {
		return t, bad("type", `must be "function"`)
	}
	if f := v.Get("function"); f != nil {
		return t, within("function", readOffer(&t, f))
	}
	return t, readOffer(&t, v)
}

// readOffer reads a tool's name, description and schema.
func readOffer(t *chat.Tool, v *fastjson.Value) error {
	err := each(v, func(key string, v *fastjson.Value) (err error) {
		switch key {
		case "name":
			return text(&t.Name)(v)
		case "description":
			return text(&t.Description)(v)
		case "strict":
			return flag(&t.Strict)(v)
		case "parameters":
			if isNull(v) {
				return nil
			}
			if v.Type() != fastjson.TypeObject {
				return bad("", "must be a JSON Schema, an object, not %s", kindOf(v))
			}
			t.Schema, err = raw(v)
		}
		return err
	})
	if err == nil && strings.TrimSpace(t.Name) == "" {
		err = bad("name", "must not be empty")
	}
	return err
}

// choose applies tool_choice: "none" takes the offer back, and what it names must be on offer.
func (a *Ask) choose(v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	if v.Type() == fastjson.TypeObject {
		return within("tool_choice", a.chooseNamed(v))
	}
	switch choice := string(v.GetStringBytes()); choice {
	case "none":
		a.Tools, a.NoCalls = nil, true
	case "auto":
	case "required", "any":
		if len(a.Tools) == 0 {
			return bad("tool_choice", "is %q, but no tools are offered", choice)
		}
		a.Required = true
	default:
		return bad("tool_choice", `must be "none", "auto", "required" or an object that names a tool`)
	}
	return nil
}

// chooseNamed reads {"type":"function","function":{"name":…}} and {"type":"allowed_tools",…}.
func (a *Ask) chooseNamed(v *fastjson.Value) error {
	switch kind := string(v.GetStringBytes("type")); kind {
	case "function":
		a.Required = true
		return a.allow(v, a.offered())
	case "allowed_tools":
		if inner := v.Get("allowed_tools"); inner != nil {
			v = inner
		}
		switch mode := string(v.GetStringBytes("mode")); mode {
		case "", "auto":
		case "required":
			a.Required = true
		default:
			return bad("mode", `must be "auto" or "required", not %q`, mode)
		}
		a.Allowed = []string{} // an empty list allows none
		offered := a.offered()
		if err := within("tools", items(v.Get("tools"), func(_ int, v *fastjson.Value) error { return a.allow(v, offered) })); err != nil {
			return err
		}
		if a.Required && len(a.Allowed) == 0 {
			return bad("tools", "must name a tool when one is required")
		}
		return nil
	default:
		return bad("type", `must be "function" or "allowed_tools", not %q`, kind)
	}
}

// offered are the names of the tools.
func (a *Ask) offered() map[string]bool {
	names := make(map[string]bool, len(a.Tools))
	for _, t := range a.Tools {
		names[t.Name] = true
	}
	return names
}

// allow adds the tool that v names, with or without OpenAI's wrapping, to those that may be called.
func (a *Ask) allow(v *fastjson.Value, offered map[string]bool) error {
	field, name := "name", string(v.GetStringBytes("name"))
	if f := v.Get("function"); f != nil {
		field, name = "function.name", string(f.GetStringBytes("name"))
	}
	if !offered[name] {
		return bad(field, "no tool named %q is offered", name)
	}
	a.Allowed = append(a.Allowed, name)
	return nil
}

// offer adds tools to those of the client.
func (a *Ask) offer(more []chat.Tool) error {
	if a.Logprobs && len(more) > 0 {
		return asFault(bad("logprobs", "cannot be had while tools are offered: a call's tokens are not those of its arguments"))
	}
	a.Tools = append(a.Tools[:len(a.Tools):len(a.Tools)], more...)
	return nil
}
