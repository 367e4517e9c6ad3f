// Command toolrun runs one tool from a shell: toolrun NAME 'JSON'. It asks the running toolnorm,
// which it finds through the data folder, and works on the same data itself if no toolnorm is
// running. "toolrun -h" shows all options.
//
//	toolrun search_docs '{"query":"vacation"}'    a result as one line of JSON
//	toolrun --b64 eyJxdWVyeSI6InZhY2F0aW9uIn0 search_docs    for shells that take quotation marks apart
//	toolrun --call ID    a call that is too long for a line, kept by the proxy
//
// Arguments are data: nothing after the name is an option, and no shell or environment variable
// expands in them again.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The exit statuses of the program. With them a script can tell a tool that failed from a command
// line that ran nothing.
const (
	statusDone        = 0
	statusFailed      = 1 // the tool failed; its outcome explains why
	statusUsage       = 2 // the command line is wrong; nothing was run
	statusUnreachable = 3 // neither a proxy nor the data could be reached, or the connection broke
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv,
		beat: 4 * time.Second}
	status := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// program has the streams and the environment of a run, so that tests can replace them.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	// the time between two progress lines; terminals of editors kill a command that is silent for 8
	// s
	beat time.Duration
}
