// Package decoder measures what reading a reply costs per token: with toolnorm's adapters, and with
// the parsers that Ollama itself uses, on the same tokens.
package decoder

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/tools"

	"toolnorm/adapters"
	"toolnorm/bench/text"
	"toolnorm/chat"
)

// Family is a family of models whose calls both toolnorm and Ollama can read. Ollama's parsers are
// those of the version in bench/go.mod.
type Family struct {
	Name   string // of the format
	Ollama string // the parser's name in Ollama; empty: its generic parser, looking for a brace
}

// Families are the families that are measured.
var Families = []Family{
	{"hermes", "qwen3"},
	{"qwen3-coder", "qwen3-coder"},
	{"glm4", "glm-4.7"},
	{"gemma4", "gemma4-no-thinking"},
	{"mistral", "ministral"},
	{"harmony", "harmony"},
	{"generic", ""},
}

// reader is a function that reads a whole reply. It returns the number of calls, and the value of
// the argument content of the last call.
type reader func(tokens []string) (calls int, content string, err error)

// tokenSource is a chat.Source over tokens that are already in memory. So only the reading of a
// reply is measured, without a network.
type tokenSource struct {
	tokens []string
	ended  bool
}

func (s *tokenSource) Next() (chat.Event, error) {
	if len(s.tokens) > 0 {
		e := chat.Event{Kind: chat.Text, Text: s.tokens[0]}
		s.tokens = s.tokens[1:]
		return e, nil
	}
	if s.ended {
		return chat.Event{}, io.EOF
	}
	s.ended = true
	return chat.Event{Kind: chat.Finish, Text: chat.Stop}, nil
}

func (s *tokenSource) Close() error { return nil }

// ours returns a function that reads a reply with toolnorm's decoder. If checked is true, the
// function also collects the arguments, to check that they are read right. For measurements checked
// is false, because collecting arguments is a client's cost. ours returns an error if toolnorm does
// not have the format.
func ours(f Family, checked bool) (reader, error) {
	format := adapters.Named(f.Name)
	if format == nil {
		return nil, fmt.Errorf("toolnorm has no format %q", f.Name)
	}
	o := adapters.Options{
		Tools: []chat.Tool{{Name: text.Tool, Schema: json.RawMessage(text.Schema)}}}
	return func(tokens []string) (calls int, content string, err error) {
		var args strings.Builder
		for e, err := range format.Decode(&tokenSource{tokens: tokens}, o) {
			switch {
			case err != nil:
				return calls, "", err
			case e.Kind == chat.CallEnd:
				calls++
			case checked && e.Kind == chat.CallArgs:
				args.WriteString(e.Text)
			}
		}
		if !checked || calls == 0 {
			return calls, "", nil
		}
		var a struct{ Content string }
		err = json.Unmarshal([]byte(args.String()), &a)
		return calls, a.Content, err
	}, nil
}

// ollamas returns a function that reads a reply with the parser that Ollama has for the family, or
// else with Ollama's generic parser. Only a family's parser has a parameter that says which token
// is the last. ollamas returns an error if it cannot make the tool that the reply calls.
func ollamas(f Family) (reader, error) {
	var tool api.Tool
	def := fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":%s}}`, text.Tool,
		text.Schema)
	if err := json.Unmarshal([]byte(def), &tool); err != nil {
		return nil, err
	}
	offered := []api.Tool{tool}
	if f.Ollama == "" {
		return func(tokens []string) (int, string, error) {
			p := tools.NewParserWithTag(offered, "{")
			n, last := 0, api.ToolCall{}
			for _, t := range tokens {
				calls, _ := p.Add(t)
				n, last = countCalls(n, last, calls)
			}
			return n, contentOf(last), nil
		}, nil
	}
	return func(tokens []string) (int, string, error) {
		p := parsers.ParserForName(f.Ollama)
		p.Init(offered, nil, &api.ThinkValue{Value: false})
		n, last := 0, api.ToolCall{}
		for i, t := range tokens {
			_, _, calls, err := p.Add(t, i == len(tokens)-1)
			if err != nil {
				return n, "", err
			}
			n, last = countCalls(n, last, calls)
		}
		return n, contentOf(last), nil
	}, nil
}

// countCalls adds the number of calls to n, and returns the sum and the last of the calls. If there
// are no calls, it returns the parameter last instead.
func countCalls(n int, last api.ToolCall, calls []api.ToolCall) (int, api.ToolCall) {
	if len(calls) == 0 {
		return n, last
	}
	return n + len(calls), calls[len(calls)-1]
}

// contentOf returns the value of the argument content of a call.
func contentOf(c api.ToolCall) string {
	v, _ := c.Function.Arguments.Get("content")
	s, _ := v.(string)
	return s
}
