package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// revision is one of the protocol, and how many scenarios the conformance tool scores for it.
type revision struct {
	name   string
	scored int
}

// TestTheConformanceToolIsContent runs every scenario that is scored, of both eras, at both
// addresses of one server.
func TestTheConformanceToolIsContent(t *testing.T) {
	l := openMCP(t)
	base := l.served(t)
	for _, rev := range []revision{{"2025-11-25", 30}, {"2026-07-28", 37}} {
		for _, path := range []string{"/mcp", "/sse"} {
			t.Run(rev.name+path, func(t *testing.T) {
				t.Parallel() // they wait most of their time
				scenarios := l.scored(t, rev.name)
				if len(scenarios) != rev.scored {
					t.Fatalf("the tool scores %d scenarios of %s, want %d", len(scenarios), rev.name, rev.scored)
				}
				results, good := l.conform(t, base+path, rev.name), 0
				for _, name := range scenarios {
					faults := results.faults(name)
					for _, fault := range faults {
						t.Errorf("%s: %s", name, fault)
					}
					if len(faults) == 0 {
						good++
					}
				}
				t.Logf("%d of %d scored scenarios pass", good, len(scenarios))
			})
		}
	}
}

// TestTheConformanceToolIsContentWithTheClient runs what both eras require of clients, OAuth among
// it, against the part of toolnorm that is a client of other MCP servers.
func TestTheConformanceToolIsContentWithTheClient(t *testing.T) {
	l := openMCP(t)
	client := filepath.Join(t.TempDir(), "gatewayclient")
	if out, err := exec.Command("go", "build", "-o", client, "toolnorm/e2e/cmd/gatewayclient").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// It wants an id that is the address of a document on the internet, which a program on a user's
	// machine has not.
	warns := map[string]bool{"auth/basic-cimd": true}
	for _, rev := range []revision{{"2025-11-25", 18}, {"2026-07-28", 32}} {
		names := l.required(t, rev.name, "client")
		if len(names) != rev.scored {
			t.Fatalf("the tool scores %d scenarios of %s, want %d", len(names), rev.name, rev.scored)
		}
		for _, name := range names {
			t.Run(rev.name+"/"+name, func(t *testing.T) {
				t.Parallel() // they wait most of their time
				for _, fault := range l.scenario(t, name, rev.name, "client", "--command", client) {
					if !warns[name] || !strings.HasPrefix(fault, "WARNING") {
						t.Error(fault)
					}
				}
			})
		}
	}
}

// TestTheConformanceToolIsContentWithTasks runs the scenarios of the extension for tasks, which the
// tool scores nobody by. It skips one by itself, for the notices, which are optional.
func TestTheConformanceToolIsContentWithTasks(t *testing.T) {
	l := openMCP(t)
	base := l.served(t)
	for _, name := range []string{
		"capability-negotiation", "dispatch-and-envelope", "lifecycle", "mrtr-composition", "mrtr-input",
		"request-headers", "request-state-removal", "required-task-error", "wire-fields",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of their time
			for _, fault := range l.scenario(t, "tasks-"+name, "2026-07-28", "server", "--url", base+"/mcp", "--force") {
				t.Error(fault)
			}
		})
	}
}

// scenario runs one scenario of a side, and returns what is wrong.
func (l *mcpLane) scenario(t *testing.T, name, revision, side string, args ...string) []string {
	t.Helper()
	dir := t.TempDir()
	tool := filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	args = append([]string{tool, side, "--scenario", name, "--spec-version", revision, "-o", dir}, args...)
	out, _ := exec.Command(l.node, args...).CombinedOutput() // its files count
	files, _ := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if deeper, _ := filepath.Glob(filepath.Join(dir, "*", "*", "checks.json")); len(files) == 0 {
		files = deeper
	}
	if len(files) != 1 {
		return []string{fmt.Sprintf("the tool wrote nothing:\n%s", out)}
	}
	var all []check
	if b, err := os.ReadFile(files[0]); err != nil || json.Unmarshal(b, &all) != nil {
		t.Fatal(files[0], err)
	}
	return checks{name: all}.faults(name)
}

// scored are the scenarios that a revision requires of servers.
func (l *mcpLane) scored(t *testing.T, revision string) []string {
	t.Helper()
	return l.required(t, revision, "server")
}

// required are the scenarios that a revision requires of servers or clients, as the tool's own list
// has them.
func (l *mcpLane) required(t *testing.T, revision, of string) (names []string) {
	t.Helper()
	list := must.Read(t, filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", "conformance", "requirements", revision+".yaml"))
	_, rest, _ := strings.Cut(string(list), "\n"+of+":\n")
	for line := range strings.Lines(rest) {
		name, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !isItem {
			break
		}
		names = append(names, name)
	}
	return names
}

// check is one thing that a scenario looks at.
type check struct {
	ID           string `json:"id"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	ErrorMessage string `json:"errorMessage"`
}

// checks are those of each scenario.
type checks map[string][]check

// conform runs the tool. It ends with an error when a scenario that is not scored fails, so its
// files are what counts.
func (l *mcpLane) conform(t *testing.T, url, revision string) checks {
	t.Helper()
	dir := t.TempDir()
	tool := filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	out, err := exec.Command(l.node, tool, "server", "--url", url, "--requirements", revision, "-o", dir).CombinedOutput()
	results := checks{}
	files, _ := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	for _, file := range files {
		var all []check
		if b, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		} else if err := json.Unmarshal(b, &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		folder := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
		results[folder[:len(folder)-len("-2006-01-02T15-04-05-000Z")]] = all
	}
	if len(results) == 0 {
		t.Fatalf("the conformance tool wrote nothing: %v\n%s", err, out)
	}
	return results
}

// faults are what is wrong with a scenario: every check that does not pass, warnings as well, and
// that none did.
func (c checks) faults(scenario string) (faults []string) {
	for _, check := range c[scenario] {
		if check.Status == "FAILURE" || check.Status == "WARNING" {
			faults = append(faults, fmt.Sprintf("%s %s: %s", check.Status, check.ID, check.ErrorMessage))
		}
	}
	if !slices.ContainsFunc(c[scenario], func(c check) bool { return c.Status == "SUCCESS" }) {
		faults = append(faults, "no check passed")
	}
	return faults
}
