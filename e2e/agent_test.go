package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpgo "github.com/mark3labs/mcp-go/server"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// sloppy is a transcript of agent/testdata whose calls are all in its first step.
type sloppy struct {
	name  string
	steps []string
	runs  []string
	ends  string
}

// readSloppy reads those that can be scripted: the model's second step is chosen by the tool's
// result, so there must be one.
func readSloppy(t *testing.T) (all []sloppy) {
	t.Helper()
	src := must.Read(t, "../agent/testdata/transcripts/steps.txt")
	sections := must.Have(golden.Sections(src))(t)
	for _, s := range sections {
		name, part, _ := strings.Cut(s.Name, ": ")
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, sloppy{name: name})
		}
		c := &all[len(all)-1]
		switch part {
		case "runs":
			c.runs = strings.FieldsFunc(s.Text, func(r rune) bool { return r == '\n' })
		case "ends":
			c.ends = strings.TrimSpace(s.Text)
		case "told":
		default:
			c.steps = append(c.steps, s.Text)
		}
	}
	return slices.DeleteFunc(all, func(c sloppy) bool {
		return len(c.steps) != 2 || len(c.runs) == 0 || !strings.HasPrefix(c.ends, "final ")
	})
}

// scripts are the steps as a model's. Each is cut in two tokens that no other step has.
func scriptsOf(t *testing.T, all []sloppy) []gguf.Script {
	t.Helper()
	used, named := map[string]bool{}, map[string]bool{}
	out := []gguf.Script{{Name: "default", Parts: []string{"I do not", " know what to do."}}}
	for i, c := range all {
		for j, text := range c.steps {
			if j > 0 { // the answers are alike, and need not be
				text = answerOf(c, i)
			}
			name, ok := stepName(i, j), false
			for at := len(text) - 2; at > 1 && !ok; at-- {
				if a, b := text[:at], text[at:]; utf8.ValidString(a) && utf8.ValidString(b) && !used[a] && !used[b] {
					used[a], used[b], named[name], ok = true, true, true, true
					sign := ""
					if j > 0 {
						sign = signOf(i)
					}
					out = append(out, gguf.Script{Name: name, Parts: []string{a, b}, Sign: sign})
				}
			}
			if !ok {
				t.Fatalf("%s: step %d cannot be cut", c.name, j+1)
			}
		}
	}
	return out
}

// answerOf is a case's answer, with its number at both ends so that it is like no other.
func answerOf(c sloppy, i int) string { return fmt.Sprintf("%d: %s (%d)", i, c.steps[1], i) }

// signOf is what a tool's result chooses the answer with. It looks like no mark: those are broken
// in results.
func signOf(i int) string { return fmt.Sprintf("~answer %d~", i) }

func stepName(i, j int) string { return fmt.Sprintf("case%d_step%d", i, j) }

// recorder is an MCP server with the tools of the transcripts. What a tool answers holds the
// selector of the model's next step.
type recorder struct {
	mu   sync.Mutex
	next string
	ran  []string
}

func (r *recorder) serve(t *testing.T) (urls map[string]string) {
	t.Helper()
	text := must.Read(t, "../agent/testdata/tools.json")
	var servers map[string][]struct {
		Name, Description string
		Schema            json.RawMessage
	}
	must.OK(t, json.Unmarshal(text, &servers))
	urls = map[string]string{}
	for name, list := range servers {
		s := mcpgo.NewMCPServer(name, "1", mcpgo.WithToolCapabilities(false))
		for _, tool := range list {
			s.AddTool(mcp.NewToolWithRawSchema(tool.Name, tool.Description, tool.Schema), func(_ context.Context, c mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				args, err := json.Marshal(c.Params.Arguments)
				r.mu.Lock()
				defer r.mu.Unlock()
				r.ran = append(r.ran, name+"."+tool.Name+" "+string(args))
				return mcp.NewToolResultText("Success: " + name + "." + tool.Name + ", as was asked for just now. " + r.next), err
			})
		}
		h := httptest.NewServer(mcpgo.NewStreamableHTTPServer(s))
		t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
		urls[name] = h.URL + "/mcp"
	}
	return urls
}

// TestAnAgentOfARealServer has a model that real Ollama runs write the transcripts, without any
// template for tools, and looks at what real MCP servers were called with.
func TestAnAgentOfARealServer(t *testing.T) {
	l := open(t)
	all := readSloppy(t)
	if len(all) < 35 {
		t.Fatalf("%d transcripts", len(all))
	}
	m := must.Have(gguf.New(scriptsOf(t, all), ""))(t)
	must.OK(t, m.WriteFile(filepath.Join(l.dir, "agent.gguf")))
	s := must.Have(l.startOllama(installed.newest, installed.version["OLLAMA"], 1, []setup{{name: "gemma3", template: "plain.tmpl", file: "agent.gguf"}}))(t)
	base := l.toolnorm(t, append([]string{"--mcp-file", filepath.Join(t.TempDir(), "mcp.json")}, s.flags...)...)
	r := &recorder{}
	for name, url := range r.serve(t) {
		posted(t, "POST", base+"/mcp/add", fmt.Sprintf(`{"name":%q,"url":%q}`, name, url))
	}
	for i, c := range all {
		t.Run(c.name, func(t *testing.T) {
			r.mu.Lock()
			r.ran, r.next = nil, signOf(i)
			r.mu.Unlock()
			request := fmt.Sprintf(`{"jsonrpc":"2.0","method":"generate_content","params":{"model":"gemma3","messages":[{"role":"user","content":"Please do what was said: %s"}]},"id":%d}`, gguf.Script{Name: stepName(i, 0)}.Selector(), i)
			var got struct {
				Result struct {
					Text string
					Stop string `json:"stop_reason"`
				}
			}
			body := posted(t, "POST", base+"/generate_with_mcp", request)
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%v in %s", err, body)
			}
			if want := answerOf(c, i); got.Result.Text != want || got.Result.Stop != "final" {
				t.Errorf("the answer is %s\nwant %q", body, want)
			}
			var ran []string
			for _, line := range r.ran {
				name, args, _ := strings.Cut(line, " ")
				ran = append(ran, name+" "+sorted(t, args))
			}
			var want []string
			for _, line := range c.runs {
				name, args, _ := strings.Cut(line, " ")
				want = append(want, name+" "+sorted(t, args))
			}
			if !slices.Equal(ran, want) {
				t.Errorf("ran %q, want %q", ran, want)
			}
		})
	}
}

// sorted is a JSON object with its members in order.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return string(must.Have(json.Marshal(v))(t))
}
