package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// agentTime is how long a client may take for one task, unless its file says another time: beside
// other work on two cores Codex was seen to take nearly five minutes for its first.
const agentTime = 10 * time.Minute

// agent is a client that works by itself: a file of folder agents, whose README says what is in
// one.
type agent struct {
	id       string // the file's name without its ending
	name     string
	folder   string // with its package.json; the lane's own clients are installed by install.sh, the large ones by "install.sh agents"
	pkg      string
	api      string
	settings string
	noMCP    bool          // it does not speak MCP
	requests int           // what it may ask in a task that cannot succeed
	time     time.Duration // for one task
	env, run []string
	flags    []string          // of toolnorm
	files    map[string]string // of its home
	steps    []gguf.Script
	instead  map[string]string // the steps that the task's files ask for in place of their own
}

// unfilled puts the lane's places where an example names an address and a model of a reader's: so a
// client is given the very file that docs/editors.md shows.
var unfilled = strings.NewReplacer("http://127.0.0.1:11435", "{base}", "qwen3-coder:30b", "{model}")

// readAgents reads the files of the folder, sorted by name.
func readAgents(t *testing.T) (all []*agent) {
	t.Helper()
	names, err := filepath.Glob("agents/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d clients, %v", len(names), err)
	}
	for _, name := range names {
		sections, err := golden.Sections(must.Read(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a := &agent{id: strings.TrimSuffix(filepath.Base(name), ".txt"), requests: mostRequests, time: agentTime, files: map[string]string{}}
		for _, s := range sections {
			if err := a.read(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		all = append(all, a)
	}
	return all
}

// read takes one section.
func (a *agent) read(s golden.Section) error {
	kind, name, _ := strings.Cut(s.Name, " ")
	switch kind {
	case "client":
		for line := range strings.Lines(s.Text) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "name":
				a.name = rest
			case "package":
				a.folder, a.pkg, _ = strings.Cut(rest, " ")
			case "api":
				a.api = rest
			case "settings":
				a.settings = rest
			case "mcp":
				a.noMCP = rest == "no"
			case "requests":
				n, err := strconv.Atoi(rest)
				if err != nil {
					return err
				}
				a.requests = n
			case "time":
				d, err := time.ParseDuration(rest)
				if err != nil {
					return err
				}
				a.time = d
			default:
				return fmt.Errorf("unknown line %q", line)
			}
		}
	case "env":
		a.env = strings.Split(s.Text, "\n")
	case "flags":
		a.flags = strings.Fields(s.Text)
	case "run":
		a.run = strings.Split(s.Text, "\n")
	case "file":
		home, example, ok := strings.Cut(name, " from ")
		if !ok {
			a.files[name] = s.Text + "\n"
			break
		}
		src, err := os.ReadFile(filepath.Join("../examples/editors", example))
		if err != nil {
			return err
		}
		a.files[home] = unfilled.Replace(string(src))
	case "step":
		a.steps = append(a.steps, gguf.Script{Name: a.id + "_" + name, Parts: []string{s.Text}, Loop: name == "loop"})
	default:
		return fmt.Errorf("unknown section %q", s.Name)
	}
	return nil
}

// installedAt is the folder of its packages.
func (a *agent) installedAt() (string, error) {
	dir, err := npmFolder(a.folder)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "node_modules"))
	}
	return dir, err
}

// version is that of its package.
func (a *agent) version() (string, error) {
	b, err := os.ReadFile(filepath.Join(a.folder, "package.json"))
	if err != nil {
		return "", err
	}
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &p); err != nil {
		return "", err
	}
	if p.Dependencies[a.pkg] == "" {
		return "", fmt.Errorf("%s does not depend on %s", a.folder, a.pkg)
	}
	return p.Dependencies[a.pkg], nil
}

// agentModel is a client's model on a real Ollama, and the toolnorm in front.
type agentModel struct {
	model, base string
	server      *server
	breaks      *breaker
	log         string // of toolnorm: a line for each request
}

// serveAgent writes the client's model and serves it. A reply that never ends is cut soon: behind
// such prompts a token takes 40 ms. The context is longer than what these clients send: about 40
// KB, which are as many tokens for a model that knows bytes. It is set from the start: one that
// grew with the second request, when toolnorm has learned how many tokens these bytes are, had the
// server load the model again and read all of the prompt twice.
func (l *lane) serveAgent(t *testing.T, a *agent, dir string) agentModel {
	t.Helper()
	steps := slices.Clone(a.steps)
	for i, s := range steps {
		steps[i].Parts = []string{strings.ReplaceAll(s.Parts[0], "{work}", filepath.Join(dir, "work"))}
		steps[i].Piece = 8 // a small model holds a hundred pieces or two apart
	}
	m := must.Have(gguf.New(append(steps, gguf.Script{Name: "default", Parts: []string{"Nobody told " + a.id + " what to say."}}), ""))(t)
	m.Context, m.Small = 131072, true
	name := "hermes-" + a.id
	must.OK(t, m.WriteFile(filepath.Join(l.dir, name+".gguf")))
	s := must.Have(l.startOllama(installed.newest, installed.version["OLLAMA"], 1, []setup{{name: name, template: "tool_call.tmpl", file: name + ".gguf"}}, "OLLAMA_CONTEXT_LENGTH=131072"))(t)
	b := l.startBreaker(t, s.base)
	base := l.toolnorm(t, append([]string{"--ollama", b.base, "--num-ctx", "131072", "--max-repeat", "500", "--trace-bodies", "--alias", "gpt-5*=" + name, "--alias", "claude-*=" + name}, a.flags...)...)
	return agentModel{model: name, base: l.witness(t, base), server: s, breaks: b, log: l.log(logName(base))}
}

// task is what one run of a client came to.
type task struct {
	out      string
	err      error
	work     string
	requests int
	last     string // the last request, as the trace view shows it
}

// do runs the client once, with an empty environment. All of its tasks have one home and one
// folder: both stand in the prompt of most clients, and a server reads anew what is behind the
// first difference, 40,000 tokens in up to a minute.
func (a *agent) do(t *testing.T, m agentModel, bin, dir, step string) task {
	t.Helper()
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	say := func(next string) string {
		return gguf.Script{Name: a.id + "_" + cmp.Or(a.instead[next], next)}.Selector()
	}
	files := map[string]string{
		filepath.Join(work, "notes.txt"):    "The greeting of this program has a spelling mistake. Search for helo, it says. " + say("search") + "\n",
		filepath.Join(work, "src/greet.sh"): "cat printed.txt\necho helo\n# The mistake stands above, helo, as the notes have said all along " + say("edit") + "\n",
		filepath.Join(work, "edited.txt"):   "The file was edited, and now it is time to try what it does. " + say("run") + "\n",
		filepath.Join(work, "printed.txt"):  "This is what the program prints, and the documents of the company may say more of it. " + say("mcp") + "\n",
		filepath.Join(work, "found.txt"):    "The tool was searched for, so it may be there by now, and can be called. " + say("found") + "\n",
		filepath.Join(work, "done.txt"):     "All of it was done by now, so whoever reads this has only to say so. " + say("answer") + "\n",
		filepath.Join(work, "failed.txt"):   "This command is going to fail, and whoever called it should hear of it. " + say("failed") + "\n",
	}
	fill := strings.NewReplacer("{base}", m.base, "{model}", m.model, "{home}", home, "{work}", work, "{bin}", bin, "{modules}", filepath.Dir(bin),
		"{prompt}", "Please do what was said, one step after the other, and then say what you did. "+say(step))
	for path, text := range a.files {
		files[filepath.Join(home, path)] = fill.Replace(text)
	}
	for path, text := range files {
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
	}
	var args []string
	for _, word := range a.run {
		args = append(args, fill.Replace(word))
	}
	ctx, cancel := context.WithTimeout(t.Context(), a.time)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = work
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "NO_PROXY=127.0.0.1"}
	for _, line := range a.env {
		cmd.Env = append(cmd.Env, fill.Replace(line))
	}
	cmd.WaitDelay = 5 * time.Second // what it started may hold its output open
	before, _ := m.requests(t)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("gave up after %s: %w", a.time, err)
	}
	t.Logf("%s, %s: %s", a.id, step, time.Since(began).Round(time.Millisecond))
	n, last := m.requests(t)
	return task{out: string(out), err: err, work: work, requests: n - before, last: m.exchange(t, last)}
}

// exchange is what was said in a request, as the trace view shows it.
func (m agentModel) exchange(t *testing.T, id string) string {
	t.Helper()
	_, b := must.Ask(t, "GET", m.base+"/debug/exchanges?id="+id, "")
	return b
}

// requests counts the replies that toolnorm was asked for, by its log, and gives the id of the
// last.
func (m agentModel) requests(t *testing.T) (n int, last string) {
	t.Helper()
	b := must.Read(t, m.log)
	for line := range bytes.Lines(b) {
		var entry struct{ ID, Message string }
		if json.Unmarshal(line, &entry) == nil && entry.ID != "" && slices.Contains([]string{"responses", "messages", "chat"}, entry.Message) {
			n, last = n+1, entry.ID
		}
	}
	return n, last
}

// mostRequests is what a client may ask in a task that cannot succeed: Codex asks again five times
// after a stream that failed. Continue asks eleven times, each of which its SDK repeats, and stops
// after two minutes: its file names more.
const mostRequests = 12

// TestAgents has each client do the tasks of agents/README.md with a scripted model on a real
// Ollama: those of the lane, and all of them with TOOLNORM_E2E_AGENTS=all.
func TestAgents(t *testing.T) {
	l := open(t)
	for _, a := range readAgents(t) {
		t.Run(a.id, func(t *testing.T) {
			if !slices.Contains(laneAgents, a.id) && os.Getenv("TOOLNORM_E2E_AGENTS") != "all" {
				t.Skip("make e2e-agents runs it")
			}
			dir, missing := a.installedAt()
			demand(t, missing, nil)
			version := must.Have(a.version())(t)
			bin, dir := filepath.Join(dir, "node_modules", ".bin"), t.TempDir()
			m := l.serveAgent(t, a, dir)
			a.works(t, a.do(t, m, bin, dir, "read"))
			a.fails(t, a.do(t, m, bin, dir, "fail"))
			cut := a.do(t, m, bin, dir, "loop")
			m.breaks.armed.Store(true)
			broken := a.do(t, m, bin, dir, "loop")
			m.breaks.armed.Store(false)
			for what, got := range map[string]task{"cut": cut, "broken": broken} {
				if got.requests == 0 || got.requests > a.requests || errors.Is(got.err, context.DeadlineExceeded) {
					t.Errorf("%s: %d requests, %v\n%s", what, got.requests, got.err, got.out)
				}
			}
			if !t.Failed() {
				work := "five calls, a malformed and a cut one among them; MCP"
				if a.noMCP {
					work = strings.TrimSuffix(work, "; MCP")
				}
				ends := "ends"
				if a.requests != mostRequests {
					ends = fmt.Sprintf("ends within %d requests", a.requests)
				}
				clientRow(t, "agents", a.name, version, a.api, work, "told", "ends", ends, a.settings)
				t.Logf("%s asks %d times after a cut, %d times after a break", a.name, cut.requests, broken.requests) // how often depends on what of it the model still sees
			}
		})
	}
}

// laneAgents are the clients that each run of the lane asks: one for each API that no SDK of the
// lane covers. Even a small model that knows bytes reads a prompt of 40,000 of them for ten seconds.
var laneAgents = []string{"claude", "codex"}

// vacationLeft stands in what calculate_vacation_days answers for the first employee.
const vacationLeft = "14.5"

// works checks the task of five calls.
func (a *agent) works(t *testing.T, got task) {
	t.Helper()
	edited, err := os.ReadFile(filepath.Join(got.work, "src/greet.sh"))
	if err != nil || !bytes.Contains(edited, []byte("echo hello")) {
		t.Errorf("work: greet.sh is %q, %v", edited, err)
	}
	if !a.noMCP && !strings.Contains(got.last, vacationLeft) {
		t.Errorf("work: the model was not told what the tool of toolnorm answered: %s", got.last)
	}
	if got.err != nil || !strings.Contains(got.out, a.id+" has done all of it") || got.requests < 6 || got.requests > 9 {
		t.Errorf("work: %v, %d requests, want 6 and the answer\n%s", got.err, got.requests, got.out)
	}
}

// fails checks the task whose command fails.
func (a *agent) fails(t *testing.T, got task) {
	t.Helper()
	if got.err != nil || !strings.Contains(got.out, a.id+" was told so") || got.requests < 2 || got.requests > 4 {
		t.Errorf("fail: %v, %d requests\n%s", got.err, got.requests, got.out)
	}
}

// TestSettingsOfAgentsAreOnTheirPages holds that the files which the lane gives a client are those
// that its page shows, with an address and a model of a reader's.
func TestSettingsOfAgentsAreOnTheirPages(t *testing.T) {
	fill := strings.NewReplacer("{base}", "http://127.0.0.1:11435", "{model}", "qwen3-coder:30b")
	for _, a := range readAgents(t) {
		if !strings.HasSuffix(a.settings, ".md") {
			continue
		}
		page := must.Read(t, filepath.Join("..", a.settings))
		for path, text := range a.files {
			for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
				if part = fill.Replace(part); !strings.Contains(string(page), part) {
					t.Errorf("%s does not show this of %s:\n%s", a.settings, path, part)
				}
			}
		}
	}
}
