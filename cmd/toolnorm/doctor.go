package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/doctor"
	"toolnorm/internal/exam"
	"toolnorm/internal/version"
)

// examine is the command doctor. It takes the settings of serve, so that what it finds is true of the server that they
// start.
// It asks through the engine for the same reason.
type examine struct {
	Examined  string        `arg:"" name:"model" optional:"" help:"The model to examine, as clients call it; it will be loaded. Default: only ask the servers about themselves."`
	JSON      bool          `name:"json" env:"-" help:"Print the report as JSON (docs/doctor.md)."`
	Limit     time.Duration `default:"5m" env:"-" help:"Time limit for the whole examination; what was not examined by then is listed."`
	Questions string        `env:"-" placeholder:"FILE" help:"File of questions for the model, with the right calls: paragraphs and => NAME {ARGUMENTS} or => none. Default: five questions that need a call, and two that need none."`
	Offer     string        `env:"-" placeholder:"FILE" help:"File of the tools to offer with them, as a request lists them."`

	Config
}

// Run does it. The report goes to stdout, what is being done to stderr. That something is wrong is an error.
// Ctrl-C ends it with a report on what was found by then.
func (c *examine) Run(m *Main) error {
	d, err := c.doctor(m)
	if err != nil {
		return &ended{err, statusUsage}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	report := d.Servers
	if c.Examined != "" {
		report = func(ctx context.Context) *doctor.Report { return d.Model(ctx, c.Examined) }
	}
	r := report(ctx)
	r.Toolnorm = version.String()
	m.clear()
	print := r.Print
	if c.JSON {
		print = r.PrintJSON
	}
	if err := print(m.stdout); err != nil {
		return err
	}
	switch err := unreachable(r); {
	case err != nil:
		return err
	case r.Cut != "":
		return errors.New("not everything was looked at: " + r.Cut)
	case r.Problems():
		return errors.New("there are problems")
	}
	return nil
}

// doctor makes what examines.
// Errors here are the caller's, so they end with status 2.
func (c *examine) doctor(m *Main) (*doctor.Doctor, error) {
	settings, err := c.resolve()
	if err != nil {
		return nil, err
	}
	if c.Limit <= 0 {
		return nil, errors.New("limit: must be more than 0")
	}
	log := zerolog.Nop() // what it would say is in the report
	if c.LogLevel == "debug" {
		m.Config = c.Config
		log = m.newLog()
	}
	cfg := doctor.Config{Engine: c.engine(settings, log), Progress: m.progress}
	if c.Questions != "" {
		text, err := os.ReadFile(c.Questions)
		if err != nil {
			return nil, err
		}
		if cfg.Questions, err = exam.Parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Questions, err)
		}
	}
	if cfg.Tools, err = readTools(c.Offer); err != nil {
		return nil, err
	}
	return doctor.New(cfg)
}

// unreachable is the error of a report in which a model server cannot be reached; nil: all can.
func unreachable(r *doctor.Report) error {
	if !r.Unreachable() {
		return nil
	}
	return &ended{errors.New("a model server cannot be reached"), statusUnreachable}
}

// progress says what is done next: on a terminal in one line that is written over, else line by line, a row of questions
// in one.
// On a terminal the line is erased before the report; a log would fill with a line for each question.
func (m *Main) progress(step string, n, of int) {
	switch {
	case m.onTerminal() && of > 0:
		fmt.Fprintf(m.stderr, "\r\x1b[K%s, question %d of %d …", step, n, of)
	case m.onTerminal():
		fmt.Fprintf(m.stderr, "\r\x1b[K%s …", step)
	case n <= 1:
		fmt.Fprintln(m.stderr, step)
	}
}

// clear removes what progress left on a terminal.
func (m *Main) clear() {
	if m.onTerminal() {
		fmt.Fprint(m.stderr, "\r\x1b[K")
	}
}

// onTerminal says whether stderr is one that can move its cursor.
// Editors set TERM=dumb for terminals that show escape sequences as text.
func (m *Main) onTerminal() bool {
	f, ok := m.stderr.(*os.File)
	if !ok || strings.TrimSpace(os.Getenv("TERM")) == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
