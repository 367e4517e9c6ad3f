package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"toolnorm/internal/version"
	"toolnorm/runner"
	"toolnorm/tools"
)

//go:embed usage.txt completions/*
var texts embed.FS

// run runs a command line and returns the exit status. It is separate from main so that a test can
// call it.
func (p *program) run(ctx context.Context, args []string) int {
	o, err := parse(args)
	switch {
	case err != nil:
		return p.fail(statusUsage, fmt.Errorf("%w; toolrun -h shows the usage", err))
	case o.help:
		return p.show("usage.txt")
	case o.version:
		return p.print([]byte("toolrun "+version.String()), statusDone)
	case o.completion != "":
		return p.show("completions/" + o.completion)
	}
	at, err := p.find(o)
	if err != nil {
		return p.fail(statusUsage, err)
	}
	defer at.close()
	defer p.signsOfLife()()
	switch {
	case o.list:
		return p.list(ctx, at)
	case o.describe != "":
		return p.describe(ctx, at, o.describe)
	}
	return p.call(ctx, at, o)
}

// fail prints why the call failed, and returns status. It prints to standard error, because scripts
// and models read standard output, which must contain only results.
func (p *program) fail(status int, err error) int {
	fmt.Fprintf(p.stderr, "toolrun: %v\n", err)
	return status
}

// print writes a result and returns status. If the pipe is closed, it returns statusUnreachable,
// since the result has not arrived.
func (p *program) print(text []byte, status int) int {
	if _, err := p.stdout.Write(append(text, '\n')); err != nil {
		return p.fail(statusUnreachable, err)
	}
	return status
}

// show prints one of the texts that are embedded in the program, and returns the exit status. An
// unknown name, which can only be that of a shell, gives statusUsage.
func (p *program) show(name string) int {
	text, err := texts.ReadFile(name)
	if err != nil {
		return p.fail(statusUsage, errors.New("completions exist for bash, zsh and fish"))
	}
	return p.print(bytes.TrimSuffix(text, []byte("\n")), statusDone)
}

// call runs a tool, prints its outcome and returns the exit status. The outcome of a tool that
// failed is printed as well, since the model needs to know why.
func (p *program) call(ctx context.Context, at *place, o options) int {
	var got tools.Outcome
	var err error
	if o.call != "" {
		got, err = at.callPending(ctx, o.call)
	} else {
		args, wrong := p.arguments(o)
		if wrong != nil {
			return p.fail(statusUsage, wrong)
		}
		got, err = at.call(ctx, o.name, args)
	}
	switch {
	case err != nil:
		return p.fail(statusUnreachable, err)
	case !got.Success:
		return p.print(visible(got.JSON()), statusFailed)
	}
	return p.print(visible(got.JSON()), statusDone)
}

// visible returns the JSON with \u escapes for characters that a terminal does not show: direction
// marks, which can disguise a text, blanks without width, and tags. The value stays the same.
func visible(text json.RawMessage) []byte {
	hidden := func(r rune) bool {
		return r >= 0x7f && r < 0xa0 || r == 0xad || r == 0x200b || r == 0x200e || r == 0x200f ||
			r >= 0x2028 && r <= 0x202e ||
			r >= 0x2060 && r <= 0x206f || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
	}
	var b []byte
	for _, r := range string(text) {
		switch {
		case !hidden(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// list prints a line for each tool, with its name, a tab and its title. It returns the exit status.
func (p *program) list(ctx context.Context, at *place) int {
	all, err := at.tools(ctx)
	if err != nil {
		return p.fail(statusUnreachable, err)
	}
	var lines []string
	for _, t := range all {
		lines = append(lines, t.Name+"\t"+t.Title)
	}
	return p.print([]byte(strings.Join(lines, "\n")), statusDone)
}

// describe prints the full description of a tool as JSON, and returns the exit status: statusFailed
// if there is no such tool.
func (p *program) describe(ctx context.Context, at *place, name string) int {
	all, err := at.tools(ctx)
	if err != nil {
		return p.fail(statusUnreachable, err)
	}
	for _, t := range all {
		if t.Name == name {
			return p.printTool(t)
		}
	}
	return p.fail(statusFailed, fmt.Errorf("there is no tool %q; toolrun --list names them", name))
}

// printTool prints a tool as indented JSON, and returns the exit status.
func (p *program) printTool(t runner.Described) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(t); err != nil {
		return p.fail(statusFailed, err)
	}
	return p.print(bytes.TrimSuffix(b.Bytes(), []byte("\n")), statusDone)
}

// signsOfLife writes progress lines until the function done is called. They go to standard error,
// so that standard output contains only the result, which is one JSON text. The function done waits
// for the goroutine, since otherwise a last line could follow the result.
func (p *program) signsOfLife() (done func()) {
	stop, stopped, start := make(chan struct{}), make(chan struct{}), time.Now()
	go func() { // ends with done
		defer close(stopped)
		tick := time.NewTicker(p.beat)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				fmt.Fprintf(p.stderr, "toolrun: still running, %v\n",
					time.Since(start).Round(time.Second))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}
