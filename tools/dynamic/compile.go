package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"toolnorm/internal/pyexpr"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/sqlsafe"
	"toolnorm/tools"
)

// defaultTimeout is how long a call may take if the tool does not set a timeout.
const defaultTimeout = 10 * time.Second

// compiled is a draft that can be run. It is made anew for each change and never modified, so that
// running calls continue with the definition with which they began.
type compiled struct {
	draft      Draft // in its stored form
	schema     json.RawMessage
	connection string    // the connection that it queries; empty: none
	columns    []outcome // the columns of the statement's result; nil: not known
	fit        func(t tools.Tool, args json.RawMessage) (json.RawMessage, error)
	// returns the choices that the SELECT of an ENUM gives; nil: no parameter has a SELECT
	choices func(ctx context.Context, query string, age time.Duration) ([]any, error)
	run     func(ctx context.Context, args map[string]any, note *Run) (tools.Result, error)
}

// Run is what is logged about one call. It has counts and names of rules but no arguments and no
// results, because more people read the log of a server than its databases.
type Run struct {
	Tool      string
	Rows      int
	Truncated bool
	Hit       []string // limits that were hit: rows, bytes, cell, time, steps, …
	Millis    float64
	Outcome   string // ok, or the rule of a Problem
	problem   *Problem
}

// compile returns the draft ready to run, and everything that is wrong with it. It returns nil if
// an error keeps the draft from being run. If the parameter asking is true, the databases check the
// statements. That takes time, so it is left out for saved tools, whose statements are checked when
// they run.
func (s *Set) compile(ctx context.Context, d Draft, asking bool) (*compiled, problems) {
	var p problems
	d.normalize(&p)
	d.basics(&p)
	c := &compiled{draft: d, fit: s.config.Fit}
	if strings.TrimSpace(d.Definition) == "" || len(d.Definition) > longestDefinition {
		return nil, p
	}
	// The definition is checked even if basics has found mistakes, so that an author can correct
	// all of them together.
	switch d.Type {
	case typeSQL:
		s.compileSQL(ctx, c, asking, &p)
	case typePython:
		c.compileExpression(&p)
	}
	s.compileChoices(ctx, c, asking, &p)
	if p.errors() {
		return nil, p
	}
	var err error
	if c.schema, err = c.draft.schema(unknownChoices); err != nil {
		p.wrong("params", "parameter", "%v", err)
		return nil, p
	}
	return c, p
}

// tool returns the tool for the registry, which calls the function audit after each call. The
// tool's hints say that it only reads, and clients can trust them: two independent checks keep a
// SELECT from writing, and an expression has nothing to change. So a client that asks the user
// before each call need not ask for such a tool.
func (c *compiled) tool(audit func(context.Context, Run)) tools.Tool {
	yes, no := true, false
	t := tools.Tool{
		Name: c.draft.Name, Title: c.title(), Description: c.draft.DescriptionAgent,
		Schema: c.schema,
		Output: c.draft.Options.output(c.columns), Refuse: c.refuse,
		Hints:   tools.Hints{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &no},
		Confirm: c.draft.Options.Confirm,
		// A little more than the tool's own time, so that its own sentence says which
		// limit it was.
		Timeout: c.draft.timeout() + 3*time.Second,
		Call: func(ctx context.Context, text json.RawMessage) (tools.Result, error) {
			note := &Run{}
			start := time.Now()
			res, err := c.call(ctx, text, note)
			note.Tool, note.Millis, note.Outcome = c.draft.Name,
				float64(time.Since(start).Microseconds())/1000, "ok"
			if err != nil {
				note.failed(err, c.draft.Definition)
				err = errors.New(note.problem.sentence(err))
			}
			audit(ctx, *note)
			if wanted, ok := ctx.Value(noteKey{}).(*atomic.Pointer[Run]); ok {
				wanted.Store(note)
			}
			return res, err
		},
	}
	if c.choices != nil { // the choices may change although the tool does not
		t.Seen = func(ctx context.Context) json.RawMessage {
			shown, err := c.draft.schema(c.choicesOf(ctx))
			if err != nil {
				return nil
			}
			return shown
		}
	}
	return t
}

// title returns the tool's name for people: the first line of the description for people, cut after
// 80 characters.
func (c *compiled) title() string {
	line, _, _ := strings.Cut(c.draft.DescriptionUser, "\n")
	return shortened(line)
}

// timeout returns how long a call may take. The default is ten seconds, as for data tools, because
// the model's turn waits for the call, and a person waits for the model.
func (d *Draft) timeout() time.Duration {
	if d.Options.Timeout == 0 {
		return defaultTimeout
	}
	return time.Duration(d.Options.Timeout) * time.Millisecond
}

// call decodes the arguments and runs the definition. It returns an error if the arguments do not
// fit or running fails, and records details of the run in note.
func (c *compiled) call(ctx context.Context, text json.RawMessage, note *Run) (
	tools.Result, error) {
	args, err := decodeArgs(text)
	if err != nil {
		return tools.Result{}, err
	}
	// The registry has checked them against the schema. What a schema cannot express is checked
	// here: the bounds of dates, and the choices as they are now.
	wrong, values := c.misfits(ctx, args, c.choicesFor(ctx))
	if len(wrong) > 0 {
		return tools.Result{}, errors.New(c.misfitting(wrong))
	}
	return c.run(ctx, values, note)
}

// decodeArgs decodes arguments. Numbers keep their digits, because 5 is not 5.0 in Python, and
// 9007199254740993 is not representable as a double. It returns an error if text is not a JSON
// object.
func decodeArgs(text json.RawMessage) (map[string]any, error) {
	args := map[string]any{}
	if err := numbered(text).Decode(&args); err != nil {
		return nil, fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	return args, nil
}

// compileExpression compiles the draft's expression and sets c.run. It reports a syntax error to p.
func (c *compiled) compileExpression(p *problems) {
	names := []string{}
	for _, one := range c.draft.Params {
		names = append(names, one.Name)
	}
	program, err := pyexpr.Compile(c.draft.Definition, names)
	if err != nil {
		*p = append(*p, locate(err, c.draft.Definition))
		return
	}
	c.unused(program.Uses(), p)
	// A tool may set only the time; the limits of steps and bytes protect the rest of the machine.
	limits := py.Limits{Timeout: c.draft.timeout()}
	if c.draft.Options.Timeout == 0 {
		limits.Timeout = 0 // the evaluator's own limit, a second
	}
	c.run = func(ctx context.Context, args map[string]any, note *Run) (tools.Result, error) {
		got, err := program.Run(ctx, args, limits)
		if err != nil {
			return tools.Result{}, err
		}
		return c.draft.Options.shown(json.RawMessage(got.JSON)), nil
	}
}

// unused adds a warning to p for each parameter that is not in the list used, because a model would
// be asked for it in vain. These are warnings and not errors, since authors mostly write the
// parameters before the logic.
func (c *compiled) unused(used []string, p *problems) {
	named := map[string]bool{}
	for _, name := range used {
		named[name] = true
	}
	for i, one := range c.draft.Params {
		if !named[one.Name] {
			p.odd(fmt.Sprintf("params[%d].param_name", i), "unused_parameter",
				"the definition does not use %s", one.Name)
		}
	}
}

// failed records in r why a call failed, with the place in the definition if err has one.
func (r *Run) failed(err error, definition string) {
	p := locate(err, definition)
	r.problem, r.Outcome = &p, p.Rule
	var wrong *py.Error
	switch hit := sqlsafe.HitOf(err); {
	case hit != "":
		r.Hit = append(r.Hit, hit)
	case errors.As(err, &wrong) && wrong.Kind == py.LimitError:
		r.Hit = append(r.Hit, "budget")
	}
}

// sentence returns a text for the caller, mostly a model, that says what the problem is and where.
// In an expression, a caret shows where. A model can seldom change the tool, but it can tell its
// user what is wrong.
func (p *Problem) sentence(err error) string {
	var wrong *py.Error
	if errors.As(err, &wrong) {
		return wrong.Error()
	}
	return p.placed()
}

// noteKey is the key of a context value: a *atomic.Pointer[Run], into which the call of a test run
// stores its details.
type noteKey struct{}
