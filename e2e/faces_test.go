package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// facesPage is where the comparison of TestNoFaceIsWorse stands.
const facesPage = "../docs/evidence/faces.md"

// facesHead opens the page.
const facesHead = `# Each API beside Ollama's own

Written by ` + "`make faces`" + `; a test of the lane fails when a row is worse. A scripted model writes %d replies (` + "`e2e/scripts`" + `): calls in the forms of ten
families, thoughts, text that must stay text. Each is asked for at five APIs of a real %s alone and of toolnorm in front of it, in the
set-up whose parser or template is that of the reply's family, else in one for ` + "`<tool_call>`" + `.

- **right**: calls, visible text and reasoning are all what the script says. Ollama has no word for what some of these templates mark as reasoning, and shows it
- **worse**: Ollama alone has the calls right, and with them the text or the reasoning, and toolnorm has not

| API | replies | Ollama right | toolnorm right | worse |
|---|--:|--:|--:|--:|
`

// face is an API: where it is, what it is asked, and what of its answer counts.
type face struct {
	name, path string
	body       func(r request) any
	read       func(body io.Reader) (reply, error)
}

var faces = []face{
	{"chat completions, whole", "/v1/chat/completions", func(r request) any { return r }, readChatWhole},
	{"chat completions, streamed", "/v1/chat/completions", func(r request) any { r.Stream = true; return r }, readChatStream},
	{"responses", "/v1/responses", func(r request) any {
		return map[string]any{"model": r.Model, "input": r.Messages[0].Content, "max_output_tokens": r.MaxTokens, "tools": flatTools(r.Tools, "type", "parameters")}
	}, readResponses},
	{"messages", "/v1/messages", func(r request) any {
		return map[string]any{"model": r.Model, "messages": r.Messages, "max_tokens": r.MaxTokens, "tools": flatTools(r.Tools, "", "input_schema"),
			"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}
	}, readMessages},
	{"/api/chat", "/api/chat", func(r request) any {
		return map[string]any{"model": r.Model, "messages": r.Messages, "stream": false, "options": map[string]int{"num_predict": r.MaxTokens}, "tools": r.Tools}
	}, readOllamaChat},
}

// flatTools are tools without OpenAI's member function: with the type as a member, if it is named,
// and the schema as another.
func flatTools(tools []json.RawMessage, kind, schema string) (flat []map[string]any) {
	for _, raw := range tools {
		var tool struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
		_ = json.Unmarshal(raw, &tool) // of a file that is JSON
		one := map[string]any{"name": tool.Function.Name, "description": tool.Function.Description, schema: tool.Function.Parameters}
		if kind != "" {
			one[kind] = "function"
		}
		flat = append(flat, one)
	}
	return flat
}

// TestNoFaceIsWorse holds each API of toolnorm to a law: no reply is worse than that of Ollama's
// own API. With TOOLNORM_E2E_FACES=write it writes the page.
func TestNoFaceIsWorse(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.newest)
	t.Parallel()
	scripts := slices.DeleteFunc(slices.Clone(l.scripts), func(sc script.Script) bool { return sc.Reply == nil || sc.Reply.Open || sc.Model.Loop })
	page := bytes.NewBufferString(fmt.Sprintf(facesHead, len(scripts), l.newest.name))
	for _, f := range faces {
		own, ours, worse := 0, 0, 0
		for _, sc := range scripts {
			s := l.newest.setups[max(slices.IndexFunc(l.newest.setups, func(s setup) bool { return s.reads == sc.Family }), 0)]
			a, got := f.ask(l.newest.base, l.ask(s.name, sc, false)), f.ask(base, l.ask(s.model(), sc, false))
			at, here := rightParts(sc.Reply, a), rightParts(sc.Reply, got)
			for _, part := range []string{"calls", "text", "reasoning"} {
				if at["calls"] && at[part] && !here[part] {
					worse++
					t.Errorf("%s, %s, %s: the %s is right at Ollama alone\nthe model wrote %s\ntoolnorm: %s\nOllama:   %s", f.name, s.name, sc.Name, part, clip(sc.Text()), gist(got), gist(a))
				}
			}
			own += count(at)
			ours += count(here)
		}
		fmt.Fprintf(page, "| %s | %d | %d | %d | %d |\n", f.name, len(scripts), own, ours, worse)
	}
	os.Stdout.Write(page.Bytes())
	if os.Getenv("TOOLNORM_E2E_FACES") == "write" && !t.Failed() {
		must.OK(t, os.WriteFile(facesPage, page.Bytes(), 0o644))
	}
}

// count is 1 for a reply whose parts are all right.
func count(parts map[string]bool) int {
	for _, right := range parts {
		if !right {
			return 0
		}
	}
	return 1
}

// ask sends a request in the face's form.
func (f face) ask(base string, r request) (got reply) {
	body, err := json.Marshal(f.body(r))
	if err != nil {
		return reply{Error: err.Error()}
	}
	resp, err := http.Post(base+f.path, "application/json", bytes.NewReader(body))
	if err != nil {
		return reply{Error: err.Error()}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return reply{Error: string(text), Status: resp.StatusCode}
	}
	if got, err = f.read(resp.Body); err != nil && got.Error == "" {
		got.Error = err.Error()
	}
	return got
}

// openAIMessage is what chat completions say, whole or in pieces.
type openAIMessage struct {
	Content          string
	Reasoning        string
	ReasoningContent string `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    int
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// add adds a message, or a piece of one. Toolnorm has two members for a thought, Ollama one.
func (r *reply) add(m openAIMessage) {
	r.Content += m.Content
	r.Reasoning += m.Reasoning
	for i, c := range m.ToolCalls {
		for len(r.Calls) <= max(c.Index, i) {
			r.Calls = append(r.Calls, gotCall{})
		}
		call := &r.Calls[max(c.Index, i)]
		call.Name += c.Function.Name
		call.Arguments += c.Function.Arguments
	}
}

// readChatWhole reads a chat completion.
func readChatWhole(body io.Reader) (got reply, err error) {
	var whole struct {
		Choices []struct{ Message openAIMessage }
	}
	err = json.NewDecoder(body).Decode(&whole)
	for _, c := range whole.Choices {
		got.add(c.Message)
	}
	return got, err
}

// readChatStream reads the chunks of a chat completion.
func readChatStream(body io.Reader) (got reply, err error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Error   json.RawMessage
			Choices []struct{ Delta openAIMessage }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return got, err
		}
		if chunk.Error != nil {
			got.Error = string(chunk.Error)
		}
		for _, c := range chunk.Choices {
			got.add(c.Delta)
		}
	}
	return got, lines.Err()
}

// readResponses reads a response.
func readResponses(body io.Reader) (got reply, err error) {
	type texts []struct{ Text string }
	var whole struct {
		Output []struct {
			Type, Name, Arguments string
			Content, Summary      texts
		}
	}
	err = json.NewDecoder(body).Decode(&whole)
	for _, item := range whole.Output {
		switch item.Type {
		case "function_call":
			got.Calls = append(got.Calls, gotCall{Name: item.Name, Arguments: item.Arguments})
		case "reasoning":
			for _, part := range append(item.Summary, item.Content...) {
				got.Reasoning += part.Text
			}
		default:
			for _, part := range item.Content {
				got.Content += part.Text
			}
		}
	}
	return got, err
}

// readMessages reads a message of Anthropic's API.
func readMessages(body io.Reader) (got reply, err error) {
	var whole struct {
		Content []struct {
			Type, Text, Thinking, Name string
			Input                      json.RawMessage
		}
	}
	err = json.NewDecoder(body).Decode(&whole)
	for _, block := range whole.Content {
		got.Content += block.Text
		got.Reasoning += block.Thinking
		if block.Type == "tool_use" {
			got.Calls = append(got.Calls, gotCall{Name: block.Name, Arguments: string(block.Input)})
		}
	}
	return got, err
}

// readOllamaChat reads a reply of /api/chat.
func readOllamaChat(body io.Reader) (got reply, err error) {
	var whole struct {
		Message struct {
			Content, Thinking string
			ToolCalls         []struct {
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
	}
	err = json.NewDecoder(body).Decode(&whole)
	got.Content, got.Reasoning = whole.Message.Content, whole.Message.Thinking
	for _, c := range whole.Message.ToolCalls {
		got.Calls = append(got.Calls, gotCall{Name: c.Function.Name, Arguments: string(c.Function.Arguments)})
	}
	return got, err
}
