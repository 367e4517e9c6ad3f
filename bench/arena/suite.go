package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// runSuite runs canitoolcall over toolnorm by its own runner, which looks at text and thoughts as well, and at nine ways to
// cut the reply. The answer is the last line of its script.
func runSuite(script string) string {
	out, err := exec.Command(script).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := lines[len(lines)-1]; strings.HasPrefix(last, "right: ") {
		return last
	}
	return fmt.Sprintf("did not run: %v", err)
}
