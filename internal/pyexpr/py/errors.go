package py

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The kinds of errors. All but LimitError are Python's names, so that who knows Python knows what
// to do.
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

// Error says what is wrong with an expression, or what went wrong when it ran, and where.
type Error struct {
	Kind    string // NameError, TypeError, …; LimitError where a budget was spent
	Line    int    // from 1; 0 when no place is to blame
	Column  int    // from 1, in characters
	Message string // as CPython 3.11 says it
	source  string // the line, for the caret
}

// Error renders the kind and the message, with the line and a caret under the column:
//
//	ZeroDivisionError: division by zero (line 1, column 3)
//	    1 / 0
//	      ^
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Kind + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s (line %d, column %d)\n    %s\n    %s^", e.Kind, e.Message, e.Line, e.Column, e.source, e.indent())
}

// indent returns what stands before the caret. A tab stays one, so that the caret is under its
// character in every terminal.
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

// Raise ends what is being compiled or run with an error. It does not return: every error of an
// expression ends the whole of it, nothing in the language can catch one, so the way out is one
// unwinding up to Attempt and not a question after each of some four hundred calls. A limit can be
// forgotten that way by nobody: who charges too much does not come back. The result is only there
// so that a function may end with it.
func Raise(kind, format string, args ...any) any {
	MustEnd(&Error{Kind: kind, Message: fmt.Sprintf(format, args...)})
	return nil
}

// MustEnd unwinds to the innermost Attempt: Compile and Run of package pyexpr have one each, so
// nothing outside of it sees the panic.
func MustEnd(err *Error) { panic(err) }

// Attempt calls do and gives the error that ended it, nil if none did. A panic of any other kind
// would be a fault of this package, none of which fuzzing has left; should there be one, it costs
// this call and not the server, which runs tools in goroutines that nothing else guards.
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

// Blame calls do, and gives an error that ends it the place of offset pos in src, unless it has
// one.
func Blame(src string, pos int, do func()) {
	if err := Attempt(do); err != nil {
		MustEnd(err.At(src, pos))
	}
}

// At sets an error's place to offset pos in src, unless it has one: the innermost part knows best.
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
