package form

import (
	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
)

// Named is a function that returns the name of the tool that an object names. It also returns the
// path of the member that has the name, for error messages.
type Named func(v *fastjson.Value) (member, name string)

// FindTool finds the name of the tool that v names, in the notation of any API: {"name":"f"} in
// Responses and Messages, and {"function":{"name":"f"}} in chat completions. It returns the path of
// the member, such as "function.name", and the tool's name.
func FindTool(v *fastjson.Value) (member, name string) {
	if f := v.Get("function"); !field.IsNull(f) {
		return "function.name", string(f.GetStringBytes("name"))
	}
	return "name", string(v.GetStringBytes("name"))
}

// Choose applies tool_choice in the notation of any API: a word, alone or as the type of an object,
// or an object that names tools. "none" withdraws all tools, and a tool that is named must be
// offered. "any" is Anthropic's and Mistral's word for "required". The parameter named is a
// function that finds the name of a tool in an object. Choose returns an error for an invalid
// choice or a tool that is not offered. It must be called after all fields are read, since
// tool_choice may come before tools in the body.
func (a *Ask) Choose(v *fastjson.Value, named Named) error {
	if field.IsNull(v) {
		return nil
	}
	at, choice := "tool_choice", string(v.GetStringBytes())
	if v.Type() == fastjson.TypeObject {
		at, choice = "tool_choice.type", string(v.GetStringBytes("type"))
		if err := field.Member(v, "disable_parallel_tool_use", &a.Single); err != nil {
			return field.Within("tool_choice", err)
		}
		switch choice {
		case "function", "custom", "tool", "tool_search":
			a.Required = true
			return field.Within("tool_choice", a.allow(v, named, a.offered()))
		case "allowed_tools":
			return field.Within("tool_choice", a.allowSome(v, named))
		}
	}
	switch choice {
	case "none":
		a.ForbidCalls()
	case "auto":
	case "required", "any":
		if len(a.Tools) == 0 {
			return field.Bad(at, "is %q, but no tools are offered", choice)
		}
		a.Required = true
	default:
		return field.Bad(at,
			`must be "none", "auto", "required" or an object that names a tool, not %q`, choice)
	}
	return nil
}

// ForbidCalls withdraws all tools. It also forbids calls of the tools that this program adds, such
// as the agent's.
func (a *Ask) ForbidCalls() { a.Tools, a.NoCalls, a.Allowed = nil, true, []string{} }

// allowSome applies an object {"type":"allowed_tools",…}. In chat completions mode and tools are in
// a member allowed_tools, and in the Responses API they are next to type. Both are accepted
// everywhere. It returns an error if the mode is unknown, or if a tool is not offered.
//
// In mode "auto" the prompt stays as it is, so that the server's prefix cache works. All tools are
// offered, and a call of a tool that is not allowed becomes text. An empty list in mode "auto"
// allows no call at all. With "required" an empty list could never be fulfilled and is an error.
func (a *Ask) allowSome(v *fastjson.Value, named Named) error {
	if inner := v.Get("allowed_tools"); inner != nil {
		v = inner
	}
	switch mode := string(v.GetStringBytes("mode")); mode {
	case "", "auto":
	case "required":
		a.Required = true
	default:
		return field.Bad("mode", `must be "auto" or "required", not %q`, mode)
	}
	a.Allowed = []string{} // an empty list allows no call
	offered := a.offered()
	err := field.Within("tools", field.Items(v.Get("tools"), func(v *fastjson.Value) error {
		return a.allow(v, named, offered)
	}))
	if err == nil && a.Required && len(a.Allowed) == 0 {
		err = field.Bad("tools", "must name a tool when one is required")
	}
	return err
}

// offered returns the names of the offered tools as a set.
func (a *Ask) offered() map[string]bool {
	names := make(map[string]bool, len(a.Tools))
	for _, t := range a.Tools {
		names[t.Name] = true
	}
	return names
}

// allow adds the tool that v names to the tools that may be called. It returns an error if the tool
// is not offered, since no reply could ever call it.
func (a *Ask) allow(v *fastjson.Value, named Named, offered map[string]bool) error {
	member, name := named(v)
	if !offered[name] {
		return field.Bad(member, "no tool named %q is offered", name)
	}
	a.Allowed = append(a.Allowed, name)
	return nil
}
