// Package left finds goroutines that still run at the end of a test. After a Close they would use
// closed things.
package left

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Ours returns the stacks of all goroutines that run code of this program or its MCP library. The
// keys of the map are the numbers of the goroutines.
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

// Behind reports an error for each goroutine that runs now and did not run before. The parameter
// before is an earlier result of Ours. Goroutines whose stack contains one of the words in the
// parameter own are ignored. Two kinds of goroutine have a second to end: those that a library
// started, because it gives no way to wait for them, and those that are not blocked, because they
// may be about to end.
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

// Settle waits until there are no more goroutines than the parameter before says, and ends the test
// if that takes more than five seconds.
func Settle(t testing.TB, before int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		time.Sleep(5 * time.Millisecond)
		if time.Now().After(end) {
			buf := make([]byte, 1<<18)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
				buf[:runtime.Stack(buf, true)])
		}
	}
}

// running reports whether the goroutine of a stack runs or is ready to, rather than waits.
func running(stack string) bool {
	head, _, _ := strings.Cut(stack, "\n")
	return strings.Contains(head, "[runnable") || strings.Contains(head, "[running")
}
