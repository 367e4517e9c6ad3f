package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/cmd/toolnorm/internal/command"
	"toolnorm/internal/doctor"
	"toolnorm/internal/exam"
	"toolnorm/internal/version"
	"toolnorm/tools/remote"
)

// examine is the command doctor. It takes the settings of serve and asks through the engine, so
// that its findings are true of the server that these settings start.
type examine struct {
	Examined  string        `arg:"" name:"model" optional:"" help:"The model to examine, as clients call it; it will be loaded. Default: only ask the servers about themselves."`
	JSON      bool          `name:"json" env:"-" help:"Print the report as JSON (docs/doctor.md)."`
	Limit     time.Duration `default:"5m" env:"-" help:"Time limit for the whole examination; what was not examined by then is listed."`
	Questions string        `env:"-" placeholder:"FILE" help:"File of questions for the model, with the right calls: paragraphs and => NAME {ARGUMENTS} or => none. Default: five questions that need a call, and two that need none."`
	Offer     string        `env:"-" placeholder:"FILE" help:"File of the tools to offer with them, as a request lists them."`

	Config
}

// Run examines the servers or the model. It prints the report to stdout and its progress to stderr.
// Ctrl-C or the time limit ends it with a report of what was found by then. It returns an error if
// the settings are wrong, if it found a problem, or if it did not finish.
func (c *examine) Run(m *Main) error {
	d, err := c.doctor(m)
	if err != nil {
		return command.Wrong(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	r := c.look(ctx, m, d)
	m.Clear()
	switch err := m.report(r, c.JSON, r.Print); {
	case err != nil:
		return err
	case r.Cut != "":
		return errors.New("not everything was looked at: " + r.Cut)
	case r.Problems():
		return errors.New("there are problems")
	}
	return nil
}

// look examines the model that the command names, or the servers if it names none, and returns the
// report.
func (c *examine) look(ctx context.Context, m *Main, d *doctor.Doctor) *doctor.Report {
	if c.Examined != "" {
		return d.Model(ctx, c.Examined)
	}
	r := d.Servers(ctx)
	r.MCP, r.Settings = c.otherServers(m), c.leftOut()
	return r
}

// pageLimit is how long an examination from the admin page may take. It is the default limit of the
// command.
const pageLimit = 5 * time.Minute

// examineNow examines the server with the current settings, for the admin page. It implements
// admin.Examiner. The result problems is also true if a server cannot be reached. It returns an
// error if there is no report.
func (m *Main) examineNow(ctx context.Context, model string, step func(text string)) (
	report string, problems bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	f := m.now.Load()
	asks := f.asks
	asks.Log = zerolog.Nop() // what the engine would log is in the report
	d, err := doctor.New(doctor.Config{Engine: asks, Progress: func(text string, n, of int) {
		if of > 0 {
			text += fmt.Sprintf(", question %d of %d", n, of)
		}
		step(text)
	}})
	if err != nil {
		return "", false, err
	}
	r := (&examine{Examined: model, Config: f.config}).look(ctx, m, d)
	r.Toolnorm = version.String()
	var b strings.Builder
	err = r.Print(&b)
	return b.String(), r.Problems() || r.Unreachable(), err
}

// otherServers returns findings about mcp.json: each entry that cannot be used, and how many can.
// It neither starts nor asks the servers.
func (c *examine) otherServers(m *Main) (all []doctor.Finding) {
	n, wrong := remote.Check(m.given.mcpFile(&c.Config))
	for _, w := range wrong {
		all = append(all, doctor.Finding{Level: doctor.Problem, What: w.Name, Found: w.Error,
			Does: "toolnorm works without it, and uses it as soon as that is put right"})
	}
	if n > len(wrong) {
		all = append(all, doctor.Finding{Level: doctor.OK, What: "mcp.json", Found: fmt.Sprintf(
			"%d of %d servers can be used as they are written", n-len(wrong), n)})
	}
	return all
}

// leftOut returns a finding for each part of the settings that cannot be used and is left out: a
// key, or one of the user's own files of formats.
func (c *examine) leftOut() (all []doctor.Finding) {
	s, _ := c.resolve() // doctor has read them without an error
	for _, err := range s.odd {
		all = append(all, doctor.Finding{Level: doctor.Problem, What: "settings",
			Found: err.Error(),
			Does:  "toolnorm works without it, and uses it as soon as that is put right"})
	}
	return all
}

// report prints the report r as JSON if asJSON is true, and otherwise by the function print, in a
// form for people. It returns an error if the report cannot be written. If a model server cannot be
// reached, it returns an error that ends the program with an exit status of its own.
func (m *Main) report(r *doctor.Report, asJSON bool, print func(io.Writer) error) error {
	r.Toolnorm = version.String()
	if asJSON {
		print = r.PrintJSON
	}
	var text strings.Builder
	if err := print(&text); err != nil {
		return err
	}
	if _, err := io.WriteString(m.Out, m.coloured(text.String(), !asJSON)); err != nil {
		return err
	}
	if r.Unreachable() {
		return command.End(errors.New("a model server cannot be reached"),
			command.StatusUnreachable)
	}
	return nil
}

// levelColours are the terminal colours of the levels of findings.
var levelColours = map[doctor.Level]string{doctor.OK: "32", doctor.Note: "33", doctor.Problem: "31"}

// coloured returns the report with the levels of its findings in colour. If the report is not for
// people, or not printed on a terminal that shows colours, it is returned unchanged.
func (m *Main) coloured(report string, forPeople bool) string {
	if !forPeople || m.Width() == 0 || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return report
	}
	lines := strings.SplitAfter(report, "\n")
	for i, line := range lines {
		for level, colour := range levelColours {
			if rest, ok := strings.CutPrefix(line, "  "+string(level)+" "); ok {
				lines[i] = "  \x1b[" + colour + "m" + string(level) + "\x1b[0m " + rest
			}
		}
	}
	return strings.Join(lines, "")
}

// doctor returns the doctor.Doctor by which the command examines the model servers. It returns an
// error if the settings, the questions or the tools are wrong.
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
	cfg := doctor.Config{Engine: c.engine(settings, log), Progress: m.Progress}
	if c.Questions != "" {
		text, err := os.ReadFile(c.Questions)
		if err != nil {
			return nil, err
		}
		if cfg.Questions, err = exam.Parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Questions, err)
		}
	}
	if cfg.Tools, err = command.ReadTools(c.Offer); err != nil {
		return nil, err
	}
	return doctor.New(cfg)
}

// listModels is the command models. It takes the settings of serve, so that it lists the models
// that serve offers.
type listModels struct {
	JSON bool `name:"json" env:"-" help:"Print the list as JSON, as doctor does (docs/doctor.md)."`

	Config
}

// Run prints the models, and the servers that cannot be reached. It returns an error if the
// settings are wrong, or if a server cannot be reached, with the same exit status as doctor.
func (c *listModels) Run(m *Main) error {
	r, err := c.servers(m)
	if err != nil {
		return err
	}
	return m.report(r, c.JSON, r.PrintModels)
}

// serversLimit is how long the servers may take to list their models.
const serversLimit = 30 * time.Second

// servers asks the configured model servers about themselves and their models, without loading a
// model. It returns an error if the settings are wrong; a server that cannot be reached is part of
// the report.
func (c *Config) servers(m *Main) (*doctor.Report, error) {
	settings, err := c.resolve()
	if err != nil {
		return nil, command.Wrong(m.given.located(err))
	}
	d, err := doctor.New(doctor.Config{Engine: c.engine(settings, zerolog.Nop())})
	if err != nil {
		return nil, command.Wrong(m.given.located(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), serversLimit)
	defer cancel()
	return d.Servers(ctx), nil
}
