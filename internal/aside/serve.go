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

// asked is the name of the work that this process was started for; empty: it is a program.
var asked = sync.OnceValue(func() string { return os.Getenv(variable) })

// serve does the work until the program that started this process is gone. What is printed
// meanwhile must not come between the messages.
func serve(warm func(), work Work) {
	out := os.Stdout
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stdout = null
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // a terminal sends them to all; the end of the program is what counts
	smallFiles()
	requests := make(chan []byte)
	go func() {
		for {
			_, text, err := receive(os.Stdin)
			if err != nil {
				os.Exit(0) // the program is gone, also in the middle of some work
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

// answer does one piece of work. One that panics has left this process in a state that nobody
// knows.
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

// spent is set by Spent.
var spent atomic.Bool

// Spent marks this process as used up: it answers and ends. Work calls it when it leaves something
// running.
func Spent() { spent.Store(true) }
