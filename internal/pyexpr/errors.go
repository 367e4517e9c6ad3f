package pyexpr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The kinds of errors. All but LimitError are Python's names, so that who knows Python knows what to do.
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

// indent is what stands before the caret. A tab stays one, so that the caret is under its character in every terminal.
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

// raise makes an error that has no place yet; the node that was at work says where.
func raise(kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// at gives an error the place of offset pos in src, unless it has one: the innermost node knows best.
func at(err error, src string, pos int) error {
	var e *Error
	if !errors.As(err, &e) || e.Line > 0 {
		return err
	}
	pos = min(pos, len(src))
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	placed := *e
	placed.Line = strings.Count(src[:pos], "\n") + 1
	placed.Column = utf8.RuneCountInString(src[start:pos]) + 1
	placed.source = strings.TrimSuffix(line, "\r")
	return &placed
}
