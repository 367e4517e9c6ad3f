package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/clip"
	"toolnorm/tools"
)

// bytesPerToken is roughly how many bytes of a description make one token, since descriptions are
// English and JSON. The tokens of the model itself are not known here, and only the order of
// magnitude matters.
const bytesPerToken = 4

// described is a tool as a prompt describes it, in the members that OpenAI's requests have: models
// know them from training.
type described struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// describe returns the tools as text for a prompt: with their whole schemas if the budget, in
// tokens, allows that. Otherwise each tool has only the first sentence of its description and the
// names and types of its parameters. If that is too long as well, the text has only a search tool.
// A few tools that a small model can read are better than all of them, since a prompt that fills
// the context leaves no room for the question.
func (ts *toolset) describe(budget int) string {
	// Whole schemas are best for a model: they contain enums, formats and nested members.
	whole := describe(ts.list, func(t tools.Tool) described {
		return described{t.Name, t.Description, t.Schema}
	})
	if len(whole) <= budget*bytesPerToken {
		return whole
	}
	if brief := describe(ts.list, briefly); len(brief) <= budget*bytesPerToken {
		return brief
	}
	// From now on search_tools is offered, and call answers it.
	ts.searched = true
	return describe([]tools.Tool{searcher}, func(t tools.Tool) described {
		return described{t.Name, t.Description, t.Schema}
	})
}

// describe returns a JSON array with one tool per line, as the system prompt lists them:
// [\n{"name":"tts.generate_speech",…},\n…]. The function one says what is listed of a tool. A tool
// whose schema is not JSON is listed without its schema.
func describe(list []tools.Tool, one func(tools.Tool) described) string {
	var b strings.Builder
	b.WriteString("[")
	for i, t := range list {
		if i > 0 {
			b.WriteString(",")
		}
		d := one(t)
		// Servers indent their schemas as they like, and white space costs tokens.
		if len(d.Parameters) > 0 {
			d.Parameters = compact(d.Parameters)
		}
		text, err := chat.JSON(d)
		if err != nil { // a schema that is not JSON
			text, _ = chat.JSON(described{Name: d.Name, Description: d.Description})
		}
		b.WriteString("\n")
		b.Write(text)
	}
	b.WriteString("\n]")
	return b.String()
}

// briefly returns a short description of a tool, with parameters such as {"a": "integer", "b?":
// "string"}. From a name alone models guess the arguments, and the types keep them from writing
// objects in place of strings. The type "any" means several types or none.
func briefly(t tools.Tool) described {
	params := map[string]string{}
	root := schema.Parse(t.Schema).Written()
	members, _ := root.Members()
	for _, m := range members {
		name, typ := m.Name, "any"
		if !slices.Contains(root.Required(), name) {
			name += "?"
		}
		if types := m.At.Types(); len(types) == 1 {
			typ = types[0]
		}
		params[name] = typ
	}
	text, _ := chat.JSON(params)
	first, _, _ := strings.Cut(t.Description, ". ")
	return described{t.Name, clip.Dots(first, 120), text}
}

// searchTool is the name of the tool that finds other tools. It has no dot, so no server's tool can
// have this name.
const searchTool = "search_tools"

// searcher is the tool named searchTool. Its description explains the two steps: search, then call
// a tool that was found by its name.
var searcher = tools.Tool{
	Name:        searchTool,
	Description: "Finds tools by words of what they do, and says how each is called. Search first; then call the tool that you have found by its name.",
	Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string","description":"what the tool should do"}},"required":["query"]}`),
}

// mostFound is how many tools one search finds. They are described in full, so a longer list would
// be too long again.
const mostFound = 5

// find returns the result of a search for tools, or an error result if args has no query. The tools
// that it finds stay offered for the rest of the run. If it finds nothing, the result lists some
// tools by name, so that the next search can use their words.
func (ts *toolset) find(ctx context.Context, args json.RawMessage) tools.Result {
	var q struct{ Query string }
	if err := json.Unmarshal(args, &q); err != nil || q.Query == "" {
		return tools.Failure(`say what the tool should do: {"query": "…"}`)
	}
	ranked := ts.lookup(ctx, q.Query)
	// An empty result would leave a small model with nothing to go on.
	if len(ranked) == 0 {
		return tools.TextOf("no tool does that; the servers have tools called " +
			strings.Join(ts.names()[:min(20, len(ts.list))], ", "))
	}
	for _, t := range ranked {
		if !slices.Contains(ts.found, t.Name) {
			ts.found = append(ts.found, t.Name)
		}
	}
	return tools.TextOf(describe(ranked, func(t tools.Tool) described {
		return described{t.Name, t.Description, t.Schema}
	}))
}
