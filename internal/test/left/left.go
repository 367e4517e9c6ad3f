// Package left finds the goroutines that a test leaves behind: what runs on after a Close uses
// what is closed.
package left

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Ours returns the stacks of the goroutines that are in code of this program or of its MCP
// library, by their numbers.
func Ours() map[string]string {
	buffer := make([]byte, 8<<20)
	all := map[string]string{}
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		number, _, _ := strings.Cut(stack, "[")
		ours := strings.Contains(stack, "toolnorm/") || strings.Contains(stack, "mark3labs/mcp-go")
		if ours && !strings.Contains(stack, "left.Ours(") &&
			!strings.Contains(stack, "testing.(*T).Run(") {
			all[number] = stack
		}
	}
	return all
}

// Behind reports each goroutine that runs now and is not in before. Stacks with one of the words
// are the test's own. A goroutine has a second to end if a library began it, which gives no way to
// wait for it, or if it waits for nothing: it may have told that it is done and not been removed
// yet.
func Behind(t testing.TB, before map[string]string, own ...string) {
	t.Helper()
	for end := time.Now().Add(time.Second); ; time.Sleep(time.Millisecond) {
		waits := false
		for number, stack := range Ours() {
			switch {
			case before[number] != "" ||
				slices.ContainsFunc(own, func(word string) bool {
					return strings.Contains(stack, word)
				}):
			case (!strings.Contains(stack, "created by toolnorm/") || running(stack)) &&
				time.Now().Before(end):
				waits = true
			default:
				t.Errorf("runs on:\n%s", stack)
			}
		}
		if !waits || t.Failed() {
			return
		}
	}
}

// running reports whether the goroutine of a stack runs or is ready to, rather than waits.
func running(stack string) bool {
	head, _, _ := strings.Cut(stack, "\n")
	return strings.Contains(head, "[runnable") || strings.Contains(head, "[running")
}
