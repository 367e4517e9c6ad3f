package form

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/field"
)

// ReadTools stores the tools that the client offers. It returns an error if one is invalid.
func (a *Ask) ReadTools(v *fastjson.Value) error {
	a.Tools = nil
	return field.List(v, func(v *fastjson.Value) error {
		t, err := ReadTool(v)
		a.Tools = append(a.Tools, t)
		return err
	})
}

// ReadTool returns one tool from {"type":"function","function":{…}}, or from the function's fields
// without the object around them. It returns an error for other types, such as custom and
// web_search. OpenAI runs those itself, or they need a reply in a form that no local model writes.
func ReadTool(v *fastjson.Value) (t chat.Tool, err error) {
	if v.Type() != fastjson.TypeObject {
		return t, field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	if kind := v.Get("type"); !field.IsNull(kind) && string(kind.GetStringBytes()) != "function" {
		return t, field.Bad("type", `must be "function"`)
	}
	f := v.Get("function")
	if field.IsNull(f) {
		return t, ReadOffer(&t, v)
	}
	// Some clients write the schema beside the wrapper. What stands in it has precedence.
	if err = readOffer(&t, v); err == nil {
		err = field.Within("function", ReadOffer(&t, f))
	}
	return t, err
}

// ReadOffer stores a tool's name, description and schema in t. The field with the schema has
// another name in each API, and clients that speak several APIs mix these names up. A missing
// schema means a tool without arguments. It returns an error if the name is blank, since the tool
// could never be called, or if a field is invalid.
func ReadOffer(t *chat.Tool, v *fastjson.Value) error {
	err := readOffer(t, v)
	if err == nil && strings.TrimSpace(t.Name) == "" {
		err = field.Bad("name", "must not be empty")
	}
	return err
}

// readOffer stores a tool's name, description, schema and strictness in t, as far as v has them. It
// returns an error if one of them is invalid.
func readOffer(t *chat.Tool, v *fastjson.Value) error {
	schema := func(v *fastjson.Value) (err error) {
		if !field.IsNull(v) {
			t.Schema, err = readSchema(v)
		}
		return err
	}
	return field.Object(v, field.Members{
		{"name", &t.Name},
		{"description", &t.Description},
		{"strict", &t.Strict},
		{"parameters", schema},   // OpenAI
		{"input_schema", schema}, // Anthropic
		{"inputSchema", schema},  // MCP
	})
}

// OfferOnce removes tools that have the same name as a tool before them, since no call could say
// which of them it means. If their schemas differ, the client is told.
func (a *Ask) OfferOnce() {
	first, differ := map[string]chat.Tool{}, []string(nil)
	a.Tools = slices.DeleteFunc(a.Tools, func(t chat.Tool) bool {
		before, twice := first[t.Name]
		if !twice {
			first[t.Name] = t
		} else if !bytes.Equal(before.Schema, t.Schema) && !slices.Contains(differ, t.Name) {
			differ = append(differ, t.Name)
		}
		return twice
	})
	if len(differ) > 0 {
		a.Tell("Same-Name", strings.Join(differ, ",")+
			": of several tools with one name only the first is offered")
	}
}

// Offer adds tools to those of the client, for forms with tools of their own.
func (a *Ask) Offer(more []chat.Tool) {
	a.Tools = append(a.Tools[:len(a.Tools):len(a.Tools)], more...)
}

// SetHold sets how much of a call is held back before it is sent. The client's header Toolnorm-Hold
// decides, but if the reply is not streamed or a tool is strict, the whole call is held back. The
// part that is held back can still be corrected. It returns an error if the header is invalid.
func (a *Ask) SetHold(h http.Header) error {
	if v := h.Get("Toolnorm-Hold"); v != "" {
		hold, err := adapters.ParseHold(v)
		if err != nil {
			return fault.New(fault.Invalid, "the header Toolnorm-Hold: %v", err)
		}
		a.Hold = hold
	}
	// OpenAI's field strict promises arguments that match the schema, and a fragment that was sent
	// cannot be taken back.
	if !a.Stream || slices.ContainsFunc(a.Tools, func(t chat.Tool) bool { return t.Strict }) {
		a.Hold = adapters.HoldCall
	}
	return nil
}
