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

// What servers send is read member by member. A member with only one possible meaning is read, an
// optional member that cannot be read is dropped, and only a tool that needs a broken member is
// left out. For example, PHP writes an empty object as [], C# and Java write missing values as
// null, Lua writes an empty list as {}, and Python uses its own names of types.

// listed is a tool in a server's list. Its hints, for example that a tool only reads, are the
// server's own claims, so they are used only where a mistake does no harm.
type listed struct {
	Name, Title, Description string
	Schema, Output           json.RawMessage
	Hints                    tools.Hints
	More                     json.RawMessage // further members of the listing, for MCP clients
}

// readTool reads a tool in a server's list. An error says why the tool cannot be used. If it has a
// name, t.Name is set even in that case.
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

// more returns further members of a tool, such as icons, as an object that MCP clients are shown. A
// member is included only if its value has the right type, because clients refuse a whole list for
// one icon that is not valid.
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

// wording returns the text in a JSON value, or "" if the value is not a text.
func wording(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s)
	return s
}

// hint returns the boolean in a JSON value, or nil if the value is missing or not a boolean. A
// missing hint does not mean false, and "yes" is not a hint.
func hint(value json.RawMessage) (b *bool) {
	if json.Unmarshal(value, &b) != nil {
		return nil
	}
	return b
}

// argumentsSchema returns a tool's input schema in a form that clients accept. It returns nil,
// which allows any arguments, if the schema is missing, null, true or an empty list. It returns an
// error if the schema is not an object or describes something other than an object.
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

// readPage reads a page of a list of tools. It returns the texts of the tools, and the cursor of
// the next page or "". The list may be an object, since PHP encodes a list with missing indexes so.
// It returns an error if the page cannot be read.
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

// plainPage returns a page in a form that mcp-go can always read, since one odd tool would
// otherwise make mcp-go give up the whole page. The page has the name and the schema of each tool
// that can be used; mcp-go looks for headers in the schema. If encoding fails, plainPage returns
// raw.
func plainPage(raw json.RawMessage) json.RawMessage {
	type bare struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"inputSchema"`
	}
	all := []bare{}
	texts, next, _ := readPage(raw) // list returns the error
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

// plainGreeting returns a server's description of itself in a form that mcp-go can read. mcp-go
// expects objects in capabilities and serverInfo, and gives up the server if a value has another
// type. A capability that is [] or true counts as present. A text that is not an object is returned
// unchanged.
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
