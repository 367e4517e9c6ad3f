package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// page is where it is written which strategy each set-up gets.
const page = "../docs/internal/upstreams.md"

// strategies are those that the page counts, each forced.
var strategies = []string{"raw", "tap", "native", "prompt"}

// pageHead opens the page.
const pageHead = `# Upstreams: which strategy each set-up gets

Written by ` + "`make upstreams`" + `; an end-to-end test compares each choice with this page. In each set-up, a server runs a scripted
model, and toolnorm chooses the strategy for reading its output. *because* is the reason that toolnorm logged after probing
the model.

The first number counts correct replies out of 27 texts with calls in ten formats, the second out of 5 texts that must stay text.
They are given for the server's own ` + "`/v1`" + `, and for toolnorm with each strategy forced, so that it cannot fall back on another one.
[ARCHITECTURE.md](../../ARCHITECTURE.md) explains the strategies.

- **tap** and **native** depend on how the server's own parser handles text that is not in its format: it may abort the reply, or send
  nothing. With a forced strategy, toolnorm then reports an error; otherwise it tries the next strategy.
- **native** says little for servers that constrain the model with a grammar (llama-server, and therefore the set-up *native* of newer
  Ollama versions): the scripted model ignores the grammar.
- **tokens** is for models whose marks are control tokens (below). No set-up in the table has such a model.
- *refused*: the server does not support this strategy.

## Marks that are control tokens

In many vocabularies the marks of calls and thoughts are control tokens (type 3): Gemma 4, Mistral, LFM2, FunctionGemma, GLM 4.7, Kimi K2, and ` + "`<think>`" + ` in some Qwen models. This
depends on the model file, not on the family, so toolnorm asks for the vocabulary once per digest (` + "`/api/show`" + `, verbose). Ollama 0.30 and later run models with llama-server, which omits
control tokens from the text and the probabilities unless the request names them; with ` + "`raw`" + ` Ollama names none. For such a model toolnorm therefore chooses:

| the model has | chosen | what toolnorm sees |
|---|---|---|
| a ` + "`PARSER`" + ` | tokens | toolnorm renders the prompt as for raw and sends it to ` + "`/api/generate`" + ` with the template ` + "`{{ .Prompt }}`" + `; only the tokens (` + "`logprobs`" + `) are read, including all marks that the parser knows. If the parser aborts the stream, a complete call is kept; otherwise the model continues in raw mode |
| a ` + "`PARSER`" + ` that rejects calls of tools it was not told about (` + "`ministral`, `glimmer`" + `), or messages in its Modelfile | tap | the same tokens, from a chat request; ministral and glimmer without tools use the strategy tokens |
| a Go template whose tag for calls is such a mark | tap | calls, but no marks of thoughts |
| a llama-server template (Jinja) | native | what llama-server's parser returns |
| none of these, or ` + "`PARSER passthrough`" + ` | raw | text without marks; calls are recognised by their other features |

Output that must be JSON (` + "`tool_choice`" + `, a regenerated call) has no marks and uses raw. The end-to-end tests with a second vocabulary (` + "`TestControlTokens`" + `) check
that in no set-up and script toolnorm's reply is worse than the server's own. Some marks are visible to no strategy and stay lost: those that Ollama's parser does not name
(` + "`<think>` for `qwen3-coder`" + `), and tags of keys and values that are control tokens in a model without a ` + "`PARSER`" + `.
A llama-server that toolnorm talks to directly is told the marks with every request.

## The table

| server | set-up | chosen | because | own ` + "`/v1`" + ` | raw | tap | native | prompt |
|---|---|---|---|---|---|---|---|---|
`

// TestUpstreamsPage asks each set-up of each server once, and compares the choice with the page.
// With TOOLNORM_E2E_UPSTREAMS=write it counts what every strategy gets right, and writes the page.
func TestUpstreamsPage(t *testing.T) {
	l := open(t)
	write := os.Getenv("TOOLNORM_E2E_UPSTREAMS") == "write"
	written, err := os.ReadFile(page)
	if err != nil && !write {
		t.Fatal(err)
	}
	out := bytes.NewBufferString(pageHead)
	for _, server := range []*server{l.newest, l.former, l.llama.chat} {
		for _, s := range append(slices.Clone(server.setups), server.others...) {
			begin := fmt.Sprintf("| %s | %s | %s ", server.name, s.name, l.choice(t, server, s))
			if !write && !strings.Contains(string(written), "\n"+begin) {
				t.Errorf("the page has no line that begins with %q: run make upstreams", begin)
			}
			if write {
				fmt.Fprintf(out, "%s| %s |\n", begin, strings.Join(l.counts(t, server, s), " | "))
			}
		}
	}
	if write {
		must.OK(t, os.WriteFile(page, out.Bytes(), 0o644))
	}
}

// choice is the strategy of a set-up, and what the log says of its model.
func (l *lane) choice(t *testing.T, on *server, s setup) string {
	t.Helper()
	base := l.proxied(t, on, "--log-format", "json")
	resp := post(t, t.Context(), base, l.ask(s.model(), l.named(t, "plain"), false))
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s, %s: status %d", on.name, s.name, resp.StatusCode)
	}
	log := must.Read(t, l.log(logName(base)))
	for line := range bytes.Lines(log) {
		var said struct {
			Model, Message string
			Tools, Render  bool
		}
		if json.Unmarshal(line, &said) == nil && said.Message == "model probed" && (said.Model == s.name || said.Model == s.model()) {
			return resp.Header.Get("Toolnorm-Strategy") + " | " + because(said.Tools, said.Render)
		}
	}
	t.Errorf("%s, %s: the log does not say what was found out about the model", on.name, s.name)
	return ""
}

// because says in words what a probe has found out.
func because(tools, render bool) string {
	a, b := "its template takes tools", "the prompt can be rendered alone"
	if !tools {
		a = "its template takes no tools"
	}
	if !render {
		b = "the prompt cannot be rendered alone"
	}
	return a + ", " + b
}

// counts are the right replies of the server's own endpoint and of each strategy.
func (l *lane) counts(t *testing.T, on *server, s setup) []string {
	t.Helper()
	anchor := slices.DeleteFunc(slices.Clone(l.scripts), func(sc script.Script) bool { return !sc.Anchor })
	own := l.score(s, anchor, func(sc script.Script) []string { return l.askOwn(on, s, sc) })
	cells := []string{cell(own)}
	for _, strategy := range strategies {
		base := l.proxied(t, on, "--strategy", "*="+strategy)
		ask := l.ask(s.model(), l.named(t, "hermes"), true)
		if got := l.current.chat(base, ask); got.Status == http.StatusBadRequest {
			cells = append(cells, "refused")
			continue
		}
		cells = append(cells, cell(l.score(s, anchor, func(sc script.Script) []string {
			if on.wedges {
				on.alone.Lock()
				defer on.alone.Unlock()
			}
			found := l.askStream(base, s, sc)
			if len(found) > 0 && on.wedges {
				on.unload(s.name)
			}
			return found
		})))
	}
	return cells
}

// cell is the count of a table's cell.
func cell(sum score) string { return fmt.Sprintf("%d, %d", sum.calls, sum.text) }
