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

// Problem describes for the author of a draft what is wrong with the draft, or with a run of it.
type Problem struct {
	Severity string `json:"severity"` // error or warning
	Field    string `json:"field"`    // the draft's field: name, params[1].param_name, definition
	Message  string `json:"message"`
	Rule     string `json:"rule,omitempty"`   // what the problem is about, for programs
	Line     int    `json:"line,omitempty"`   // from 1; 0: the problem has no place
	Column   int    `json:"column,omitempty"` // from 1, in characters
}

// problems collects what is wrong with a draft, so that all of it is reported together.
type problems []Problem

// wrong adds an error, which keeps the draft from being saved.
func (p *problems) wrong(field, rule, format string, args ...any) {
	*p = append(*p, Problem{Severity: "error", Field: field, Rule: rule,
		Message: fmt.Sprintf(format, args...)})
}

// odd adds a warning, which does not keep the draft from being saved.
func (p *problems) odd(field, rule, format string, args ...any) {
	*p = append(*p, Problem{Severity: "warning", Field: field, Rule: rule,
		Message: fmt.Sprintf(format, args...)})
}

// at sets the line and column of the last problem in the list p from a byte offset in the statement
// sql. The list must not be empty.
func (p problems) at(sql string, offset int) {
	last := &p[len(p)-1]
	last.Line, last.Column = sqlsafe.Place(sql, len([]rune(sql[:offset]))+1)
}

// errors reports whether any problem is an error, so that the draft cannot be saved. A warning is
// about something that may be intended or temporary, such as a parameter that is not used yet or a
// database that is down.
func (p problems) errors() bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return one.Severity == "error" })
}

// locate converts an error of a database or an expression into a Problem, with the line and column
// in the definition if they are known. They are known for this program's own refusals, for errors
// of an expression, and for messages of a PostgreSQL server, whose positions are counts of
// characters. Any other error is about the run and has no line.
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

// noRight is PostgreSQL's code for an action that the role is not allowed to do.
const noRight = "42501"

// deniedMessage matches PostgreSQL's message for that code: "permission denied for table secret".
var deniedMessage = regexp.MustCompile(`^permission denied for (function|procedure )?.*?(\S+)$`)

// notAllowed converts PostgreSQL's message about a missing right into the words that our own check
// of statements uses for every database. It returns any other message unchanged.
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

// Refused is the error for a draft that cannot be saved. It has all problems, so that a page can
// mark every field at once; with one error at a time, an author would have to save once for each.
// It wraps a fault for the first error.
type Refused struct {
	Problems []Problem
}

// Error implements error. It returns the sentence of the first error.
func (r *Refused) Error() string { return r.first().Error() }

// Unwrap returns the first error as a fault that has the field in Param. So every API answers with
// status 400 and the name of that field; only the admin API also reads the other problems.
func (r *Refused) Unwrap() error { return r.first() }

// first returns the first error as a fault. If there are only warnings, it returns the first of
// them.
func (r *Refused) first() *fault.Error {
	i := max(0, slices.IndexFunc(r.Problems, func(p Problem) bool { return p.Severity == "error" }))
	p := r.Problems[i]
	return &fault.Error{Kind: fault.Invalid, Message: fault.Short(p.placed()), Param: p.Field,
		Code: "invalid_tool"}
}

// placed returns the message of a problem, with its place if that is known.
func (p *Problem) placed() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s (line %d, column %d)", p.Message, p.Line, p.Column)
	}
	return p.Message
}
