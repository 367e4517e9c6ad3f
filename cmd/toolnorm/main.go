package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"toolnorm/cmd/toolnorm/internal/command"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "toolnorm: %v\n", err)
		os.Exit(command.StatusOf(err))
	}
}

// run parses the arguments and runs the command that they name. It returns the error of either.
func run(args []string) error {
	m := NewMain(os.Stdout, os.Stderr)
	switch err := m.ParseFlags(args); {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return command.Wrong(err)
	case m.instead != nil:
		return m.instead() // a signal ends the program at once
	}
	return serve(m)
}

// garbage is how much memory may be garbage, in percent of the memory in use. With Go's default of
// 100, a request of 4 MB that is not UTF-8 took 233 MB for a moment; with 50 it takes 165 MB. In
// return, a text of 15 MB takes 0.46 s of a core instead of 0.41 s.
const garbage = 50

// ballast is the size of memory that a server allocates and never touches, in bytes, so that it
// takes addresses but no pages. Go collects garbage when the heap has grown by a share of the live
// heap. If only 5 MB are live, every second request of 200 KiB starts a collection, which took a
// third of such a request's processor time. The ballast is allocated before anything else, because
// memory that was used before is cleared, which touches it.
const ballast = 16 << 20

// startTakes is how long the work after a start takes, during the first requests: asking model
// servers, MCP servers and tools.
const startTakes = 3 * time.Second

// serve runs the server until a signal comes, its terminal is closed, or the server fails. It
// returns an error if the server cannot start, fails, or cannot be closed. A second signal kills
// the program, since the first one restores the default handling of signals. The constant garbage
// is used in place of GOGC if that environment variable is not set.
func serve(m *Main) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	space := make([]byte, ballast)
	defer runtime.KeepAlive(space)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hup, terminal := make(chan os.Signal, 1), hasTerminal()
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the program survives its terminal
		signal.Notify(hup, syscall.SIGHUP)
	}
	if err := m.Run(); err != nil {
		return err
	}
	begun := time.After(startTakes)
	var later <-chan time.Time
	for {
		select {
		case err := <-m.Failed():
			return errors.Join(err, m.Close())
		case <-ctx.Done():
			stop()
			return m.Close()
		case <-hup:
			later = time.After(hangup)
			if !terminal || hasTerminal() {
				_ = m.Reload() // the error is logged
			}
		case <-later:
		case <-begun:
			// the garbage of the start, which Go would otherwise keep for minutes
			debug.FreeOSMemory()
		}
		if later != nil && terminal && !hasTerminal() {
			// the signal of the terminal that is gone may still come, and would kill the program
			signal.Ignore(syscall.SIGHUP)
			stop()
			return m.Close()
		}
	}
}

// hangup is how long a terminal may take to disappear after a SIGHUP. A shell sends the signal to
// its jobs before the shell itself ends.
const hangup = 2 * time.Second

// hasTerminal reports whether the program belongs to a terminal, which it finds out by opening
// /dev/tty. SIGHUP means either "your terminal was closed" or, by custom, "read your settings
// again"; in the first case the terminal is gone. The program's output does not show that, since it
// may go elsewhere. Services have no terminal.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}
