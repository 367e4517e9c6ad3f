package mcpserver

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// offered are the registry's tools as they are listed, in its order. One that clients would have to drop is left out, and the
// log says why.
func (l *lists) offered(s *tools.Snapshot) []mcp.Tool {
	var all []mcp.Tool
	for _, t := range s.Tools {
		out := describe(t)
		if l.cfg.Outcome(t.Name) {
			out.RawOutputSchema = outcomeSchema(t.Output)
		}
		if err := mcp.ValidateParamHeaderAnnotations(&out); err != nil {
			l.cfg.Log.Warn().Str("tool", t.Name).Err(err).Msg("the tool is not offered to MCP clients, since they would refuse it")
			continue
		}
		all = append(all, out)
	}
	return all
}

// extra are the tools of mcp-go's server by name, but those whose names are taken.
func (l *lists) extra(taken []mcp.Tool) (all []mcp.Tool) {
	extra := l.cfg.Extra.ListTools()
	if len(extra) == 0 {
		return nil
	}
	for _, t := range taken {
		delete(extra, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		all = append(all, extra[name].Tool)
	}
	return all
}

// describe is a tool as MCP writes it.
func describe(t tools.Tool) mcp.Tool {
	if len(t.Output) == 0 {
		t.Output = nil
	}
	return mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		RawInputSchema: objectSchema(t.Schema), RawOutputSchema: t.Output,
		Annotations: mcp.ToolAnnotation{
			Title: t.Title, ReadOnlyHint: t.Hints.ReadOnly, DestructiveHint: t.Hints.Destructive,
			IdempotentHint: t.Hints.Idempotent, OpenWorldHint: t.Hints.OpenWorld,
		},
	}
}

// objectSchema is a schema that says in so many words that arguments are an object. A client that misses that refuses the
// whole list.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil || len(members) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	switch says, ok := members["type"]; {
	case !ok:
		return append([]byte(`{"type":"object",`), bytes.TrimLeft(schema, " \t\r\n{")...)
	case string(says) == `"object"`:
		return schema
	}
	return encode(struct {
		Type string            `json:"type"`
		All  []json.RawMessage `json:"allOf"`
	}{"object", []json.RawMessage{schema}})
}

// outcomeSchema is the schema of a tools.Outcome whose result has the schema result.
func outcomeSchema(result json.RawMessage) json.RawMessage {
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	type is struct {
		Type string `json:"type"`
	}
	type properties struct {
		Success is              `json:"success"`
		Result  json.RawMessage `json:"result"`
		Error   is              `json:"error"`
	}
	return encode(struct {
		Type       string     `json:"type"`
		Properties properties `json:"properties"`
		Required   []string   `json:"required"`
	}{"object", properties{is{"boolean"}, result, is{"string"}}, []string{"success"}})
}

// modernTool writes a tool for 2026-07-28.
func modernTool(t mcp.Tool) json.RawMessage { return encode(t) }

// legacyTool writes a tool for the revisions before 2026-07-28, whose structured results are objects.
func legacyTool(t mcp.Tool) json.RawMessage {
	var says struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(t.RawOutputSchema, &says) != nil || string(says.Type) != `"object"` {
		t.RawOutputSchema = nil
	}
	return encode(t)
}
