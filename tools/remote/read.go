package remote

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/chat/schema"
	"toolnorm/tools"
)

// What servers send is read member by member: a member with only one possible meaning is read, an
// optional member that cannot be read is dropped, and only a tool that needs a broken member is
// left out. PHP writes an empty object as [], C# and Java write missing values as null, Lua writes
// an empty list as {}, and Python its own names of types.

// listed is a tool as a server lists it. The hints are the server's own claims: they are used only
// where a mistake does no harm.
type listed struct {
	Name, Title, Description string
	Schema, Output           json.RawMessage
	Hints                    tools.Hints
	More                     json.RawMessage // what clients of MCP see beside all that
}

// readTool reads a tool of a list. An error says why it cannot be used; its name is there if it has
// one.
func readTool(text json.RawMessage) (t listed, err error) {
	o, err := readObject(text)
	if err != nil {
		return t, errors.New("is not an object")
	}
	if json.Unmarshal(o.get("name"), &t.Name) != nil || t.Name == "" {
		return t, errors.New("has no name, or one that is not a text")
	}
	about, _ := readObject(o.get("annotations")) // without them it says nothing of itself
	t.Title = cmp.Or(wording(o.get("title")), wording(about.get("title")))
	t.Description = wording(o.get("description"))
	t.Hints = tools.Hints{
		ReadOnly: hint(about.get("readOnlyHint")), Destructive: hint(about.get("destructiveHint")),
		Idempotent: hint(about.get("idempotentHint")), OpenWorld: hint(about.get("openWorldHint")),
	}
	if t.Schema, err = argumentsSchema(o.get("inputSchema")); err != nil {
		return t, fmt.Errorf("its inputSchema %w", err)
	}
	// An output schema describes the result; a schema that cannot be read is ignored.
	if out, wrong := schema.Wellformed(o.get("outputSchema")); wrong == nil && len(out) > 0 &&
		out[0] == '{' {
		t.Output = out
	}
	t.More = more(o)
	return t, nil
}

// more returns the further members of a tool that clients of MCP are shown, each only if its value
// is of the right kind: clients refuse a whole list for one icon that is not an icon.
func more(o object) json.RawMessage {
	out := object{}
	for _, m := range o {
		inner, wrong := readObject(m.value)
		var list []json.RawMessage
		switch m.key {
		case "annotations":
			kept := object{}
			for _, a := range inner {
				if strings.HasSuffix(a.key, "Hint") && hint(a.value) == nil ||
					a.key == "title" && wording(a.value) == "" {
					continue
				}
				kept = append(kept, a)
			}
			if wrong == nil {
				out = append(out, member{m.key, kept.text()})
			}
		case "_meta":
			if wrong == nil {
				out = append(out, m)
			}
		case "execution":
			if support := wording(inner.get("taskSupport")); wrong == nil &&
				slices.Contains([]string{"", "forbidden", "optional", "required"}, support) {
				out = append(out, m)
			}
		case "icons":
			if json.Unmarshal(m.value, &list) == nil &&
				!slices.ContainsFunc(list, func(icon json.RawMessage) bool {
					i, err := readObject(icon)
					return err != nil || wording(i.get("src")) == ""
				}) {
				out = append(out, m)
			}
		}
	}
	return out.text()
}

// wording returns a text, or "" if value is not a text.
func wording(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s)
	return s
}

// hint returns a boolean, or nil if value is not one: a hint that is missing is not false, and
// "yes" is not a hint.
func hint(value json.RawMessage) (b *bool) {
	if json.Unmarshal(value, &b) != nil {
		return nil
	}
	return b
}

// argumentsSchema reads a tool's schema, whose arguments are an object. None at all, true and an
// empty list take any.
func argumentsSchema(text json.RawMessage) (json.RawMessage, error) {
	var inside string
	if json.Unmarshal(text, &inside) == nil && len(inside) > 0 && json.Valid([]byte(inside)) {
		text = json.RawMessage(inside) // encoded twice
	}
	if s := string(text); s == "" || s == "null" || s == "true" || s == "[]" {
		return nil, nil
	}
	if text[0] != '{' {
		return nil, errors.New("is not an object")
	}
	text, err := schema.Wellformed(text)
	if err != nil {
		return nil, err
	}
	o, err := readObject(text)
	if err != nil {
		return nil, err
	}
	var kinds []string
	switch said := o.get("type"); {
	case said == nil || string(said) == `"object"`:
	case json.Unmarshal(said, &kinds) == nil && slices.Contains(kinds, "object"):
		// Clients of MCP want the word alone, and arguments are never null.
		if o, err = o.with("type", "object"); err != nil {
			return nil, err
		}
		return o.text(), nil
	default:
		return nil, fmt.Errorf("is of the type %.40s, and arguments are an object", said)
	}
	return text, nil
}

// readPage reads a page of a list of tools: their texts, and where the next page is. A list with
// gaps comes from PHP as an object.
func readPage(raw json.RawMessage) (texts []json.RawMessage, next string, err error) {
	o, err := readObject(raw)
	if err != nil {
		return nil, "", fmt.Errorf("its list of tools cannot be read: %w", err)
	}
	list := o.get("tools")
	if values, wrong := readObject(list); wrong == nil {
		for _, m := range values {
			texts = append(texts, m.value)
		}
	} else if json.Unmarshal(list, &texts) != nil {
		return nil, "", fmt.Errorf("its list of tools cannot be read: it is %.40s", list)
	}
	return texts, wording(o.get("nextCursor")), nil
}

// plainPage returns a page in a form that mcp-go can read whatever the page holds, since one odd
// tool would make it give up the page: the name and the schema of each tool that can be used.
// mcp-go looks for headers in the schema.
func plainPage(raw json.RawMessage) json.RawMessage {
	type bare struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"inputSchema"`
	}
	all := []bare{}
	texts, next, _ := readPage(raw) // the error is told by list
	for _, text := range texts {
		t, err := readTool(text)
		if err != nil {
			continue
		}
		b := bare{t.Name, t.Schema}
		if one, _ := json.Marshal(b); len(t.Schema) == 0 ||
			json.Unmarshal(one, new(mcp.Tool)) != nil {
			b.Schema = json.RawMessage(`{"type":"object"}`)
		}
		all = append(all, b)
	}
	out, err := json.Marshal(map[string]any{"tools": all, "nextCursor": next})
	if err != nil {
		return raw
	}
	return out
}

// plainGreeting returns a server's description of itself in a form that mcp-go can read:
// capabilities and serverInfo are objects of objects there, and a value of another kind would make
// it give up the server. A capability that is [] or true counts as present.
func plainGreeting(raw json.RawMessage) json.RawMessage {
	o, err := readObject(raw)
	if err != nil {
		return raw
	}
	changed := false
	for i, m := range o {
		inner, wrong := readObject(m.value)
		switch {
		case m.key == "capabilities":
			plain := object{}
			for _, c := range inner {
				if s := string(bytes.TrimSpace(c.value)); s == "[]" || s == "true" {
					c.value = json.RawMessage("{}")
				}
				if c.value[0] == '{' {
					plain = append(plain, c)
				}
			}
			o[i].value, changed = plain.text(), true
		case m.key == "serverInfo":
			plain := object{}
			for _, key := range []string{"name", "version"} {
				plain, _ = plain.with(key, wording(inner.get(key))) // texts always encode
			}
			o[i].value, changed = plain.text(), true
		case m.key == "instructions" && m.value[0] != '"', m.key == "_meta" && wrong != nil:
			o[i].value, changed = json.RawMessage("null"), true
		}
	}
	if !changed {
		return raw
	}
	return o.text()
}
