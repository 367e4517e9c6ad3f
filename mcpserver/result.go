package mcpserver

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/chat"
	"toolnorm/tools"
)

// callResult is what tools/call answers.
type callResult struct {
	Type       string          `json:"resultType,omitempty"` // since 2026-07-28
	Meta       json.RawMessage `json:"_meta,omitempty"`
	Content    []content       `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

// content is one part of a result.
type content struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	Data     []byte    `json:"data,omitempty"`
	MIME     string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// resource is an embedded document: a text, or bytes.
type resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitempty"`
	Blob []byte  `json:"blob,omitempty"`
}

// result writes what a tool gave. The first part is always a complete text, since some clients show nothing else.
func (e *engine) result(c *caller, tool string, r tools.Result) json.RawMessage {
	if r.IsError && !c.modern && c.hidesErrors() {
		return encode(callResult{Content: []content{textOf("Error: " + r.Text())}})
	}
	if e.cfg.Outcome(tool) {
		r = asOutcome(r)
	}
	out := callResult{Content: contents(r), Structured: r.Structured, IsError: r.IsError}
	switch {
	case c.modern:
		out.Type, out.Meta = "complete", e.lists.identity
	case len(r.Structured) > 0 && r.Structured[0] != '{':
		out.Structured = nil // earlier revisions know only objects; the text has it
	}
	if body, err := chat.JSON(out); err == nil {
		return body
	}
	out.Content, out.Structured, out.IsError = []content{textOf(tool + " gave a structured result that is no JSON")}, nil, true
	return encode(out)
}

// textOf is a part that is a text.
func textOf(text string) content { return content{Type: mcp.ContentTypeText, Text: &text} }

// asOutcome is a result as an object with success, and a result or an error, in the text and as the structure.
func asOutcome(r tools.Result) tools.Result {
	text := tools.OutcomeOf(r).JSON()
	out := tools.TextOf(string(text))
	out.Structured, out.IsError = text, r.IsError
	return out
}

// contents are the parts of a result, the first a text.
func contents(r tools.Result) []content {
	all := make([]content, 0, len(r.Content)+1)
	if len(r.Content) == 0 || r.Content[0].Kind != tools.Text {
		all = append(all, textOf(r.Text()))
	}
	for _, p := range r.Content {
		all = append(all, part(p))
	}
	return all
}

// part is one part as MCP writes it.
func part(p tools.Part) content {
	switch p.Kind {
	case tools.Image:
		return content{Type: mcp.ContentTypeImage, Data: p.Data, MIME: p.MIME}
	case tools.Audio:
		return content{Type: mcp.ContentTypeAudio, Data: p.Data, MIME: p.MIME}
	case tools.Link:
		return content{Type: mcp.ContentTypeLink, URI: p.URI, Name: p.Text, MIME: p.MIME}
	case tools.Resource:
		r := &resource{URI: p.URI, MIME: p.MIME, Blob: p.Data}
		if len(p.Data) == 0 {
			r.Text = &p.Text
		}
		return content{Type: mcp.ContentTypeResource, Resource: r}
	}
	return textOf(p.Text)
}
