package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// pythonCalls reads Python calls: a list of them in brackets, or one after the other.
// LFM2 and Llama write a list in brackets, OLMo a call on each line; some put a semicolon between. The list's own bracket may be
// missing at its end, like any closer behind a commit.
// Each call but the last ends where the next begins; the last one has the family's closers behind it.
func (d *decoder) pythonCalls(p *declaration.Pattern) match {
	brackets := d.brackets(1)
	a := d.pythonCall()
	if a != committed {
		return a
	}
	for d.nextPython(brackets > 0) {
	}
	d.closeBrackets(brackets)
	d.endCall(d.skipClosers(p))
	return committed
}

// nextPython reads a further call behind a comma or a newline.
// Without a bracket around, white space alone may separate: calls stand on lines. Inside one a comma must, since [f() g()] is
// no list in Python.
// A call that is cut here leaves those in front of it alone: they have ended.
// A name must follow, or the comma was one of the sentence around: "[a(), and so on".
func (d *decoder) nextPython(bracket bool) bool {
	n := d.Space(0)
	// f(…), g(…) in a list; f(…); g(…) and one a line without
	if d.At(n) == ',' || d.At(n) == ';' {
		n += 1 + d.Space(n+1)
	} else if bracket || n == 0 {
		return false
	}
	return scan.IsWord(d.At(n)) && d.further(n, d.pythonCall)
}

// pythonCall reads NAME(K=V, …) and leaves the call open. print( around it is dropped. Nothing is committed before the
// closing parenthesis, so text that turns out to be no call comes back whole.
// Gemma writes print(get_weather(city="Oslo")) into its tool_code. Positional values and expressions make most texts
// with a parenthesis look like calls, so here nothing streams: all arguments are read first.
func (d *decoder) pythonCall() match {
	printed := d.Has(0, "print(")
	if printed {
		d.Pos += len("print(")
	}
	t, a := d.pythonName()
	if a != matched {
		return a
	}
	// its own parenthesis follows the call's
	d.printed = printed
	// name and parenthesis: no prose behind a mark
	d.evidence = true
	args, a := d.pythonArgs(t)
	if a != matched {
		return a
	}
	if n := d.Space(0); printed && d.At(n) == ')' {
		d.Pos += n + 1
	}
	// get_weather(city="Oslo"), days=3)
	if d.keywordBehind(t) {
		return mismatch
	}
	return d.commitWith(t, "", args)
}

// keywordBehind says whether behind the closer of a call a further argument of the tool stands: the closer came too early.
// get_weather(city="Oslo"), days=3) was a call without days; it may as well have lost an opener, so it is text.
func (d *decoder) keywordBehind(t *toolset.Tool) bool {
	n := d.Space(0)
	// the list's bracket may stand between
	if scan.IsCloser(d.At(n)) {
		n += 1 + d.Space(n+1)
	}
	if d.At(n) != ',' {
		return false
	}
	n += 1 + d.Space(n+1)
	key, _ := d.KeyAt(n)
	return t.Type().Has(key)
}

// pythonName reads a name and the parenthesis directly behind it.
// A blank in front of the parenthesis makes it prose: "search (see above)". Llama 3 calls its built-in tools with a method,
// brave_search.call(query="…").
// The name is compared with what is offered at every byte, so a function in program text ends the attempt early.
func (d *decoder) pythonName() (*toolset.Tool, match) {
	t, n, a := d.offered(0, func(n, c int) bool {
		return c >= 0 && !scan.IsWord(c) && c != '.' && c != '-' || d.Has(n, ".call(")
	})
	if a != matched {
		return nil, a
	}
	if d.Has(n, ".call(") { // Llama's built-in tools
		n += len(".call")
	}
	if c := d.At(n); c != '(' {
		return nil, incompleteAtEnd(c, mismatch)
	}
	d.Pos += n + 1
	return t, matched
}

// pythonArgs reads the arguments up to the closing parenthesis and answers them as one object.
// Apart from the call's own output, they can be dropped as a whole. What the end of the text cut in a string may go on in any
// way: incomplete, so that finish length is not a call, and finish stop is text. Odd ones, and behind marks those that could
// not be read, are searched for what they may mean.
func (d *decoder) pythonArgs(t *toolset.Tool) (string, match) {
	var a match
	start := d.Pos
	d.Python = true
	// a string may run to the end of the text, and ['a' 'b'] be one string or two
	out, whole := d.Capture(func() {
		if a = d.objectArgument(t); a == mismatch {
			a = d.keywords(t)
		}
	})
	d.Python = false
	d.LeaveAll()
	a = min(a, whole)
	if a == matched && d.Spare.Odd || a == mismatch && !d.closing.Markless() {
		return d.decidePython(start, t, string(out), a)
	}
	if a != matched {
		return "", a
	}
	// f(arguments={"city": "Oslo"})
	if args, ok := lenient.Unwrapped(t.Name, t.Type(), string(out)); ok {
		d.Repaired("wrapped")
		return args, matched
	}
	return string(out), a
}

// decidePython decides what the arguments of a Python call mean that begin at start, and of which a came; see decide.
func (d *decoder) decidePython(start int, t *toolset.Tool, today string, a match) (string, match) {
	if a != matched {
		today = ""
	}
	n := 0
	for n < 8*maxBehind && d.At(n) >= 0 && !d.IsMark(n) {
		n++
	}
	text := string(d.Slice(start, d.Pos+n))
	d.Pos = start
	m, ok := lenient.Decide(text, repair.Args{Type: t.Type(), Python: true, Mark: d.IsMark}, t.Name, today)
	switch {
	case !ok:
		return "", mismatch
	case m.Open:
		return "", incomplete
	}
	d.Pos += m.End
	if today != "" && lenient.SameJSON(m.Args, today) {
		return today, matched
	}
	return m.Args, matched
}

// objectArgument reads one object in the place of keywords: f({"a": 1}).
// Behind it only the parenthesis may stand: f({"a": 1}, b=2) is positional, with an object first.
// What it wrote is discarded when it does not fit, and the keywords are read from the same place.
func (d *decoder) objectArgument(t *toolset.Tool) match {
	start := d.Pos
	d.Pos += d.Loose(0)
	// f({"city": "Oslo"}): its first member is a parameter
	if d.At(0) == '{' && d.objectFits(t) == matched {
		d.Spare.JSON = d.Spare.JSON[:0]
		d.LeaveAll()
		d.Enter(lenient.CallArgs, t.Type())
		d.Container('{', t.Type())
		d.Pos += d.Loose(0)
		if d.At(0) == ')' {
			d.Pos++
			return matched
		}
	}
	d.Pos, d.Spare.JSON, d.Spare.Broken = start, d.Spare.JSON[:0], false
	return mismatch
}

// keywords reads K=V pairs. Positional values take the parameters in order, the required ones first.
// Order by the schema is what the template has shown the model, required parameters first as in a signature. A null for a
// parameter that may be left out is removed with its key, as in JSON.
func (d *decoder) keywords(t *toolset.Tool) match {
	d.LeaveAll()
	d.Enter(lenient.CallArgs, t.Type())
	d.PutByte('{')
	typ := t.Type()
	for n := 0; ; n++ {
		d.Pos += d.Loose(0)
		c := d.At(0)
		switch {
		case c == ')':
			d.Pos++
			d.PutByte('}')
			return matched
		case c < 0:
			return incomplete
		// [1 + 1], "x" if a else "y": an expression, which nobody evaluates here
		case n > 0 && c != ',':
			return mismatch
		case n > 0:
			d.Pos++
			d.Pos += d.Loose(0)
			// a comma behind the last argument, as Python allows it
			if d.At(0) == ')' {
				continue
			}
		}
		key, a := d.keyword(typ, n)
		if a != matched {
			return a
		}
		// fileName=… for file_name
		key = d.Meant(typ, key, nil)
		at := len(d.Out.JSON)
		if at > len("{") {
			d.PutByte(',')
		}
		d.Out.JSON = append(chat.AppendQuoted(d.Out.JSON, key), ':')
		value := len(d.Out.JSON)
		if !d.pythonValue(typ.Prop(key)) {
			return incompleteAtEnd(d.At(0), mismatch)
		}
		// days=None for an integer that may be left out
		if string(d.Out.JSON[value:]) == "null" && d.Omitted(typ, key) {
			d.Out.JSON = d.Out.JSON[:at]
		}
	}
}

// keyword reads "K =", or names the parameter of a positional value.
// key: value counts as well, as models mix in JSON; == does not, which is a comparison. A value without a name takes the
// parameter at its place only when the schema lists it: else nobody knows what it is.
// n is the place of the argument; a name after a value without one is fine in Python, the reverse is not checked here.
func (d *decoder) keyword(t *schema.Type, n int) (string, match) {
	i := d.Run(0, scan.Unlimited, func(c int) bool { return scan.IsWord(c) || c == '-' || c >= 0x80 })
	end := i + d.Space(i)
	switch c := d.At(end); {
	case c < 0:
		return "", incomplete
	// city="Oslo", city: "Oslo"; not city == "Oslo"
	case i > 0 && c == '=' && d.At(end+1) != '=', i > 0 && c == ':':
		key := string(d.Slice(d.Pos, d.Pos+i))
		d.Pos += end + 1
		d.Pos += d.Loose(0)
		d.Positional = false
		return key, matched
	}
	d.Positional = true
	if all := t.Members(); n < len(all) { // the required ones first, as in a signature
		return all[n], matched
	}
	return "", mismatch
}

// pythonValue reads a value; string prefixes (r"…", f"…", b"…") are dropped.
// An f-string is a text only where nothing in it would be evaluated. Only in r"…" is a backslash data.
// False means that no value stands here: an expression or a name, and the text is no call.
func (d *decoder) pythonValue(t *schema.Type) bool {
	c := d.At(0)
	// r"C:\temp", f"{city}", b"x", u"x"
	next := d.At(1)
	if c == 'f' && scan.IsQuote(next) && d.holes(2, next) {
		return false
	}
	if (c == 'r' || c == 'f' || c == 'b' || c == 'u') && (next == '"' || next == '\'') {
		d.Pos++
		if q, ok := d.QuoteAt(0); ok && c == 'r' {
			q.Raw = true
			d.StringValue(q, t)
			return true
		}
	}
	return d.Value(t)
}

// holes reports whether in the f-string whose text begins at offset i something would be evaluated. One that is longer than
// is looked may have holes.
func (d *decoder) holes(i, quote int) bool {
	for n := i; n < i+maxUnmarked; n++ {
		switch c := d.At(n); {
		case c == quote || c < 0:
			return false
		case c == '{' || c == '\\':
			return true
		}
	}
	return true
}
