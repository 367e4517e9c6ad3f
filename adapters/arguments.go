package adapters

import (
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// arguments reads the arguments of a call whose tool is known. It commits the call where the
// arguments begin. It refuses them if they repeat the schema, or if they are a text that cannot
// mean an object. All forms of calls share this reader; they differ only in the text around the
// arguments.
type arguments struct {
	below
	outside *outside
}

// read reads the value of an arguments member. It returns committed if the call was begun,
// incomplete if the text ended before that was certain, and mismatch if the value cannot be
// arguments. An object is committed at its first byte. Any other value that means an object is
// committed after it was read. A quote may begin one of three things: an object in a string, which
// is OpenAI's own form ("arguments": "{\"city\": …}"), an object between quotes that are not
// escaped, or the first member of an object without its brace. Before it commits anything, read
// finds out which of them it is.
//
//	{"city": "Rome"}              an object: streams
//	"{\"city\": \"Rome\"}"        in a string, as in OpenAI's form
//	"{"city": "Rome"}"            the same, but its quotes are not escaped
//	"city": "Rome"}               without its brace
//	[{"city": "Rome"}]  null      a list around it, or nothing
func (ar *arguments) read(t *toolset.Tool, id string, quotes []lenient.Delim) match {
	ar.Pos += ar.Loose(0)
	if n := ar.otherBrace(t); n > 0 {
		key, _ := ar.KeyAt(n)
		ar.Pos += n
		return ar.braceless(t, id, key, quotes)
	}
	switch c := ar.At(0); {
	case c < 0:
		return incomplete
	case (c == '<' || c == '-' || c == '?' || scan.IsLetter(byte(c))) && !ar.trial.bare():
		if a := ar.listed(t, id); a != mismatch {
			return a
		}
		if c == 'n' || c == 'N' {
			return ar.standIn(t, id)
		}
		return mismatch
	case c == '`' || c == '(':
		return ar.inside(t, id, quotes)
	case c == '{':
		if a := ar.objectFits(t); a == mismatch {
			return ar.filledSchema(t, id)
		} else if a != matched {
			return a
		}
		ar.calls.commit(t, id)
		from := ar.Pos
		ar.calls.argsAt = from
		ar.Quotes = quotes
		ar.Container('{', t.Type())
		ar.Quotes = nil
		ar.decideArguments(from, t, quotes, false)
		ar.calls.argsAt = -1
		return committed
	case scan.IsQuote(c) && ar.quotedObject(c):
		ar.Repaired("inner-quotes")
		ar.Pos += 1 + ar.Space(1)
		ar.outside.around = c
		// the outer quotes are not JSON: inside them, the same quote ends nothing
		a := ar.read(t, id, quotes)
		ar.outside.around = 0
		// the closing one of the outer quotes
		if a == committed && ar.At(ar.Space(0)) == c {
			ar.Pos += ar.Space(0) + 1
		}
		return a
	case scan.IsQuote(c):
		if key, value := ar.KeyAt(0); value > 0 {
			return ar.braceless(t, id, key, quotes)
		}
		return ar.standIn(t, id)
	case c == '[' || c == 'n' || c == 'N':
		return ar.standIn(t, id)
	}
	return mismatch
}

// inside reads an object in a fence or in parentheses, or the keyword arguments of a Python call in
// parentheses. It returns mismatch if the fence or the parentheses have something else in them, and
// incomplete if the text ends before that is known.
func (ar *arguments) inside(t *toolset.Tool, id string, quotes []lenient.Delim) match {
	open, end := 1, ")"
	if ar.Has(0, "```") {
		open, end = 3+ar.Run(3, maxLabel, func(c int) bool { return c >= 'a' && c <= 'z' }), "```"
	}
	open += ar.Space(open)
	key, value := ar.KeyAt(open)
	switch {
	case ar.At(open) == '{':
		ar.Pos += open
		a := ar.read(t, id, quotes)
		if n := ar.Space(0); a == committed && ar.Has(n, end) {
			ar.Pos += n + len(end)
			ar.Repaired("extra-closer")
		}
		return a
	case end == ")" && value > 0 && t.Type().Has(key):
		return ar.named(t, id, open)
	}
	return incompleteAtEnd(ar.At(maxLabel-1), mismatch)
}

// named reads the keyword arguments of a Python call, which begin at the offset in the parameter
// open. It returns mismatch if the text does not consist of keyword arguments, and incomplete if
// the text ended first.
func (ar *arguments) named(t *toolset.Tool, id string, open int) match {
	n := open
	for n < 8*maxBehind && ar.At(n) >= 0 && !ar.IsMark(n) {
		n++
	}
	text := string(ar.Slice(ar.Pos+open, ar.Pos+n))
	args, left, ok := lenient.Keywords(text, t.Name, t.Type())
	if !ok {
		return incompleteAtEnd(ar.At(n), mismatch)
	}
	ar.Pos += n - left
	ar.Repaired("equals")
	return ar.calls.commitWith(t, id, args)
}

// braceless reads an object whose opening brace was left out, and whose first key was read and is
// in the parameter key. It returns mismatch if the tool has no parameter of that name, because then
// the key was a string value with something meaningless after it. With such a parameter,
// "arguments": "city": "Rome"} is an object.
func (ar *arguments) braceless(t *toolset.Tool, id, key string, quotes []lenient.Delim) match {
	if !t.Type().Has(key) {
		return mismatch
	}
	ar.calls.commit(t, id)
	ar.Repaired("opening-brace")
	from := ar.Pos
	ar.Quotes = quotes
	ar.Items('{', t.Type())
	ar.Quotes = nil
	open := ar.Unclosed                                   // its closing brace is missing too
	if open && !slices.Contains(ar.Repairs, "comments") { // else nothing was left out
		return committed
	}
	ar.Unclosed = false
	ar.decideArguments(from, t, quotes, true)
	ar.Unclosed = ar.Unclosed || open
	return committed
}

// otherBrace returns the length of a bracket that was written here in place of the opening brace.
// White space after the bracket is included. It returns 0 if there is no such bracket. A key that
// is a parameter of the tool must follow the bracket, since a list has no keys.
func (ar *arguments) otherBrace(t *toolset.Tool) int {
	for _, bracket := range [...]string{"[", "｛", "［"} {
		if ar.Has(0, bracket) {
			n := len(bracket)
			if key, value := ar.KeyAt(n + ar.Space(n)); value > 0 && t.Type().Has(key) {
				return n + ar.Space(n)
			}
		}
	}
	return 0
}

// filledSchema reads arguments that a model has written as the schema's properties: {"type":
// "object", "properties": {…}}. It returns mismatch if there are no such arguments, or if the
// object repeats the schema itself. In a schema each property is a description, and not a value.
func (ar *arguments) filledSchema(t *toolset.Tool, id string) match {
	if ar.trial.bare() {
		return mismatch
	}
	start := ar.Pos
	_, a := ar.Capture(func() { ar.Value(nil) })
	if text := ar.Slice(start, ar.Pos); a == matched && json.Valid(text) {
		var doc struct{ Properties json.RawMessage }
		_ = json.Unmarshal(text, &doc)
		if args := string(doc.Properties); args != "" && args[0] == '{' &&
			!describes(doc.Properties, t.Type()) && lenient.Fits(args, t.Type()) {
			ar.Repaired("wrapped")
			return ar.calls.commitWith(t, id, args)
		}
	}
	return mismatch
}

// describes reports whether the members of an object are schemas of arguments instead of their
// values. They are if a member of the object properties has members that the parameter of that name
// does not declare. It also returns true if properties is not a JSON object.
func describes(properties []byte, t *schema.Type) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(properties, &members) != nil {
		return true
	}
	for key, m := range members {
		var inner map[string]json.RawMessage
		_ = json.Unmarshal(m, &inner) // a value of another kind has none
		for name := range inner {
			if !slices.Contains(t.Prop(key).Members(), name) {
				return true
			}
		}
	}
	return false
}

// listed reads arguments in a notation that belongs to no family, such as lines of keys and values;
// see [lenient.Listed]. The arguments end where their call is closed. It returns mismatch if the
// notation does not fit, and incomplete if the reply ends and the last value may have been cut.
func (ar *arguments) listed(t *toolset.Tool, id string) match {
	n := 0
	for n < 8*maxBehind && ar.At(n) >= 0 && !ar.endsCall(n) {
		n++
	}
	args, end, ok := lenient.Listed(string(ar.Slice(ar.Pos, ar.Pos+n)), t.Type())
	if !ok {
		return mismatch
	}
	if ar.At(n) < 0 {
		// at the end of the reply closers show that the last value is whole
		behind := strings.TrimLeft(string(ar.Slice(ar.Pos+end, ar.Pos+n)), " \t\r\n")
		if ar.in.lengthCut() || !strings.HasPrefix(behind, "}") ||
			strings.Trim(behind, "}]) \t\r\n") != "" {
			return incomplete
		}
	}
	ar.Pos += end
	ar.Repaired("raw-arguments")
	return ar.calls.commitWith(t, id, args)
}

// quotedObject reports whether an object between quotes begins here, and the quotes inside it are
// not escaped, as in "{"city": "Rome"}". The parameter quote is the quote's character. The first
// inner quote must be followed by a letter of a key, or by the end of the text. An object whose
// quotes are escaped is read as a string instead.
func (ar *arguments) quotedObject(quote int) bool {
	n := 1 + ar.Space(1)
	if ar.At(n) != '{' {
		return false
	}
	n += 1 + ar.Space(n+1)
	return ar.At(n) == quote && (scan.IsWord(ar.At(n+1)) || ar.At(n+1) < 0)
}

// objectFits returns matched if the object here can be the arguments of the tool, judging by its
// first member. The position does not change. It returns mismatch for a schema, which repeats the
// tool list, and for a placeholder such as {...}. A call without marks must also begin with a
// parameter of the tool; if its first key was cut, the result is incomplete. After marks any first
// member is accepted, since the call is checked later and a wrong name is repaired. Small models do
// repeat the tool list: 6 of 248 replies of a model with 1.5B parameters, and 18 of 200 of one with
// 135M, had a schema or the tool list.
func (ar *arguments) objectFits(t *toolset.Tool) match {
	start := ar.Pos
	defer func() { ar.Pos = start }()
	ar.Pos++
	ar.Pos += ar.Space(0)
	c := ar.At(0)
	if c < 0 && ar.trial.bare() {
		return incomplete
	}
	// {...} and {<city>} stand for arguments in documentation
	if !scan.IsQuote(c) {
		if c == '.' || c == '<' && lenient.DelimsOf(ar.trial.closing.Family.Quotes) == nil ||
			ar.trial.bare() && c != '}' {
			return mismatch // a placeholder
		}
		return matched
	}
	out, a := ar.Capture(func() { ar.Key(false) })
	if a != matched && ar.trial.bare() {
		return a
	}
	key := scan.Unquote(out) // empty for a damaged key; no schema's text begins with one
	// {"city": {"type": "string"}} is the schema's own text
	if ar.describesParameter(t.Type().Prop(key)) {
		return mismatch
	}
	if t.Type().Has(key) || !ar.trial.bare() && !echoKeys[key] || ar.WrapperAhead(t.Type(), key) {
		return matched
	}
	return mismatch
}

// standIn reads arguments that mean an object but are written as another value: an object in a
// string, a list around an object, pairs of name and value, null, or the value of the only
// parameter. It reads the whole value first, and returns mismatch if the value cannot mean an
// object. For example, [{"name": "city", "value": "Rome"}] means {"city": "Rome"}, but the text
// "oops" means nothing if the tool has several parameters.
func (ar *arguments) standIn(t *toolset.Tool, id string) match {
	out, a := ar.Capture(func() { ar.Value(nil) })
	if a != matched {
		return a
	}
	args, ok := lenient.ObjectOf(string(out), t.Type())
	if !ok {
		return mismatch
	}
	return ar.calls.commitWith(t, id, args)
}

// describesParameter reports whether the key just read is followed by a description of a parameter
// instead of a value: an object that begins with type or description, although the schema allows no
// object there. A parameter that can be an object may have those members itself.
func (ar *arguments) describesParameter(t *schema.Type) bool {
	n := ar.Space(0)
	return ar.At(n) == ':' && t.Known() && !t.Allows(schema.Object) && ar.Describes(n+1)
}

// rawText copies text that is not JSON into the arguments: the value of a tag, or a program, which
// ends with its message. It copies until the function ends returns true. It then skips as many
// bytes as that function returned, and returns true. It returns false if the reply ended first. The
// function is called only at bytes in the table stops, so a file of megabytes costs one look-up a
// byte. If escape is true, the text is escaped as in a JSON string.
func (ar *arguments) rawText(stops *[256]bool, escape bool, ends func(c int) (int, bool)) bool {
	q := lenient.Delim{Close: "<", Stops: stops, Angles: true}
	for {
		ar.CopyPlain(q)
		c := ar.At(0)
		if c < 0 {
			return false
		}
		at := ar.Pos
		if n, over := ends(c); over {
			ar.Pos += n
			return true
		}
		if ar.Pos != at { // the value begins later
			continue
		}
		switch {
		// only whole runes, so that no split can damage a rune
		case c >= 0x80:
			ar.Rune()
			continue
		case escape && (c < ' ' || c == '"' || c == '\\'):
			ar.Out.JSON = chat.AppendEscaped(ar.Out.JSON, string(rune(c)))
		default:
			ar.PutByte(byte(c))
		}
		ar.Pos++
	}
}
