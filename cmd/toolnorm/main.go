package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "toolnorm: %v\n", err)
		os.Exit(statusOf(err))
	}
}

// The statuses with which the program ends, besides 0.
const (
	statusFailed      = 1 // something is wrong, or went wrong
	statusUsage       = 2 // the arguments or the settings are
	statusUnreachable = 3 // doctor: a model server is not there
)

// ended is an error that says with which status the program ends.
type ended struct {
	error
	status int
}

// Unwrap gives the error itself.
func (e *ended) Unwrap() error { return e.error }

// statusOf is the status that an error ends the program with.
func statusOf(err error) int {
	var e *ended
	if errors.As(err, &e) {
		return e.status
	}
	return statusFailed
}

// run does what the arguments say.
func run(args []string) error {
	m := NewMain(os.Stdout, os.Stderr)
	switch err := m.ParseFlags(args); {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return &ended{err, statusUsage}
	case m.command != nil:
		return m.command() // a signal ends it at once
	}
	return serve(m)
}

// garbage is how much memory may be garbage, in percent of what is in use. With Go's own 100 a request of 4 MB that is no UTF-8 held
// 233 MB for a moment, with 50 it is 165; a text of 15 MB takes 0.46 s of a core instead of 0.41.
const garbage = 50

// serve runs the server until a signal. A second signal kills, since the first one gives the signals back.
// GOGC in the environment wins, as in any Go program.
func serve(m *Main) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the end of the terminal is none of the program's
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	if err := m.Run(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		stop()
	case err := <-m.Failed():
		return errors.Join(err, m.Close())
	}
	return m.Close()
}
