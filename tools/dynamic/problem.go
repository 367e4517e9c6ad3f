package dynamic

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"toolnorm/internal/fault"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/sqlsafe"
)

// Problem is something that is wrong with a draft, or with how it ran, for the person
// who wrote it.
type Problem struct {
	Severity string `json:"severity"` // error or warning
	Field    string `json:"field"`    // of the draft: name, params[1].param_name, definition
	Message  string `json:"message"`
	Rule     string `json:"rule,omitempty"`   // what it is about, for programs
	Line     int    `json:"line,omitempty"`   // from 1; 0: not about a place
	Column   int    `json:"column,omitempty"` // from 1, in characters
}

// problems collects what is wrong with a draft, so that all of it is reported at once.
type problems []Problem

// wrong notes an error.
func (p *problems) wrong(field, rule, format string, args ...any) {
	*p = append(*p, Problem{Severity: "error", Field: field, Rule: rule,
		Message: fmt.Sprintf(format, args...)})
}

// odd notes a warning, which does not keep the draft from being saved.
func (p *problems) odd(field, rule, format string, args ...any) {
	*p = append(*p, Problem{Severity: "warning", Field: field, Rule: rule,
		Message: fmt.Sprintf(format, args...)})
}

// at sets the place of the last problem to an offset in a statement.
func (p problems) at(sql string, offset int) {
	last := &p[len(p)-1]
	last.Line, last.Column = sqlsafe.Place(sql, len([]rune(sql[:offset]))+1)
}

// errors reports whether something keeps the draft from being saved. A warning is about what may be
// intended or temporary: a parameter that is not used yet, a database that is down.
func (p problems) errors() bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return one.Severity == "error" })
}

// locate returns an error of a database or of an expression as a problem of the definition,
// at its place. Three kinds of errors come here: a refusal of ours, with its place;
// what a server says, whose position counts characters; and an error of an expression,
// in Python's words. Everything else is about the run and not about a place.
func locate(err error, sql string) Problem {
	out := Problem{Severity: "error", Field: "definition", Rule: "run", Message: err.Error()}
	var refused *sqlsafe.Refusal
	var said *pgconn.PgError
	var wrong *py.Error
	switch {
	case errors.As(err, &refused):
		out.Message, out.Rule = refused.Why, "refused"
		if refused.Code != "" {
			out.Rule = "syntax"
		}
		out.Line, out.Column, _ = refused.Place()
	case sqlsafe.HitOf(err) != "":
		out.Rule = "limit"
	case errors.As(err, &said) && said.Code == noRight:
		out.Message, out.Rule = notAllowed(said.Message), "refused"
	case errors.As(err, &said):
		out.Message = said.Message
		if said.Hint != "" {
			out.Message += "; " + said.Hint
		}
		if said.Code[:2] == "42" { // syntax errors and names that are not there
			out.Rule = "syntax"
		}
		if said.Position > 0 {
			out.Line, out.Column = sqlsafe.Place(sql, int(said.Position))
		}
	case errors.As(err, &wrong):
		out.Message, out.Line, out.Column = wrong.Kind+": "+wrong.Message, wrong.Line, wrong.Column
		switch wrong.Kind {
		case py.SyntaxError:
			out.Rule = "syntax"
		case py.NameError:
			out.Rule = "unknown_parameter"
		case py.LimitError:
			out.Rule = "limit"
		}
	}
	return out
}

// noRight is PostgreSQL's code for what the role may not do.
const noRight = "42501"

// deniedMessage matches PostgreSQL's message for it: "permission denied for table secret".
var deniedMessage = regexp.MustCompile(`^permission denied for (function|procedure )?.*?(\S+)$`)

// notAllowed describes what may not be done, in the words in which the check of statements
// describes it for every database, before any server is asked.
func notAllowed(said string) string {
	m := deniedMessage.FindStringSubmatch(said)
	switch {
	case m == nil:
		return said
	case m[1] != "":
		return m[2] + " is not among the functions that may be called"
	}
	return m[2] + " may not be read"
}

// Refused is a draft that cannot be saved. Its fault is the first of the problems. It holds all
// problems, so that a page marks every field at once; with one error at a time, an author would
// have to save once for each.
type Refused struct {
	Problems []Problem
}

// Error returns the sentence of the first problem.
func (r *Refused) Error() string { return r.first().Error() }

// Unwrap returns the fault, whose Param is the field. So every API answers it like any fault, with
// a 400 that names the field, and only the admin API looks for the rest.
func (r *Refused) Unwrap() error { return r.first() }

// first returns the first error as a fault.
func (r *Refused) first() *fault.Error {
	i := max(0, slices.IndexFunc(r.Problems, func(p Problem) bool { return p.Severity == "error" }))
	p := r.Problems[i]
	text := p.Message
	if p.Line > 0 {
		text = fmt.Sprintf("%s (line %d, column %d)", text, p.Line, p.Column)
	}
	return &fault.Error{Kind: fault.Invalid, Message: fault.Short(text), Param: p.Field,
		Code: "invalid_tool"}
}
