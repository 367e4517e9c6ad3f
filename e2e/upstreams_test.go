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
)

// page is where it is written which strategy each set-up gets.
const page = "../docs/internal/upstreams.md"

// strategies are those that the page counts, each forced.
var strategies = []string{"raw", "tap", "native", "prompt"}

// pageHead opens the page.
const pageHead = `# Upstreams: which strategy each set-up gets

Written by ` + "`make upstreams`" + `; the end-to-end lane says when a choice is not the one that stands here. A model that says exactly
what a script says is served in each set-up, and toolnorm chooses how to get at its text; *because* is what it found out when it
probed the model, as its log has it.

The counts are right replies to 27 texts with calls in ten formats, and behind the comma to 5 that must stay text: of the server's
own ` + "`/v1`" + `, and of toolnorm with each strategy named in its settings, so that no other one takes over. The strategies are explained
in [ARCHITECTURE.md](../../ARCHITECTURE.md).

- **tap** and **native** depend on what the server's own parser makes of a text that is not in its format: it may break the reply off,
  or send nothing. Such a reply is an error at toolnorm, or, when toolnorm chooses by itself, one for the next strategy.
- **native** at a server that holds the model to a grammar (llama-server, and so the set-up *native* of newer versions of Ollama) says
  little: our model says what its script says, whatever the grammar wants.
- **tokens** is for models whose marks are control tokens (below); these set-ups have none.
- *refused*: the server does not do it that way.

## Marks that are control tokens

In many vocabularies the marks of calls and thoughts are control tokens (type 3): Gemma 4, Mistral, LFM2, FunctionGemma, GLM 4.7, Kimi K2, and ` + "`<think>`" + ` in some of Qwen's. It is
a matter of the file, not of the family, so the vocabulary is asked for once a digest (` + "`/api/show`" + `, verbose). Ollama 0.30 and later run models on a llama-server, which leaves
control tokens out of text and probabilities unless the request names them; with ` + "`raw`" + ` Ollama names none. Then the choice is, for such a model:

| the model has | chosen | what is seen |
|---|---|---|
| a ` + "`PARSER`" + ` | tokens | the same prompt of ours goes to ` + "`/api/generate`" + ` with the template ` + "`{{ .Prompt }}`" + `; only the tokens (` + "`logprobs`" + `) are read, with all marks that the parser knows. Where the parser breaks the stream off, a call that is whole stands, else the model goes on in raw text |
| a ` + "`PARSER`" + ` that refuses calls of tools it was not told of (` + "`ministral`, `glimmer`" + `), or messages in its Modelfile | tap | the same tokens, of a chat; for ministral and glimmer without tools: tokens |
| a Go template whose tag for calls is such a mark | tap | calls; marks of thoughts reach nobody |
| a template of llama-server's (jinja) | native | what llama-server reads |
| none of these, or ` + "`PARSER passthrough`" + ` | raw | text without marks: calls by what else tells them |

What must be JSON (` + "`tool_choice`" + `, a call that is written once more) has no marks, and is had raw. The second vocabulary of the end-to-end lane (` + "`TestControlTokens`" + `) holds
toolnorm to a law: in no set-up and script is its reply worse than the server's own. What no strategy shows stays lost: marks that Ollama's parser does not name
(` + "`<think>` for `qwen3-coder`" + `), and tags of keys and values that are control tokens in a model without a ` + "`PARSER`" + `.
A llama-server of one's own is told the marks with every request.

## The table

| server | set-up | chosen | because | own ` + "`/v1`" + ` | raw | tap | native | prompt |
|---|---|---|---|---|---|---|---|---|
`

// TestUpstreamsPage asks each set-up of each server once, and compares the choice with the page. With
// TOOLNORM_E2E_UPSTREAMS=write it counts what every strategy gets right, and writes the page.
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
		if err := os.WriteFile(page, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
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
	log, err := os.ReadFile(l.log(logName(base)))
	if err != nil {
		t.Fatal(err)
	}
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
