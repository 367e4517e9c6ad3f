package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// suiteResult is the result of canitoolcall, a public test of tool calls, run against toolnorm by
// that test's own program.
type suiteResult struct {
	Asked    int      `json:"asked"`
	Right    int      `json:"right"`
	NotRight []string `json:"not_right"` // the names of fixtures
	Failure  string   `json:"failure,omitempty"`
}

// runSuite runs the test suite canitoolcall against toolnorm, with the suite's own runner. That
// also checks text and thoughts, and cuts each reply in nine ways. It returns the numbers that the
// script prints. If the script fails, the result has a Failure.
func runSuite(script string) *suiteResult {
	out, err := exec.Command(script).Output()
	s := &suiteResult{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if n, _ := fmt.Sscanf(line, "right: %d of %d", &s.Right, &s.Asked); n == 2 {
			return s
		}
		if strings.Contains(line, "/") && !strings.Contains(line, " ") {
			s.NotRight = append(s.NotRight, line)
		}
	}
	return &suiteResult{Failure: fmt.Sprintf("did not run: %v", err)}
}
