package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// mended is a rendered prompt whose tools are JSON. Templates that say {{ .Function }} print a tool as Go prints a
// struct, so that the model never sees a schema:
//
//	{get_weather Weather for a city {object <nil> <nil> [city] {"city":{"type":"string"}}}}
//
// Where exactly that text is found, in the order of the tools, the JSON of the function (or of its parameters alone)
// takes its place, with the schema as the client wrote it. Everything else stays.
func mended(prompt string, sent []upstream.Tool, full []chat.Tool) string {
	var b strings.Builder
	rest := prompt
	for i, tool := range sent {
		params := goText(tool.Function.Parameters)
		function := fmt.Sprintf("{%s %s %s}", tool.Function.Name, tool.Function.Description, params)
		for _, form := range []struct {
			text string
			json func(chat.Tool) string
		}{{function, functionJSON}, {params, schemaJSON}} {
			if before, after, ok := strings.Cut(rest, form.text); ok {
				b.WriteString(before)
				b.WriteString(form.json(full[i]))
				rest = after
				break
			}
		}
	}
	b.WriteString(rest)
	return b.String()
}

// goText is how Ollama's templates print parameters: the struct with its type, no $defs, no items, the required names,
// and the properties, which have a JSON form of their own, sorted by name.
func goText(parameters json.RawMessage) string {
	var p api.ToolFunctionParameters
	if err := json.Unmarshal(parameters, &p); err != nil {
		return "\x00" // found in no prompt
	}
	props, err := json.Marshal(p.Properties.ToMap())
	if err != nil {
		return "\x00"
	}
	return fmt.Sprintf("{%s <nil> <nil> %v %s}", p.Type, p.Required, props)
}

// functionJSON is a tool's function member.
func functionJSON(t chat.Tool) string {
	return plainJSON(upstream.Function{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(schemaJSON(t))})
}

// schemaJSON is a tool's schema in one line.
func schemaJSON(t chat.Tool) string {
	if len(t.Schema) == 0 {
		return `{"type":"object","properties":{}}`
	}
	return plainJSON(t.Schema)
}

// plainJSON is v as JSON in one line, with < and & as themselves: a model reads it.
func plainJSON(v any) string {
	text, err := chat.JSON(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
