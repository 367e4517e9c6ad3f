package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// turnsPage shows what TestTurns has measured.
const turnsPage = "../docs/evidence/turns.md"

// leastReused is the part of a turn's prompt that the next turn has to find in the server's cache.
const leastReused = 0.97

// wellFormed are the steps of a conversation that a client can have with Ollama alone, too: each
// call in them is as a model should write it. The files of the task ask for these in place of the
// steps with damage.
var wellFormed = map[string]string{"search": "run", "mcp": "fail"}

// TestTurns has each client of agents do a task through toolnorm, and the same on Ollama alone, and
// wants every turn to find the last one's prompt in the server's cache. A third run is the task
// with a malformed and a cut call, which toolnorm has repaired in between. What was cached is what
// the server's log says.
func TestTurns(t *testing.T) {
	if os.Getenv("TOOLNORM_E2E_TURNS") == "" {
		t.Skip("make turns runs it")
	}
	l := open(t)
	rows := map[string]string{}
	for _, a := range readAgents(t) {
		if a.id == "codex-known" { // by the name of a model that Ollama has not
			continue
		}
		t.Run(a.id, func(t *testing.T) {
			dir, missing := a.installedAt()
			demand(t, missing, nil)
			version := must.Have(a.version())(t)
			bin, home := filepath.Join(dir, "node_modules", ".bin"), t.TempDir()
			a.flags = nil // a budget for tools would make the prompts shorter than those of the other side
			a.instead = wellFormed
			m := l.serveAgent(t, a, home)
			through := m.turns(t, func() task { return a.do(t, m, bin, home, "read") })
			alone := m
			alone.base = ollamaWithTools(t, m)
			direct := m.turns(t, func() task { return a.do(t, alone, bin, home, "read") })
			a.instead = nil
			repaired := m.turns(t, func() task { return a.do(t, m, bin, home, "read") })
			rows[a.id] = fmt.Sprintf("| %s %s | %s | %s | %s | %s |", a.name, version, a.api, direct, through, repaired)
			t.Log(rows[a.id])
			for what, turns := range map[string]conversation{"plain": through, "with repairs": repaired} {
				if len(turns) < 4 {
					t.Errorf("%s: %d turns, want 4 or more", what, len(turns))
				}
				for i, share := range turns.reused() {
					if share < leastReused {
						t.Errorf("%s: turn %d finds %.3f of the last prompt, want %v: %v", what, i+2, share, leastReused, turns)
					}
				}
			}
		})
	}
	writeTurns(t, rows)
}

// prompt is one that the server was given.
type prompt struct{ tokens, cached int }

// conversation are the prompts of one task, in order.
type conversation []prompt

// reused returns the part of each turn's prompt that was still there in the next.
func (c conversation) reused() (shares []float64) {
	for i := 1; i < len(c); i++ {
		shares = append(shares, min(1, float64(c[i].cached)/float64(c[i-1].tokens)))
	}
	return shares
}

// String returns a cell of the table.
func (c conversation) String() string {
	var words []string
	for _, share := range c.reused() {
		words = append(words, fmt.Sprintf("%.3f", share))
	}
	if len(words) == 0 {
		return "–"
	}
	return strings.Join(words, " ")
}

// What a llama-server writes of each request: how long its prompt is, and the first thing that it
// does with it.
var (
	newPrompt = regexp.MustCompile(`\| task (\d+) \| new prompt, .* task\.n_tokens = (\d+)`)
	fromCache = regexp.MustCompile(`\| task (\d+) \| cached n_tokens = (\d+)`)
)

// turns runs a task and returns the prompts that the server has had meanwhile. Those of less than
// half of the longest are no turns of the conversation: a title, or a summary.
func (m agentModel) turns(t *testing.T, do func() task) (all conversation) {
	t.Helper()
	before := must.Read(t, m.server.log)
	got := do()
	text := must.Read(t, m.server.log)
	at, longest := map[string]int{}, 0
	for line := range strings.Lines(string(text[len(before):])) {
		if found := newPrompt.FindStringSubmatch(line); found != nil {
			n, _ := strconv.Atoi(found[2])
			at[found[1]], longest = len(all), max(longest, n)
			all = append(all, prompt{n, -1})
		}
		if found := fromCache.FindStringSubmatch(line); found != nil {
			if i, ok := at[found[1]]; ok && all[i].cached < 0 {
				all[i].cached, _ = strconv.Atoi(found[2])
			}
		}
	}
	t.Logf("%d prompts: %v, %v\n%s", len(all), []prompt(all), got.err, got.out)
	return slices.DeleteFunc(all, func(p prompt) bool { return 2*p.tokens < longest })
}

// ollamaWithTools is the model server by itself, with toolnorm's MCP server beside it, so that a
// client offers the same tools.
func ollamaWithTools(t *testing.T, m agentModel) string {
	t.Helper()
	model := must.Have(url.Parse(m.server.base))(t)
	tools := must.Have(url.Parse(m.base))(t)
	srv := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		if strings.HasPrefix(r.In.URL.Path, "/mcp") {
			r.SetURL(tools)
		} else {
			r.SetURL(model)
		}
		r.Out.Header.Del("X-Forwarded-For")
	}, Transport: &http.Transport{DisableKeepAlives: true}})
	t.Cleanup(srv.Close)
	return srv.URL
}

// writeTurns writes the page, if all clients were measured.
func writeTurns(t *testing.T, rows map[string]string) {
	t.Helper()
	if os.Getenv("TOOLNORM_E2E_TURNS") != "write" {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, turnsHead, installed.version["OLLAMA"])
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[id] + "\n")
	}
	must.Write(t, turnsPage, b.String())
}

// turnsHead is the page without its rows.
const turnsHead = `# What a turn finds in the server's cache

Written by ` + "`make turns`" + `. An agent sends all of its conversation with every request, 10,000 to 50,000 tokens. A model server reads only
what it has not just read, if the prompt begins as the last one did. Here real clients do a task of some turns with a scripted model on a real
Ollama %s with one place, by themselves and through toolnorm.

A cell has a number for each turn from the second on: the part of the last turn's prompt that the server's log says it had kept, 1 for all of it.
Prompts of less than half of the longest (titles) are no turns, though they go to the same place.

- **Ollama alone**: the client on Ollama, with toolnorm's MCP server for the same tools. Calls are well formed. – means that there was no second turn
- **toolnorm**: the same task through toolnorm
- **with repairs**: the longer task of docs/clients.md, in which a malformed and a cut call are repaired between the turns

A tool that Claude Code's search finds is described in the search's result, so that the list in front of the conversation stays as it was. On Ollama
alone it makes no such search here, since that task has none.

The context is set (` + "`--num-ctx 131072`" + `) and the budget for tools is the default, since tokens of this model are bytes.

| client | API | Ollama alone | toolnorm | with repairs |
|---|---|---|---|---|
`
