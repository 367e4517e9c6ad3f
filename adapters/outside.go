package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// outside tells the reader of arguments which text may surround the arguments; see
// [lenient.Outside]. It is a type of its own, and no part of the readers of calls, because these
// call the reader of arguments, which calls outside.
type outside struct {
	below
	names *names

	// around is the quote around the arguments if the quotes inside are not escaped: "{"city":
	// "Rome"}". 0: no quote.
	around  int
	printed bool // print( surrounds the Python call
}

// CallEnds reports whether the text at offset i can follow the arguments of a call. The reader of
// arguments asks this at a brace or a quote that may have come too early. In these examples the
// text after the character answers it:
//
//	{"city": "Rome"}}, "days": 3}</tool_call>    a brace too many, or too early
//	{"city": "say "hi" now"}</tool_call>         which quote closes
func (ou *outside) CallEnds(i int) bool {
	if ou.Python {
		return ou.pythonEnd(i)
	}
	i += ou.Space(i)
	c := ou.At(i)
	p := ou.trial.closing
	switch {
	case ou.around != 0 && c == ou.around:
		return true
	case c < 0 || c == '}' || c == ',' || c == ']' || c == ')' || c == ';' || ou.IsMark(i):
		return true
	// the object around the arguments has to end first
	case p.Index("call") >= 0 || p.Index("calls") >= 0:
		return false
	// a name before the arguments: only the closer can follow them
	case len(p.Close) > 0:
		_, ok := ou.marks.closerAt(i, p)
		return ok
	}
	return true
}

// pythonEnd reports whether the text at offset i, after the parenthesis that closes a Python call,
// can follow such a call: another call, the end of the list of calls, or a mark. Program text in an
// argument contains parentheses as well. Neither get("a") inside code='…' nor a parenthesis after a
// quote in such text may end the call.
//
//	[run(command='python -c 'print(1)'')]
//
// is one whole command: the parenthesis after (1 is followed by a quote.
func (ou *outside) pythonEnd(i int) bool {
	i, line := ou.pastSpace(i)
	c := ou.At(i)
	switch {
	case c < 0 || ou.IsMark(i) || ou.Comment(i) > 0:
		return true
	// print( has a parenthesis of its own
	case c == ')' && ou.printed:
		return ou.pythonEnd(i + 1)
	case c == ']':
		i, line = ou.pastSpace(i + 1)
		return line || ou.At(i) < 0 || ou.IsMark(i)
	case c == ',' || c == ';':
		i += 1 + ou.Space(i+1)
		return ou.At(i) == ']' || scan.IsWord(ou.At(i)) && ou.names.nameAhead(i)
	case scan.IsWord(c):
		return line && ou.names.nameAhead(i) && (ou.printed || !ou.Has(i, "print("))
	}
	return false
}

// pastSpace returns the offset after the white space at offset i, and whether a newline is in it.
func (ou *outside) pastSpace(i int) (end int, line bool) {
	end = i + ou.Space(i)
	return end, bytes.IndexByte(ou.Slice(ou.Pos+i, ou.Pos+end), '\n') >= 0
}

// CallMark reports whether a mark that can end or follow a call, such as </tool_call> or
// <|im_end|>, is at offset i. It returns false for a mark of reasoning: an argument may contain it
// as text, and there is no reasoning inside a call.
func (ou *outside) CallMark(i int) bool {
	ofCall := func(m *declaration.Mark) bool {
		return m.Kind != declaration.ThinkOpen && m.Kind != declaration.ThinkClose
	}
	return ou.marks.firstMark(i, ofCall) != nil || ou.Inside() && ou.argCloser(i)
}

// argCloser reports whether the closing tag of a tagged argument of the call being read is at
// offset i. JSON in a tag must be followed by that tag: in <parameter=x>{"a": 1}}</parameter> the
// second brace is surplus.
func (ou *outside) argCloser(i int) bool {
	for _, arg := range ou.trial.closing.Family.Args {
		if _, a := ou.marks.literal(i, arg.Parts[len(arg.Parts)-1].Lit); a == matched {
			return true
		}
	}
	return false
}
