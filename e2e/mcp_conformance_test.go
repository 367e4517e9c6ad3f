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
)

// revision is one of the protocol, and how many scenarios the conformance tool scores for it.
type revision struct {
	name   string
	scored int
}

// TestTheConformanceToolIsContent runs every scenario that is scored, of both eras, at both addresses of one server.
func TestTheConformanceToolIsContent(t *testing.T) {
	l := openMCP(t)
	base := l.served(t)
	var table strings.Builder
	for _, rev := range []revision{{"2025-11-25", 30}, {"2026-07-28", 37}} {
		for _, path := range []string{"/mcp", "/sse"} {
			t.Run(rev.name+path, func(t *testing.T) {
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
				fmt.Fprintf(&table, "%-12s %-5s %d/%d\n", rev.name, path, good, len(scenarios))
			})
		}
	}
	t.Logf("scored scenarios of the conformance tool that pass:\n%s", table.String())
}

// scored are the scenarios that a revision requires of servers, as the tool's own list has them.
func (l *mcpLane) scored(t *testing.T, revision string) (names []string) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(l.packages, "node_modules", "@modelcontextprotocol", "conformance", "requirements", revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(list), "\nserver:\n")
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

// conform runs the tool. It ends with an error when a scenario that is not scored fails, so its files are what counts.
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

// faults are what is wrong with a scenario: every check that does not pass, warnings as well, and that none did.
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
