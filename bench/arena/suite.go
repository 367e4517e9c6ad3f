package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// suiteResult is what canitoolcall's own runner found of a reader, by fixture.
type suiteResult struct {
	cases  int
	status map[string]string
}

// beside counts it beside toolnorm, over the fixtures that the reader was asked.
func (s suiteResult) beside(ours suiteResult) *pair {
	p := &pair{}
	is := func(status string) outcome {
		if status == "pass" || status == "soft_pass" {
			return right
		}
		return lost
	}
	for id, status := range s.status {
		if status == "unsupported" || status == "skipped" || status == "skip" {
			continue
		}
		p.Theirs[is(status)]++
		p.Ours[is(ours.status[id])]++
	}
	return p
}

// runSuite runs canitoolcall's own runner for all readers, by an adapter that hands its replies to them.
func (b *board) runSuite(s *settings) {
	for _, r := range b.readers {
		if r.failure != "" {
			continue
		}
		got, err := r.runSuite(s)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: canitoolcall: %v\n", r.name, err)
			continue
		}
		b.suite[r] = got
	}
}

// runSuite runs it for one reader.
func (r *reader) runSuite(s *settings) (suiteResult, error) {
	folder, err := os.MkdirTemp("", "arena-suite")
	if err != nil {
		return suiteResult{}, err
	}
	defer os.RemoveAll(folder)
	here, err := filepath.Abs(filepath.Join(s.readers, "..", "suite"))
	if err != nil {
		return suiteResult{}, err
	}
	command, _ := json.Marshal(r.command) // strings cannot fail
	cmd := exec.Command(s.suite, "-m", "canitoolcall", "run", "--engine", "arena_adapter:ArenaAdapter", "--python", s.suite,
		"--env", "PYTHONPATH="+here, "--out", folder, "--jobs", "2")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+here, "PYTHONDONTWRITEBYTECODE=1", "ARENA_COMMAND="+string(command),
		"ARENA_ENV="+strings.Join(r.env, "\n"), "ARENA_NAME="+r.name)
	out, err := cmd.CombinedOutput()
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	if len(files) == 0 {
		return suiteResult{}, fmt.Errorf("no result: %v: %s", err, out[max(0, len(out)-400):])
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		return suiteResult{}, err
	}
	var doc struct {
		Cases []struct {
			ID     string `json:"fixture_id"`
			Status string `json:"status"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return suiteResult{}, err
	}
	result := suiteResult{len(doc.Cases), map[string]string{}}
	for _, c := range doc.Cases {
		result.status[c.ID] = c.Status
	}
	return result, nil
}
