package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// suiteResult is the result of canitoolcall's own runner for toolnorm.
type suiteResult struct {
	Asked    int      `json:"asked"`
	Right    int      `json:"right"`
	NotRight []string `json:"not_right"` // the names of fixtures
	Failure  string   `json:"failure,omitempty"`
}

// runSuite runs canitoolcall over toolnorm by its own runner, which checks text and thoughts as
// well, and nine ways to cut the reply. It returns the numbers that the script prints. If the
// script fails, the result has a Failure.
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
