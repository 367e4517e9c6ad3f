package adapters

import (
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// python reads calls that are written as in Python. They do not stream: program text looks like
// calls too often, and only the closing parenthesis shows whether a text was an argument or an
// expression.
type python struct {
	below
	names   *names
	closers *closers
	outside *outside
	args    *arguments
}

// read reads Python calls: a list of them in brackets, or one after the other. It returns
// committed, or mismatch or incomplete if the first call cannot be read to its end. LFM2 and Llama
// write a list in brackets, and OLMo a call on each line. Some models put a semicolon between
// calls. The list's closing bracket may be missing, like any closing mark after a complete call.
// The family's closing marks come after the last call.
func (py *python) read(p *declaration.Pattern) match {
	brackets := py.closers.brackets(1)
	a := py.pythonCall()
	if a != committed {
		return a
	}
	for py.nextPython(brackets > 0) {
	}
	py.closers.closeBrackets(brackets)
	closed := py.closers.skipClosers(p)
	py.calls.endCall(closed)
	py.calls.closed = closed // looking for a further call has ended this one, whatever follows it
	return committed
}

// nextPython reads a further call after a comma, a semicolon or a newline, and reports whether
// there was one. Without a bracket around the calls, white space alone can separate them. Inside
// brackets a comma or semicolon is needed, since [f() g()] is not a list in Python. The name of a
// tool must follow, or the comma belongs to a sentence, as in "[a(), and so on". If the further
// call is cut, the calls before it are not affected.
func (py *python) nextPython(bracket bool) bool {
	n := py.Space(0)
	// f(…), g(…) in a list; f(…); g(…) and one per line without brackets
	if py.At(n) == ',' || py.At(n) == ';' {
		n += 1 + py.Space(n+1)
	} else if bracket || n == 0 {
		return false
	}
	return scan.IsWord(py.At(n)) && py.calls.further(n, py.pythonCall)
}

// pythonCall reads NAME(K=V, …); the caller ends the call. It returns mismatch if the text is not
// such a call, and incomplete if the text ends in it. All arguments are read before anything is
// committed, because positional values and expressions make most texts with a parenthesis look like
// calls. print( around the call is dropped, as Gemma writes print(get_weather(city="Oslo")) into
// its tool_code.
func (py *python) pythonCall() match {
	printed := py.Has(0, "print(")
	if printed {
		py.Pos += len("print(")
	}
	t, a := py.pythonName()
	if a != matched {
		return a
	}
	// the parenthesis of print( follows the call's
	py.outside.printed = printed
	// name and parenthesis: no prose after a mark
	py.trial.evidence = true
	args, a := py.pythonArgs(t)
	if a != matched {
		return a
	}
	if n := py.Space(0); printed && py.At(n) == ')' {
		py.Pos += n + 1
	}
	py.strayClosers()
	// get_weather(city="Oslo"), days=3)
	if py.keywordBehind(t) {
		return mismatch
	}
	return py.calls.commitWith(t, "", args)
}

// strayClosers skips surplus ) and } after a call, if only the end of the text, a ], a mark or a
// fence follows them.
func (py *python) strayClosers() {
	n := 0
	for c := py.At(n); c == ')' || c == '}'; c = py.At(n) {
		n++
	}
	if end := n + py.Space(n); n > 0 && (py.At(end) < 0 || py.At(end) == ']' || py.IsMark(end) ||
		py.Has(end, "```")) {
		py.Pos += n
		py.Repaired("extra-closer")
	}
}

// keywordBehind reports whether a further argument of the tool follows the closing parenthesis of a
// call. Such a call is text: get_weather(city="Oslo"), days=3) may be one without days, or one in
// which an opening parenthesis is missing.
func (py *python) keywordBehind(t *toolset.Tool) bool {
	n := py.Space(0)
	// the list's bracket may come between
	if scan.IsCloser(py.At(n)) {
		n += 1 + py.Space(n+1)
	}
	if py.At(n) != ',' {
		return false
	}
	n += 1 + py.Space(n+1)
	key, _ := py.KeyAt(n)
	return t.Type().Has(key)
}

// pythonName reads the name of an offered tool and the parenthesis directly after it. It returns
// mismatch or incomplete if they are not here. A blank before the parenthesis makes it prose:
// "search (see above)". Llama 3 calls its built-in tools with a method,
// brave_search.call(query="…"). The name is compared with the offered names at every byte, so a
// function in program text ends the attempt early.
func (py *python) pythonName() (*toolset.Tool, match) {
	t, n, a := py.names.offered(0, func(n, c int) bool {
		return c >= 0 && !scan.IsWord(c) && c != '.' && c != '-' || py.Has(n, ".call(")
	})
	if a != matched {
		return nil, a
	}
	if py.Has(n, ".call(") { // Llama's built-in tools
		n += len(".call")
	}
	if c := py.At(n); c != '(' {
		return nil, incompleteAtEnd(c, mismatch)
	}
	py.Pos += n + 1
	return t, matched
}

// pythonArgs reads the arguments up to the closing parenthesis and returns them as one object. They
// are kept apart from the call's own output, so they can be dropped as a whole. If they are odd, it
// returns their only likely meaning, or mismatch if there is none. It does the same if they cannot
// be read but the call has marks or begins with a parameter of the tool. It returns incomplete if
// the text ends inside a string, because the string may continue in any way.
func (py *python) pythonArgs(t *toolset.Tool) (string, match) {
	var a match
	start := py.Pos
	py.Python = true
	// a string may run to the end of the text, and ['a' 'b'] be one string or two
	out, whole := py.Capture(func() {
		if a = py.objectArgument(t); a == mismatch {
			a = py.keywords(t)
		}
	})
	py.Python = false
	py.LeaveAll()
	a = min(a, whole)
	// a call that the model has ended is not cut
	ended := a == mismatch || a == incomplete && !py.trial.in.lengthCut()
	if a == matched && py.Spare.Odd || ended && (!py.trial.closing.Markless() ||
		py.argumentAt(start, t)) {
		return py.decidePython(start, t, string(out), a)
	}
	if a != matched {
		return "", a
	}
	// f(arguments={"city": "Oslo"})
	if args, ok := lenient.Unwrapped(t.Name, t.Type(), string(out)); ok {
		py.Repaired("wrapped")
		return args, matched
	}
	return string(out), a
}

// argumentAt reports whether a named parameter of the tool is at position start. Without marks, a
// name and a parenthesis are often prose. With a parameter they are a call, damaged or not.
func (py *python) argumentAt(start int, t *toolset.Tool) bool {
	at := py.Pos
	py.Pos = start
	n := py.Space(0)
	if c := py.At(n); c == '(' || c == ',' { // a surplus one
		n += 1 + py.Space(n+1)
	}
	key, value := py.KeyAt(n)
	py.Pos = at
	return value > 0 && t.Type().Has(key)
}

// decidePython decides what arguments of a Python call mean if they are odd or could not be read.
// They begin at position start. The parameters direct and a are the object and the result of a
// plain attempt to read them. If one meaning is the only likely one, decidePython returns its
// object and matched, and otherwise mismatch or incomplete.
func (py *python) decidePython(start int, t *toolset.Tool, direct string, a match) (string, match) {
	if a != matched {
		direct = ""
	}
	end, n := py.Pos, 0
	for n < 8*maxBehind && py.At(n) >= 0 && !py.args.endsCall(n) { // other marks may be in a text
		n++
	}
	text := string(py.Slice(start, py.Pos+n))
	n += py.Pos - start
	py.Pos = start
	m, ok := lenient.Decide(text, repair.Args{Type: t.Type(), Python: true, Mark: py.IsMark},
		t.Name, direct)
	if a != matched && ok {
		m.End = min(m.End, len(text))
		// without marks, and where a mark ends them, the arguments are all there is
		all := m.Open || py.trial.closing.Markless() && strings.Trim(text[m.End:],
			" \t\r\n)]}`") != ""
		ok = (a == mismatch || !neverClosed(text[:m.End])) &&
			(!all || strings.TrimSpace(text[m.End:]) == "")
	}
	switch {
	case !ok:
		py.Pos = end
		if a == matched {
			a = mismatch
		}
		return "", a
	case m.Open && !py.args.endsCall(n):
		return "", incomplete
	}
	py.Pos += m.End
	if direct != "" && lenient.SameJSON(m.Args, direct) {
		return direct, matched
	}
	return m.Args, matched
}

// neverClosed reports whether the last quote in the arguments begins a string, which then has no
// end.
func neverClosed(args string) bool {
	last := strings.LastIndexAny(args, `"'`)
	before := strings.TrimRight(args[:max(last, 0)], " \t\r\n")
	return last >= 0 && (before == "" || strings.IndexByte("=:,([{", before[len(before)-1]) >= 0)
}

// objectArgument reads one object in place of keywords, as in f({"a": 1}). It returns mismatch if
// the object does not fit the tool, or if a closing parenthesis does not follow directly. In that
// case it drops the object and restores the position, so that the caller can read the arguments in
// another way. In f({"a": 1}, b=2) the object is a positional argument.
func (py *python) objectArgument(t *toolset.Tool) match {
	start := py.Pos
	py.Pos += py.Loose(0)
	// f({"city": "Oslo"}): its first member is a parameter
	if py.At(0) == '{' && py.args.objectFits(t) == matched {
		py.Spare.JSON = py.Spare.JSON[:0]
		py.LeaveAll()
		py.Enter(lenient.CallArgs, t.Type())
		py.Container('{', t.Type())
		py.Pos += py.Loose(0)
		if py.At(0) == ')' {
			py.Pos++
			return matched
		}
	}
	py.Pos, py.Spare.JSON, py.Spare.Broken = start, py.Spare.JSON[:0], false
	return mismatch
}

// keywords reads K=V pairs up to the closing parenthesis. It returns mismatch if something else is
// among them, and incomplete if the text ends first. Positional values take the parameters in
// order, the required ones first: the template has shown the model the schema's order, as in a
// signature. A null for a parameter that may be left out is removed with its key, as in JSON.
func (py *python) keywords(t *toolset.Tool) match {
	py.LeaveAll()
	py.Enter(lenient.CallArgs, t.Type())
	py.PutByte('{')
	typ, named := t.Type(), false
	for n := 0; ; n++ {
		py.Pos += py.Loose(0)
		c := py.At(0)
		switch {
		case c == ')':
			py.Pos++
			py.PutByte('}')
			return matched
		case c < 0:
			return incomplete
		// [1 + 1], "x" if a else "y": an expression, which is not evaluated
		case n > 0 && c != ',':
			return mismatch
		case n > 0:
			py.Pos++
			py.Pos += py.Loose(0)
			// a comma after the last argument, as Python allows
			if py.At(0) == ')' {
				continue
			}
		}
		key, a := py.keyword(typ, n)
		if a != matched {
			return a
		}
		if named = named || !py.Positional; named && py.Positional {
			return mismatch // 7 of degrees=18,7
		}
		// fileName=… for file_name
		key = py.Meant(typ, key, nil)
		at := len(py.Out.JSON)
		if at > len("{") {
			py.PutByte(',')
		}
		py.Out.JSON = append(chat.AppendQuoted(py.Out.JSON, key), ':')
		value := len(py.Out.JSON)
		if !py.pythonValue(typ.Prop(key)) {
			return incompleteAtEnd(py.At(0), mismatch)
		}
		// f('city', 'Oslo'): names and values in turn
		if py.Positional && typ.Has(scan.Unquote(string(py.Out.JSON[value:]))) {
			return mismatch
		}
		// days=None for an integer that may be left out
		if string(py.Out.JSON[value:]) == "null" && py.Omitted(typ, key) {
			py.Out.JSON = py.Out.JSON[:at]
		}
	}
}

// keyword reads "K =" or "K:", which models mix in from JSON, and returns K. For a positional value
// it reads nothing, and returns the parameter at position n, where n is the number of the argument
// in the call. A name before == is a positional value, since that is a comparison. It returns
// mismatch for a value without a name if the schema has no parameter at position n, and incomplete
// at the end of the text. A name may follow a value without one, as in Python; the reverse is not
// checked here.
func (py *python) keyword(t *schema.Type, n int) (string, match) {
	i := py.Run(0, scan.Unlimited, func(c int) bool {
		return scan.IsWord(c) || c == '-' || c >= 0x80
	})
	end := i + py.Space(i)
	switch c := py.At(end); {
	case c < 0:
		return "", incomplete
	// city="Oslo", city: "Oslo"; not city == "Oslo"
	case i > 0 && c == '=' && py.At(end+1) != '=', i > 0 && c == ':':
		key := string(py.Slice(py.Pos, py.Pos+i))
		py.Pos += end + 1
		py.Pos += py.Loose(0)
		py.Positional = false
		return key, matched
	}
	py.Positional = true
	if all := t.Members(); n < len(all) { // the required ones first, as in a signature
		return all[n], matched
	}
	return "", mismatch
}

// pythonValue reads a value, and returns false if an expression or a name is here instead; the text
// is then not a call. String prefixes (r"…", f"…", b"…") are dropped. In r"…" a backslash is data,
// and in other strings it begins an escape. An f-string is a text only if nothing in it would be
// evaluated.
func (py *python) pythonValue(t *schema.Type) bool {
	c := py.At(0)
	// r"C:\temp", f"{city}", b"x", u"x"
	next := py.At(1)
	if c == 'f' && scan.IsQuote(next) && py.evaluates(2, next) {
		return false
	}
	if (c == 'r' || c == 'f' || c == 'b' || c == 'u') && (next == '"' || next == '\'') {
		py.Pos++
		if q, ok := py.QuoteAt(0); ok && c == 'r' {
			q.Raw = true
			py.StringValue(q, t)
			return true
		}
	}
	return py.Value(t)
}

// evaluates reports whether Python would evaluate something in an f-string, whose text begins at
// offset i. It also returns true if no closing quote is within the next maxUnmarked bytes.
func (py *python) evaluates(i, quote int) bool {
	for n := i; n < i+maxUnmarked; n++ {
		switch c := py.At(n); {
		case c == quote || c < 0:
			return false
		case c == '{' || c == '\\':
			return true
		}
	}
	return true
}

// writtenAsPython reports whether the text is a whole Python literal that means the same as the
// JSON in the parameter read. It returns false unless the family writes objects as Python does.
// Such a text is written correctly, so it has no other meaning.
func (ar *arguments) writtenAsPython(text, read string) bool {
	return ar.trial.closing.Family.Layout.Words == declaration.PythonObjects &&
		lenient.IsPython(text, read)
}
