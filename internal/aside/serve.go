package aside

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
)

// asked returns the name of the work for which this process was started, or "" in an ordinary
// process.
var asked = sync.OnceValue(func() string { return os.Getenv(variable) })

// serve answers requests until the program that started this process is gone; it never returns.
// os.Stdout is redirected, so that no other output is mixed with the messages.
func serve(warm func(), work Work) {
	out := os.Stdout
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stdout = null
	}
	// a terminal sends them to all processes; this one ends with the program
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	smallFiles()
	requests := make(chan []byte)
	go func() {
		for {
			_, text, err := receive(os.Stdin)
			if err != nil {
				os.Exit(0) // the program is gone, so stop even in the middle of work
			}
			requests <- text
		}
	}()
	if warm != nil {
		warm()
	}
	if send(out, ok, nil) != nil {
		os.Exit(0)
	}
	for text := range requests {
		if answer(out, work, text) != nil {
			os.Exit(0)
		}
	}
}

// answer runs the function work for one request and sends the result or the error's text. It fails
// only if sending fails. A panic ends the process, because its state is then unknown.
func answer(out io.Writer, work Work, text []byte) error {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", v, debug.Stack())
			os.Exit(2)
		}
	}()
	got, err := work(text)
	if err != nil {
		return send(out, failed, []byte(err.Error()))
	}
	if spent.Load() {
		return send(out, last, got)
	}
	return send(out, ok, got)
}

// spent is true after a call of Spent.
var spent atomic.Bool

// Spent makes this process end after the current answer. Work calls it if it leaves something
// running.
func Spent() { spent.Store(true) }
