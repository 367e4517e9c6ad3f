package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/test/must"
)

// longCall is a call whose command is too long for a terminal's line, since quotes are written as
// escapes in it; so it goes by an id.
func longCall() gguf.Script {
	s := gguf.Script{Name: "call", Parts: []string{"<tool_call>\n{\"name\": \"search_docs\", ", "\"arguments\": {\"query\": \""}}
	for i := range 38 {
		s.Parts = append(s.Parts, "''''"+string(rune('一'+i)))
	}
	s.Parts = append(s.Parts, "\"}}\n</tool_call>")
	return s
}

// fleetScripts are what a fleet's model says: to those agents, and to the load.
func fleetScripts(agents []*agent) []gguf.Script {
	long, _ := longScript()
	all := []gguf.Script{long, longCall(), {Name: "default", Parts: []string{"Nobody told me what to say."}}}
	for _, a := range agents {
		all = append(all, a.steps...)
	}
	return all
}

// TestFleet has stock clients work through three replicas and three Ollamas while these are
// restarted and killed. What is only restarted loses nothing; what is killed costs those streams
// that it was answering, each of which ends with one clear error or is cut.
func TestFleet(t *testing.T) {
	l := openFleet(t)
	agents := slices.DeleteFunc(readAgents(t), func(a *agent) bool { return !slices.Contains(laneAgents, a.id) })
	f := startFleet(t, l, serveOllamas(t, l, 3, 2, fleetScripts(agents)), 3, "--tool-budget", "2500", "--queue-wait", "10s", "--alias", "gpt-5*="+fleetModel, "--alias", "claude-*="+fleetModel)
	haproxy, nginx := "http://"+f.at.clients, "http://"+f.nginx
	_, want := longScript()
	for _, base := range []string{haproxy, nginx} { // loads the model
		if end, detail := stream(t.Context(), base, fleetModel, gguf.Script{Name: "long"}.Selector()+" please", want); end != whole {
			t.Fatalf("%s: %s: %s", base, end, detail)
		}
	}
	t.Run("a rolling restart loses nothing", func(t *testing.T) {
		var sessions sync.WaitGroup
		stop := make(chan struct{})
		sessions.Go(func() { f.callsTools(t, haproxy, stop) })
		l := f.under(t, 2, []string{haproxy, nginx}, longLoad(), f.rollingRestart)
		close(stop)
		sessions.Wait()
		l.only(t, "rolling restart", 0)
	})
	t.Run("Ollamas are killed", func(t *testing.T) {
		f.under(t, 2, []string{haproxy, nginx}, longLoad(), func() error { return killEach(f.lane, f.ollamas) }).only(t, "Ollamas killed", 3*2*2, refused, told)
	})
	t.Run("replicas are killed", func(t *testing.T) {
		f.under(t, 2, []string{haproxy, nginx}, longLoad(), func() error { return killEach(f.lane, f.replicas) }).only(t, "replicas killed", 3*2*2, refused, cut)
	})
	t.Run("all Ollamas are away", func(t *testing.T) { f.allAway(t, haproxy) })
	t.Run("previous_response_id", func(t *testing.T) { f.goesOn(t, haproxy) })
	t.Run("toolrun --call", func(t *testing.T) { f.runsLongCall(t, haproxy) })
	t.Run("agents", func(t *testing.T) { f.agentsWork(t, haproxy, agents) })
}

// killEach kills members one after the other, each of which is started again.
func killEach(l *lane, all []*instance) error {
	for _, one := range all {
		one.kill()
		time.Sleep(3 * time.Second) // the others have all of the load
		if err := one.start(l); err != nil {
			return err
		}
		time.Sleep(2 * time.Second) // a balancer sees it again
	}
	return nil
}

// callsTools lists and calls tools in one session of a stock MCP client, and by toolrun, until it
// is told to stop.
func (f *fleet) callsTools(t *testing.T, base string, stop <-chan struct{}) {
	m := openMCP(t)
	c := m.connect(t, route{"sdk-current", "http", "/mcp"}, base)
	for n := 0; ; n++ {
		got := c.do(t, mcpJob{Do: "call", Name: "calculate_vacation_days", Args: map[string]string{"employee_id": "EMP001", "year": "2025"}})
		if got.Error != "" || !strings.Contains(got.text(), vacationLeft) {
			t.Errorf("MCP call %d: %+v", n, got)
		}
		if out, err := exec.Command(f.toolrun(), "--url", base, "calculate_vacation_days", `{"employee_id":"EMP001","year":"2025"}`).CombinedOutput(); err != nil || !bytes.Contains(out, []byte(vacationLeft)) {
			t.Errorf("toolrun %d: %v\n%s", n, err, out)
		}
		select {
		case <-stop:
			t.Logf("%d calls by MCP in one session and by toolrun", n+1)
			return
		default:
		}
	}
}

// allAway kills every Ollama and wants one clear error, and answers again once they are back.
func (f *fleet) allAway(t *testing.T, base string) {
	for _, one := range f.ollamas {
		one.kill()
	}
	_, want := longScript()
	prompt := gguf.Script{Name: "long"}.Selector() + " please"
	if end, detail := stream(t.Context(), base, fleetModel, prompt, want); end != refused && end != told || !strings.Contains(detail, "no model server behind the balancer answers") {
		t.Errorf("%s: %s, want one error that says so", end, detail)
	} else {
		t.Log(detail)
	}
	for _, one := range f.ollamas {
		must.OK(t, one.start(f.lane))
	}
	for range 20 { // until HAProxy has seen one
		if end, _ := stream(t.Context(), base, fleetModel, prompt, want); end == whole {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Error("no answer although the Ollamas are back")
}

// goesOn has a conversation by previous_response_id, each turn of which may meet another replica;
// one is killed in between.
func (f *fleet) goesOn(t *testing.T, base string) {
	previous := ""
	for turn := range 6 {
		ask := map[string]any{"model": fleetModel, "input": fmt.Sprintf("Turn %d. %s please", turn, gguf.Script{Name: "default"}.Selector())}
		if previous != "" {
			ask["previous_response_id"] = previous
		}
		body, _ := json.Marshal(ask) // of strings
		resp, text := send(t, base+"/v1/responses", string(body))
		var got struct{ ID string }
		if err := json.Unmarshal([]byte(text), &got); err != nil || resp.StatusCode != http.StatusOK || got.ID == "" {
			t.Fatalf("turn %d: %d %s", turn, resp.StatusCode, text)
		}
		previous = got.ID
		if turn == 2 {
			f.replicas[0].kill()
			defer func() {
				if err := f.replicas[0].start(f.lane); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(3 * time.Second) // until HAProxy has seen it
		}
	}
}

// runsLongCall takes a command out of a reply of one replica, and runs it at another.
func (f *fleet) runsLongCall(t *testing.T, base string) {
	body, _ := json.Marshal(map[string]any{"model": fleetModel + "@shell", "messages": []message{{Role: "user", Content: gguf.Script{Name: "call"}.Selector() + " please"}}})
	_, text := send(t, "http://"+f.replicas[1].addr+"/v1/chat/completions", string(body))
	_, id, found := strings.Cut(text, "--call ")
	if !found {
		t.Fatalf("no long call in %s", text)
	}
	id = id[:strings.IndexFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })]
	out, err := exec.Command(f.toolrun(), "--url", "http://"+f.replicas[2].addr, "--call", id).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("success")) {
		t.Errorf("toolrun --call %s at another replica: %v\n%s", id, err, out)
	}
	if out, err := exec.Command(f.toolrun(), "--url", base, "--call", id).CombinedOutput(); err == nil {
		t.Errorf("it ran twice: %s", out)
	}
}

// fleetAgentTime is how long an agent may take: two prompts of some 25,000 tokens, one of which may
// be read twice.
const fleetAgentTime = 6 * time.Minute

// agentsWork has real agents do a task while replicas are restarted in turn, and one Ollama is
// killed.
func (f *fleet) agentsWork(t *testing.T, base string, agents []*agent) {
	var work sync.WaitGroup
	done := make(chan struct{})
	for _, a := range agents {
		dir, missing := a.installedAt()
		demand(t, missing, nil)
		m := agentModel{model: fleetModel, base: base, log: os.DevNull}
		home := t.TempDir()
		a.time = fleetAgentTime
		work.Go(func() {
			got := a.do(t, m, filepath.Join(dir, "node_modules", ".bin"), home, "fail")
			if got.err != nil || !strings.Contains(got.out, a.id+" was told so") {
				t.Errorf("%s: %v\n%s", a.id, got.err, got.out)
			}
		})
	}
	go func() { work.Wait(); close(done) }()
	for round := 0; ; round++ {
		for i, one := range f.replicas {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Second):
			}
			if err := one.stop(); err != nil {
				t.Errorf("%s: %v", one.name, err)
			}
			if err := one.start(f.lane); err != nil {
				t.Errorf("%s: %v", one.name, err)
			}
			if round == 0 && i == 1 {
				f.ollamas[0].kill()
				if err := f.ollamas[0].start(f.lane); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
