package adapters

import (
	"slices"

	"toolnorm/adapters/internal/form"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/adapters/internal/wrapper"
	"toolnorm/chat/schema"
)

// formed reads the calls here by a form, the description of all calls of a reply in a declaration.
// It returns committed if all can be read, and mismatch or incomplete otherwise.
func (pt *patterns) formed(f *form.Form) match {
	found, end, a := f.Read(formText{pt})
	if a != matched {
		return a
	}
	var calls []wrapper.Call
	for _, c := range found {
		t := pt.tools.Find(c.Name)
		args, ok := formArgs(c, t)
		if !ok {
			return mismatch
		}
		calls = append(calls, wrapper.Call{Tool: t, ID: c.ID, Args: args})
	}
	pt.Pos += end
	return sendCalls(pt.calls, calls)
}

// formArgs returns the arguments of a call as JSON. Values without quotes get the types of the
// tool's schema. It returns false if such a value fits none of its types, because the call must
// then not run.
func formArgs(c form.Call, t *toolset.Tool) (string, bool) {
	if c.JSON != "" {
		return c.JSON, true
	}
	out := "{"
	for i, m := range c.Args {
		if i > 0 {
			out += ", "
		}
		if m.Raw {
			typ := t.Type().Prop(m.Key)
			m.Value = lenient.FromText(m.Value, typ)
			if !typ.Allows(schema.KindOf(m.Value)) {
				return "", false
			}
		}
		out += schema.Quote(m.Key) + ": " + m.Value
	}
	return out + "}", true
}

// formText lets the readers of single forms of calls look ahead in the reply. It implements
// form.Text.
type formText struct{ *patterns }

// Named reports whether a tool of exactly that name is offered.
func (ft formText) Named(name string) bool {
	t := ft.tools.Find(name)
	return t != nil && t == ft.tools.Named(name)
}

// Takes reports whether the named tool has a parameter of that key, or declares no parameters. If
// there is no such tool, because the name is not known yet, it reports whether any tool has that
// parameter.
func (ft formText) Takes(name, key string) bool {
	if t := ft.tools.Find(name); t != nil {
		return t.Type().Has(key) || len(t.Type().Members()) == 0
	}
	return slices.Contains(ft.tools.MemberNames(), key)
}

// Fits reports whether the named tool's schema allows a value of this kind at a place in the tool's
// arguments; keys is the way to that place. It returns true if the schema gives no type for the
// place.
func (ft formText) Fits(name string, keys []string, value string) bool {
	typ := ft.typeAt(name, keys)
	return typ == nil || !typ.Known() || typ.Allows(schema.KindOf(value))
}

// Typed returns the JSON for a text without quotation marks at a place in the arguments of the
// named tool; keys is the way to that place. It returns false if the schema gives no type for the
// place, or a type that the text does not fit.
func (ft formText) Typed(name string, keys []string, text string) (string, bool) {
	typ := ft.typeAt(name, keys)
	if typ == nil {
		return "", false
	}
	value := lenient.FromText(text, typ)
	return value, typ.Known() && typ.Allows(schema.KindOf(value))
}

// typeAt returns the type of the place in the named tool's arguments to which the keys lead, or nil
// if there is no such tool.
func (ft formText) typeAt(name string, keys []string) *schema.Type {
	t := ft.tools.Find(name)
	if t == nil {
		return nil
	}
	typ := t.Type()
	for _, key := range keys {
		if key == "" {
			typ = typ.Item()
		} else {
			typ = typ.Prop(key)
		}
	}
	return typ
}

// Over reports whether the reply ends at offset i, apart from white space, because the model ended
// it.
func (ft formText) Over(i int) bool { return ft.marks.over(i) }
