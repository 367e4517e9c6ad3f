package adapters

import (
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// arguments reads the value of an arguments member: commits at its first byte when it is an object, and after reading it
// when it is something that stands for one.
// A quote may begin an object in a string, which OpenAI's own form has ("arguments": "{\"city\": …}"), an object between quotes
// that are not escaped, or its first member without a brace. What of these it is, is seen before anything is committed.
//
//	{"city": "Rome"}              an object: streams
//	"{\"city\": \"Rome\"}"        in a string, as OpenAI's form has it
//	"{"city": "Rome"}"            the same, and nobody escaped its quotes
//	"city": "Rome"}               without its brace
//	[{"city": "Rome"}]  null      a list around it, or nothing
func (d *decoder) arguments(t *toolset.Tool, id string, quotes []lenient.Delim) match {
	d.Pos += d.Loose(0)
	switch c := d.At(0); {
	case c < 0:
		return incomplete
	case c == '`':
		return incompleteAtEnd(d.At(maxLabel-1), mismatch) // a fence of something else, or one that is cut
	case c == '{':
		if a := d.objectFits(t); a != matched {
			return a
		}
		d.commit(t, id)
		from := d.Pos
		d.argsAt = from
		d.Quotes = quotes
		d.Container('{', t.Type())
		d.Quotes = nil
		d.decideArguments(from, t, quotes)
		d.argsAt = -1
		return committed
	case scan.IsQuote(c) && d.quotedObject(c):
		d.Repaired("inner-quotes")
		d.Pos += 1 + d.Space(1)
		d.around = c
		// the outer quotes are no JSON: inside, theirs end nothing
		a := d.arguments(t, id, quotes)
		d.around = 0
		// the closing one of the outer quotes
		if a == committed && d.At(d.Space(0)) == c {
			d.Pos += d.Space(0) + 1
		}
		return a
	case scan.IsQuote(c):
		if key, value := d.KeyAt(0); value > 0 {
			return d.braceless(t, id, key, quotes)
		}
		return d.standIn(t, id)
	case c == '[' || c == 'n' || c == 'N':
		return d.standIn(t, id)
	}
	return mismatch
}

// braceless reads an object whose opening brace was left out, if the key that it begins with is a parameter of the tool.
// "arguments": "city": "Rome"} is one reading only when city is a parameter; else it would be a string followed by junk.
func (d *decoder) braceless(t *toolset.Tool, id, key string, quotes []lenient.Delim) match {
	if !t.Type().Has(key) {
		return mismatch
	}
	d.commit(t, id)
	d.Repaired("opening-brace")
	d.Quotes = quotes
	d.Items('{', t.Type())
	d.Quotes = nil
	return committed
}

// quotedObject says whether here stands an object between quotes whose own quotes are not escaped: "{"city": "Rome"}".
// A quoted object whose quotes are escaped is a string like any other, and is read as one.
// What follows the inner quote is a letter of a key, or the end of the text.
func (d *decoder) quotedObject(quote int) bool {
	n := 1 + d.Space(1)
	if d.At(n) != '{' {
		return false
	}
	n += 1 + d.Space(n+1)
	return d.At(n) == quote && (scan.IsWord(d.At(n+1)) || d.At(n+1) < 0)
}

// objectFits looks at the first member of the arguments: a schema in their place is an echo of the tool list, and a call
// without marks must begin with a parameter of the tool.
// Small models do echo: 6 of 248 replies of a 1.5B and 18 of 200 of a 135M repeated a schema or the tool list.
// Behind marks any first member is believed but those of a schema: the call is checked later, and a wrong name is repaired.
func (d *decoder) objectFits(t *toolset.Tool) match {
	start := d.Pos
	defer func() { d.Pos = start }()
	d.Pos++
	d.Pos += d.Space(0)
	c := d.At(0)
	if c < 0 && d.bare() {
		return incomplete
	}
	// {...} and {<city>} stand for arguments in documentation
	if !scan.IsQuote(c) {
		if c == '.' || c == '<' && lenient.DelimsOf(d.closing.Family.Quotes) == nil || d.bare() && c != '}' {
			return mismatch // a placeholder
		}
		return matched
	}
	out, a := d.Capture(func() { d.Key(false) })
	if a != matched && d.bare() {
		return a
	}
	key := scan.Unquote(out) // of a key that is damaged nothing, which no schema's text begins with
	// {"city": {"type": "string"}} is the schema's own text
	if d.describesParameter(t.Type().Prop(key)) {
		return mismatch
	}
	if t.Type().Has(key) || !d.bare() && !echoKeys[key] || d.WrapperAhead(t.Type(), key) {
		return matched
	}
	return mismatch
}

// standIn reads arguments that are not an object but mean one: an object in a string, a list around it, pairs of name and
// value, null, or the value of the only parameter.
// It is read whole before the commit, so it may be refused: [{"name": "city", "value": "Rome"}] is an object; "oops", for a tool
// with several parameters, is none, and {} would be made up.
func (d *decoder) standIn(t *toolset.Tool, id string) match {
	out, a := d.Capture(func() { d.Value(nil) })
	if a != matched {
		return a
	}
	args, ok := lenient.ObjectOf(string(out), t.Type())
	if !ok {
		return mismatch
	}
	return d.commitWith(t, id, args)
}

// describesParameter says whether behind the key just read stands a description of a parameter in place of its value: an
// object that begins with type or description where the schema allows none.
// A parameter that may be an object may have those members itself.
func (d *decoder) describesParameter(t *schema.Type) bool {
	n := d.Space(0)
	return d.At(n) == ':' && t.Known() && !t.Allows(schema.Object) && d.Describes(n+1)
}
