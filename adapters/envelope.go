package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// Further names of members by their meaning in an envelope, whichever family writes it.
// Names, arguments and ids have theirs in internal/lenient: models write "tool_name", "parameters", "call_id" and a dozen others.
var (
	wrapKeys = map[string]bool{"function": true, "tool_call": true, "function_call": true, "tool": true, "call": true}
	listKeys = map[string]bool{"tool_calls": true, "calls": true, "function_calls": true, "tools": true}
	// echoKeys are what the "arguments" of a tool list's echo begin with: a schema, not arguments.
	echoKeys = map[string]bool{"type": true, "properties": true, "$schema": true, "required": true}
)

// envelope is what is known of a call while its object is read.
// Members come in any order: command-r7b has the id first, some models the arguments in front of the name.
type envelope struct {
	t      *toolset.Tool
	id     string
	argsAt int      // position of the arguments when they came before the name; -1
	others []member // members that mean nothing to an envelope
}

// member is a member of an object that was passed over.
// Only its place is kept: most are never needed, and a value of megabytes is not copied.
type member struct {
	key string
	at  int // position of its value
}

// objects reads the calls that are JSON objects: one, several in a row, or a list of them.
// Small models write several calls without a list, as {…}\n{…}, {…}; {…} or {…}}, {…}, and lists in doubled brackets.
// Of 234 calls of a 1.5B model 131 had a wrong wrapper, none, or a fence where a tag was asked for.
func (d *decoder) objects(p *declaration.Pattern) match {
	d.skipFence()
	brackets := d.brackets(2)
	start := d.Pos
	a := d.envelope(0)
	if a == mismatch && brackets > 0 && !p.Markless() && !d.drafting {
		a = d.behindOthers(start)
	}
	if a != committed {
		return a
	}
	for d.nextObject() || brackets > 0 && d.otherObject() {
	}
	d.extraClosers("}")
	brackets = d.closeBrackets(brackets)
	d.closeFence()
	d.endCall(d.skipClosers(p) && brackets == 0)
	return committed
}

// extraClosers steps over those of the closing braces and brackets that stand here and close nothing.
func (d *decoder) extraClosers(of string) {
	for c := d.At(0); c >= 0 && strings.IndexByte(of, byte(c)) >= 0; c = d.At(0) {
		d.Pos++
		d.Repaired("extra-closer")
	}
}

// nextObject reads a further object behind a separator.
// mistral-v3 writes [{…}, {…}], minimax-m1 an object a line, Llama 3 {…}; {…}.
// What stands between two objects may be anything that separates, as long as an object follows.
func (d *decoder) nextObject() bool {
	n := d.separator()
	return d.At(n) == '{' && d.further(n, func() match { return d.envelope(0) })
}

// separator is the offset behind what may stand between two objects.
// A brace is among them: the one too many of a call that closed more than it opened.
func (d *decoder) separator() int {
	n := d.Space(0)
	for c := d.At(n); c == ',' || c == ';' || c == '}'; c = d.At(n) {
		n++
		n += d.Space(n)
	}
	return n
}

// envelope reads one object that may be a call, and leaves the call open for its closers.
// It is mismatch where the name is none of the offered ones or what stands there is no object, and incomplete where the text
// ends in it; from the arguments on it is committed. depth counts wrappers, {"function": {…}}.
//
//	{"name": "f", "arguments": {…}}                       hermes and most others
//	{"tool_call_id": "0", "tool_name": "f", "parameters": {…}}   command-r7b
//	{"type": "function", "function": {"name": "f", …}}    OpenAI's, wrapped
//	{"tool_calls": [{"name": "f", …}]}                    a whole message of OpenAI's
//	{"name": "f", "city": "Rome"}                         flat: the other members are the arguments
func (d *decoder) envelope(depth int) match {
	if c := d.At(0); c != '{' {
		return incompleteAtEnd(c, mismatch)
	}
	d.Pos++
	env := envelope{argsAt: -1}
	for {
		d.Pos += d.Loose(0)
		if n := d.CommaAt(0); n > 0 {
			d.Pos += n
			continue
		}
		switch d.At(0) {
		case -1:
			return incomplete
		case '{':
			if env.t == nil && len(env.others) == 0 { // doubled braces
				d.Pos++
				continue
			}
			return mismatch
		case '}':
			d.Pos++
			return d.whole(&env)
		}
		// behind one member a text that ends is a call that was cut, not a brace in prose
		d.evidence = true
		key, a := d.memberKey()
		if a != matched {
			return a
		}
		if a = d.member(&env, key, depth); a != matched {
			return a
		}
	}
}

// memberKey reads a member's name and the colon, up to the value.
// Models write "name" = "x" and "name"："x" as well.
func (d *decoder) memberKey() (string, match) {
	out, a := d.Capture(func() { d.Key(false) })
	if a != matched {
		return "", a
	}
	d.Pos += d.Loose(0)
	n := d.ColonAt(0)
	if n == 0 {
		return "", incompleteAtEnd(d.At(0), mismatch)
	}
	d.Pos += n
	d.Pos += d.Loose(0)
	return scan.Unquote(out), incompleteAtEnd(d.At(0), matched)
}

// member takes one member into the envelope. It answers yes to go on, and committed when the call was in it.
// Arguments in front of the name are passed over and read when the name is known, since their types are the tool's.
// A list of calls inside of an object is read to its end here, so that the object around it can be closed.
// Wrappers are opened up to three levels.
func (d *decoder) member(env *envelope, key string, depth int) match {
	c := d.At(0)
	q, quoted := d.QuoteAt(0)
	switch {
	case lenient.NameKeys[key] && env.t == nil && quoted:
		t, a := d.nameString(q)
		env.t = t
		return a
	case wrapKeys[key] && c == '{' && depth < lenient.MaxWrap:
		return d.wrapped(d.envelope(depth + 1))
	case listKeys[key] && c == '[' && depth < lenient.MaxWrap:
		d.Pos++
		d.Pos += d.Loose(0)
		a := d.envelope(depth + 1)
		for a == committed && d.nextObject() {
		}
		if a == committed {
			d.closeBrackets(1)
		}
		return d.wrapped(a)
	case lenient.ArgsKeys[key] && env.t != nil && !env.describes():
		return d.wrapped(d.arguments(env.t, env.id, nil))
	// a second arguments member in front of the name counts as any other member
	case lenient.ArgsKeys[key] && env.argsAt < 0 && env.t == nil:
		env.argsAt = d.Pos
	case lenient.IdKeys[key] && quoted:
		out, a := d.Capture(func() { d.Value(nil) })
		env.id = scan.Unquote(out)
		return a
	default:
		env.others = append(env.others, member{key, d.Pos})
	}
	_, a := d.Capture(func() { d.Value(nil) })
	return a
}

// wrapped goes on behind an inner object: what is left of the outer one is skipped.
func (d *decoder) wrapped(a match) match {
	if a == committed {
		d.restOfObject()
	}
	return a
}

// describes says whether the object describes a tool: an echo of the tool list, not a call.
// Small models repeat the list of tools; it has names and "parameters", and would be called whole.
func (e *envelope) describes() bool {
	described := func(m member) bool { return m.key == "description" }
	return slices.ContainsFunc(e.others, described) && !e.t.Type().Has("description")
}

// nameString reads a quoted name, only as long as it can become an offered one.
// So what is held back ends at the first letter that no offered name has there: {"name": "Oslo"} is an answer.
func (d *decoder) nameString(q lenient.Delim) (*toolset.Tool, match) {
	t, n, a := d.offered(len(q.Open), func(n, c int) bool { return c == int(q.Close[0]) && d.Has(n, q.Close) })
	if a == matched {
		d.Pos += n + len(q.Close)
	}
	return t, a
}

// whole decides an object that was read to its end without arguments behind a name.
// {"name": "get_time"} alone is a call between marks. Without marks it may be any record with a name.
// {"name": "get_time"}, "arguments": {…}} is a brace too early. To call without arguments there would be wrong.
func (d *decoder) whole(env *envelope) match {
	record := func(m member) bool { return recordKeys[m.key] && env.argsAt >= 0 && d.closing.Markless() }
	if env.t == nil || env.describes() || slices.ContainsFunc(env.others, record) {
		return mismatch
	}
	end := d.Pos
	switch {
	// the name came last, so the arguments are read now
	case env.argsAt >= 0:
		d.Pos = env.argsAt
		if a := d.arguments(env.t, env.id, nil); a != committed {
			return a
		}
	case len(env.others) == 0:
		if n := d.separator(); n > 0 && d.StartsString(n) {
			if key, _ := d.KeyAt(n); lenient.ArgsKeys[key] {
				return mismatch // its arguments stand behind a closer that came too early
			}
		}
		if d.bare() || len(env.t.Type().Required()) > 0 && d.At(d.Space(0)) == '{' {
			return mismatch // nothing says that it is a call, or its arguments stand behind it
		}
		d.commitWith(env.t, env.id, "{}")
	default:
		return d.flat(env, end)
	}
	d.Pos = end
	return committed
}

// flat reads an object whose other members are the arguments themselves. All of them must be members of the schema.
// {"name": "get_weather", "city": "Rome"}: one member that the tool does not know, and it is some other record.
// They are read a second time, now as the schema has them, so "days": "3" is 3 here as well.
func (d *decoder) flat(env *envelope, end int) match {
	t := env.t.Type()
	for _, m := range env.others {
		if !t.Has(m.key) {
			return mismatch
		}
	}
	d.commit(env.t, env.id)
	d.PutByte('{')
	for i, m := range env.others {
		if i > 0 {
			d.PutByte(',')
		}
		d.Out.JSON = append(chat.AppendQuoted(d.Out.JSON, m.key), ':')
		d.Pos = m.at
		d.Value(t.Prop(m.key))
	}
	d.PutByte('}')
	d.Pos = end
	return committed
}

// doubtRest says that there are two readings where, behind the arguments of a call, another object with members of its tool
// stands at offset i.
// {"city": "Oslo"}, {"days": 3}} may be one object that was closed early, or a call and something else. A key that the text's end
// cuts may be a member's.
func (d *decoder) doubtRest(i int) {
	if d.Out == nil || d.At(i) != '{' {
		return
	}
	i += 1 + d.Space(i+1)
	end := i + d.Run(i, lenient.MaxKey, func(c int) bool { return c >= 0 && c != ':' && c != '}' })
	key, _ := d.KeyAt(i)
	d.Out.Doubt = d.Out.Doubt || d.At(end) < 0 || !lenient.OfEnvelope(key) && d.Out.Typ.Has(key)
}

// recordKeys are members of a record of a call that was made: beside its arguments, and without any mark, they say that it is no
// call to be made.
var recordKeys = map[string]bool{"result": true, "output": true, "response": true, "error": true, "status": true, "ms": true, "duration": true, "duration_ms": true, "elapsed": true}

// restOfObject skips what follows the arguments up to the object's closing brace.
// Members behind the arguments are the envelope's: "type": "function", an id, a note. What stands there and is no member says
// that a brace was missing or too many, so the reader of arguments is asked whether that makes two readings.
func (d *decoder) restOfObject() {
	for {
		n := d.Loose(0)
		if d.At(n) == ',' {
			n += 1 + d.Loose(n+1)
		}
		if d.At(n) == '}' {
			d.Pos += n + 1
			return
		}
		start, a := d.Pos, incompleteAtEnd(d.At(n), mismatch)
		if d.StartsString(n) {
			d.Pos += n
			var key string
			if key, a = d.memberKey(); a == matched {
				out, _ := d.Capture(func() { d.Value(nil) })
				if lenient.IdKeys[key] {
					d.lateID(scan.Unquote(out))
				}
				d.Out.Doubt = d.Out.Doubt || recordKeys[key] && d.closing.Markless()
				continue
			}
		}
		d.Pos, d.Unclosed = start, true
		d.DoubtStray()
		d.doubtRest(n)
		if a == incomplete {
			d.ToEnd() // a comma behind the arguments is structure
		}
		return
	}
}
