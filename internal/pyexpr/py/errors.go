package py

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The kinds of errors. All except LimitError have Python's names, which authors who know Python
// understand.
const (
	SyntaxError       = "SyntaxError"
	NameError         = "NameError"
	UnboundLocalError = "UnboundLocalError"
	TypeError         = "TypeError"
	ValueError        = "ValueError"
	ZeroDivisionError = "ZeroDivisionError"
	OverflowError     = "OverflowError"
	IndexError        = "IndexError"
	KeyError          = "KeyError"
	AttributeError    = "AttributeError"
	LimitError        = "LimitError"
	SystemError       = "SystemError" // a fault of the evaluator itself
)

// Error says what is wrong with an expression, or what went wrong during its evaluation, and where.
type Error struct {
	Kind    string // NameError, TypeError, …; LimitError if a limit was exceeded
	Line    int    // from 1; 0 if the error has no place
	Column  int    // from 1, in characters
	Message string // CPython 3.11's message
	source  string // the line of the source, shown above the caret
}

// Error implements error. It returns the kind and the message, with the line and a caret under the
// column:
//
//	ZeroDivisionError: division by zero (line 1, column 3)
//	    1 / 0
//	      ^
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Kind + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s (line %d, column %d)\n    %s\n    %s^", e.Kind, e.Message, e.Line,
		e.Column, e.source, e.indent())
}

// indent returns the white space before the caret. Tabs are preserved, so that the caret is under
// its character in every terminal.
func (e *Error) indent() string {
	var b strings.Builder
	n := 1
	for _, r := range e.source {
		if n == e.Column {
			break
		}
		if n++; r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	for ; n < e.Column; n++ {
		b.WriteByte(' ')
	}
	return b.String()
}

// Raise ends the compilation or the run with an error. It never returns, but panics up to Attempt,
// because every error ends the whole expression and nothing in the language can catch one.
// Otherwise an error would have to be checked after each of some four hundred calls, and one could
// be forgotten; with a panic, a call that exceeds a limit simply does not return. The result only
// allows a function to end with "return Raise(…)".
func Raise(kind, format string, args ...any) any {
	MustEnd(&Error{Kind: kind, Message: fmt.Sprintf(format, args...)})
	return nil
}

// MustEnd panics with err, which the innermost Attempt returns. Compile and Run of package pyexpr
// each contain one, so the panic never leaves that package.
func MustEnd(err *Error) { panic(err) }

// Attempt calls the function do and returns the error with which Raise ended it, or nil. Any other
// panic is a bug in this package, and becomes a SystemError. Otherwise it would end the server,
// which runs tools in goroutines without another recover. Fuzzing finds no such bug any more.
func Attempt(do func()) (err *Error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *Error:
			err = fault
		default:
			err = &Error{Kind: SystemError, Message: fmt.Sprintf("the evaluator failed: %v", fault)}
		}
	}()
	do()
	return nil
}

// Blame calls the function do. If the function raises an error without a position, Blame sets the
// error's position to offset pos in src. The error is raised again in any case.
func Blame(src string, pos int, do func()) {
	if err := Attempt(do); err != nil {
		MustEnd(err.At(src, pos))
	}
}

// At stores in e that the error is at offset pos in src, and returns e. If e already has a
// position, it stays, since it is more precise: it was set further inside the expression.
func (e *Error) At(src string, pos int) *Error {
	if e.Line > 0 {
		return e
	}
	pos = min(pos, len(src))
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	e.Line = strings.Count(src[:pos], "\n") + 1
	e.Column = utf8.RuneCountInString(src[start:pos]) + 1
	e.source = strings.TrimSuffix(line, "\r")
	return e
}
