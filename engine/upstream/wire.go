package upstream

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/adapters/derive"
	"toolnorm/chat"
)

// Tool is a tool in the JSON form of both Ollama and OpenAI.
type Tool struct {
	Type     string   `json:"type"` // "function"
	Function Function `json:"function"`
}

// Function is the function of a Tool. Parameters is the client's own schema, unless the server
// accepts only basic keywords (Facts.PlainSchemas). For Ollama, Parameters has the form that every
// version can print. That is always an object with properties, without booleans in place of schemas
// (a 400 in every mode), and without $ref, pattern or format, which Ollama drops or the
// llama-server below it refuses.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	// OpenAI's promise that arguments fit; only if the client set it
	Strict bool `json:"strict,omitempty"`
}

// WireTools returns the order's tools in the JSON form of both APIs. The member strict exists only
// in OpenAI's API, and Ollama ignores it.
func (o *Order) WireTools() (all []Tool) {
	for _, t := range o.Tools {
		all = append(all, Tool{"function", Function{t.Name, t.Description, t.Schema, t.Strict}})
	}
	return all
}

// ProbeTool is the smallest tool that every server and template accepts. A llama-server refuses
// parameters without properties, and the template of Command-R+ fails for a tool without a
// description.
var ProbeTool = Tool{"function", Function{
	Name: "probe", Description: "probe", Parameters: json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"string","description":"probe"}},"required":["a"]}`),
}}

// Arguments returns the arguments of a call as a JSON object. For an empty text it returns {},
// because some clients send an empty text if there are no arguments. Text that is not an object was
// refused when the request came.
func Arguments(c chat.Call) json.RawMessage {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		return json.RawMessage("{}")
	}
	return c.Args
}

// Rendering returns the chat template of the model that the order names. The parameter source is
// the template's text, and the function render renders an order with it. The parameter thinks says
// whether the model can think. If it can, thinking is switched on, because many templates print
// reasoning only then.
func (o *Order) Rendering(source string, thinks bool,
	render func(*Order) (string, error)) derive.Template {
	q := *o
	q.Facts.Thinking = thinks
	return derive.Template{Source: source,
		Render: func(messages []chat.Message, tools []chat.Tool) (string, error) {
			q.Request, q.Tools = &chat.Request{Model: o.Model, Messages: messages, Think: &thinks},
				tools
			return render(&q)
		}}
}

// alsoCalled comes before the user's name of a tool in its description.
const alsoCalled = "Also called "

// AlsoCalled returns a tool's description with the user's name for the tool, so that a model
// recognizes the tool that the user means. For example, if the model's family cannot write the name
// "工具", the tool is called tool_5ca6730d, and its description says "Also called "工具"."
func AlsoCalled(name, description string) string {
	return strings.TrimSpace(alsoCalled + strconv.Quote(name) + ". " + description)
}

// KnownAs returns the user's name for a tool, which AlsoCalled has put into its description. If the
// description has no such name, it returns the parameter name.
func KnownAs(name, description string) string {
	if rest, ok := strings.CutPrefix(description, alsoCalled); ok {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			known, _ := strconv.Unquote(quoted) // cannot fail: it is a quoted string
			return known
		}
	}
	return name
}

// Probs collects the tokens of a reply, with their probabilities, until there is text to which they
// belong. A server may send the tokens first and hold their text back.
type Probs struct {
	Tokens []chat.Token
}

// Take returns the collected tokens in a Meta, and removes them from p. It returns nil if there are
// no tokens.
func (p *Probs) Take() *chat.Meta {
	if len(p.Tokens) == 0 {
		return nil
	}
	m := &chat.Meta{Logprobs: p.Tokens}
	p.Tokens = nil
	return m
}

// Token parses one entry of a list of probabilities. Ollama's API and OpenAI's have the same form:
//
//	{"token":" Paris","logprob":-0.02,"bytes":[32,80,97,114,105,115],"top_logprobs":[…]}
func Token(v *fastjson.Value) chat.Token {
	t := chat.Token{Text: string(v.GetStringBytes("token")), Logprob: v.GetFloat64("logprob")}
	for _, b := range v.GetArray("bytes") {
		t.Bytes = append(t.Bytes, byte(b.GetInt()))
	}
	for _, other := range v.GetArray("top_logprobs") {
		t.Top = append(t.Top, Token(other))
	}
	return t
}
