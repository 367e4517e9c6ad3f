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

// run does what the arguments say.
func run(args []string) error {
	m := NewMain(os.Stdout, os.Stderr)
	switch err := m.ParseFlags(args); {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return command.Wrong(err)
	case m.instead != nil:
		return m.instead() // a signal ends it at once
	}
	return serve(m)
}

// garbage is how much memory may be garbage, in percent of what is in use. With Go's own 100 a
// request of 4 MB that is no UTF-8 held 233 MB for a moment, with 50 it is 165; a text of 15 MB
// takes 0.46 s of a core instead of 0.41.
const garbage = 50

// ballast is memory that a server holds and never touches, in bytes, so that it costs addresses and
// no pages. Go collects garbage when the heap has grown by a share of what lives, and a live heap
// of 5 MB does with every second request of 200 KiB: a third of such a request's processor time
// went into collecting. It is taken before anything else is: memory that was used before is
// cleared, and so touched.
const ballast = 16 << 20

// startTakes is when what begins beside the first requests is done as well: model servers, MCP
// servers and tools were looked at.
const startTakes = 3 * time.Second

// serve runs the server until a signal. A second signal kills, since the first one gives the
// signals back. GOGC in the environment wins, as in any Go program.
func serve(m *Main) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	space := make([]byte, ballast)
	defer runtime.KeepAlive(space)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hup, terminal := make(chan os.Signal, 1), hasTerminal()
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the end of the terminal is none of the program's
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
				_ = m.Reload() // it is in the log
			}
		case <-later:
		case <-begun:
			debug.FreeOSMemory() // the garbage of the start, which Go alone would keep for minutes
		}
		if later != nil && terminal && !hasTerminal() {
			signal.Stop(hup)
			stop()
			return m.Close()
		}
	}
}

// hangup is how long behind a SIGHUP a terminal may take to be gone: a shell sends the signal to
// its jobs before it ends itself.
const hangup = 2 * time.Second

// hasTerminal reports whether the program belongs to a terminal. SIGHUP means two things, "your
// terminal was closed" and, by custom, "read your settings again"; only a program whose terminal is
// gone gets the first. /dev/tty is the terminal that a program belongs to, whatever its output goes
// to; services have none.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}
