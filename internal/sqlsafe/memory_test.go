package sqlsafe

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// memory is what processes hold for themselves, in bytes: those of the PostgreSQL that this program
// started, this program, and the processes that it works in.
type memory struct{ server, program, workers int64 }

// memoryNow reads it from /proc.
func memoryNow() (m memory) {
	type process struct {
		parent int
		name   string
		bytes  int64
	}
	all := map[int]process{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		name, rest, ok := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 {
			continue
		}
		_, name, _ = strings.Cut(name, "(")
		parent, _ := strconv.Atoi(fields[1])
		var size, held, shared int64
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		_, _ = fmt.Sscan(string(text), &size, &held, &shared)
		all[pid] = process{parent, name, (held - shared) * int64(os.Getpagesize())}
	}
	me := os.Getpid()
	for pid, p := range all {
		switch {
		case pid == me:
			m.program += p.bytes
		case strings.HasPrefix(p.name, "postgres") && (p.parent == me || all[p.parent].parent == me):
			m.server += p.bytes
		case p.parent == me:
			m.workers += p.bytes
		}
	}
	return m
}

// watch looks at what is held beside m, until stop, which returns the most.
func (m memory) watch() (stop func() memory) {
	done, peak := make(chan bool), make(chan memory)
	go func() {
		var most memory
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(10 * time.Millisecond):
				now := memoryNow()
				most.server = max(most.server, now.server-m.server)
				most.program = max(most.program, now.program-m.program)
				most.workers = max(most.workers, now.workers-m.workers)
			}
		}
	}()
	return func() memory {
		close(done)
		return <-peak
	}
}

// back waits until what was taken beside m has been given back.
func (m memory) back(t *testing.T) {
	t.Helper()
	start := time.Now()
	for {
		now := memoryNow()
		server, own := now.server-m.server, now.program+now.workers-m.program-m.workers
		if server < slackOfBombs && own < slackOfBombs {
			t.Logf("after %v the server holds %d MB more than before, this program with its processes %d", time.Since(start).Round(time.Millisecond), server>>20, own>>20)
			return
		}
		if time.Since(start) > backWithin {
			t.Errorf("%v later the server holds %d MB more than before, this program with its processes %d", backWithin, server>>20, own>>20)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
