package adapters

import (
	"slices"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// objects reads calls that are JSON objects, {"name": …, "arguments": …}. Such an object is called
// an envelope. Its members come in any order and under many names, so it is read member by member
// until its name and its arguments are known. The positions of its other members are kept.
type objects struct {
	below
	names   *names
	closers *closers
	args    *arguments
}

// Keys of an envelope, in any family, whose values are another envelope (wrapKeys) or a list of
// envelopes (listKeys). The keys for names, arguments and ids are in internal/lenient, because
// models write "tool_name", "parameters", "call_id" and a dozen others.
var (
	wrapKeys = map[string]bool{"function": true, "tool_call": true, "function_call": true,
		"tool": true, "call": true}
	listKeys = map[string]bool{"tool_calls": true, "calls": true, "function_calls": true,
		"tools": true}
	// echoKeys are the first keys of "arguments" if a model repeats the tool list: these are keys
	// of a schema.
	echoKeys = map[string]bool{"type": true, "properties": true, "$schema": true, "required": true}
)

// envelope is the part of a call that is known while its object is read. Its members come in any
// order: for example, command-r7b has the id first, and some models write the arguments before the
// name.
type envelope struct {
	t      *toolset.Tool
	id     string
	argsAt int      // position of the arguments if they came before the name; -1: they did not
	others []member // members that are not the name, the arguments or an id
}

// member is a member that was skipped while an object was read. Only its position is kept: most
// members are never needed, and a value of megabytes is not copied.
type member struct {
	key string
	at  int // position of its value
}

// read reads the calls that are JSON objects: one object, several in a row, or a list. It returns
// committed, or the result of the first object if that is not a call. Small models write several
// calls without a list, as {…}\n{…}, {…}; {…} or {…}}, {…}, and lists in doubled brackets. Of 234
// calls of a 1.5B model 131 had the wrong tag or list around them, or none, or a fence where a tag
// was asked for.
func (ob *objects) read(p *declaration.Pattern) match {
	ob.Pos += ob.closers.zeroWidth()
	ob.closers.skipFence()
	brackets := ob.closers.brackets(2)
	start := ob.Pos
	a := ob.envelope(0)
	if a == mismatch && brackets > 0 && !p.Markless() && !ob.out.drafting {
		a = ob.behindOthers(start)
	}
	if a != committed {
		return a
	}
	for ob.nextObject() || brackets > 0 && ob.otherObject() || brackets > 1 && ob.nextList() {
	}
	ob.closers.extraClosers("}")
	brackets = ob.closers.closeBrackets(brackets)
	ob.closers.closeFence()
	ob.calls.endCall(ob.closers.skipClosers(p) && brackets == 0)
	return committed
}

// nextObject reads a further object after a separator, and reports whether it was a call.
// mistral-v3 writes [{…}, {…}], minimax-m1 an object a line, Llama 3 {…}; {…}. Any separator may be
// between two objects, as long as an object follows.
func (ob *objects) nextObject() bool {
	n := ob.closers.separator()
	return ob.At(n) == '{' && ob.calls.further(n, func() match { return ob.envelope(0) })
}

// nextList reads the first object of a further list of calls in a list, as in [[{…}], [{…}]]. It
// reports whether that object was a call. Without this step the second list would stay text.
func (ob *objects) nextList() bool {
	n := 0
	for _, c := range []int{']', ',', '['} {
		if n += ob.Space(n); ob.At(n) != c {
			return false
		}
		n++
	}
	n += ob.Space(n)
	return ob.At(n) == '{' && ob.calls.further(n, func() match { return ob.envelope(0) })
}

// envelope reads one object that may be a call. Like every reader of one call, it does not end the
// call, so that the caller can read the closing tags. It returns mismatch if the name is not
// offered or there is no object, incomplete if the text ends in it, and committed once the
// arguments have begun. The parameter depth counts the objects around this one, as in {"function":
// {…}}.
//
//	{"name": "f", "arguments": {…}}                       hermes and most others
//	{"tool_call_id": "0", "tool_name": "f", "parameters": {…}}   command-r7b
//	{"type": "function", "function": {"name": "f", …}}    OpenAI's, wrapped
//	{"tool_calls": [{"name": "f", …}]}                    a whole message of OpenAI's
//	{"name": "f", "city": "Rome"}                         flat: the other members are the arguments
func (ob *objects) envelope(depth int) match {
	if c := ob.At(0); c != '{' {
		return incompleteAtEnd(c, mismatch)
	}
	ob.Pos++
	env := envelope{argsAt: -1}
	for {
		ob.Pos += ob.Loose(0)
		if n := ob.CommaAt(0); n > 0 {
			ob.Pos += n
			continue
		}
		switch ob.At(0) {
		case -1:
			return incomplete
		case '{':
			if env.t == nil && len(env.others) == 0 { // doubled braces
				ob.Pos++
				continue
			}
			return mismatch
		case '}':
			ob.Pos++
			return ob.whole(&env)
		}
		// a text that ends after a member is a call that was cut, not a brace in prose
		ob.trial.evidence = true
		key, a := ob.memberKey()
		if a != matched {
			return a
		}
		if a = ob.member(&env, key, depth); a != matched {
			return a
		}
	}
}

// memberKey reads a member's name and the colon, up to the value, and returns the name. It returns
// mismatch if there is no key or no colon, and incomplete if the text ends before the value. Models
// write "name" = "x" and "name"："x" as well.
func (ob *objects) memberKey() (string, match) {
	out, a := ob.Capture(func() { ob.Key(false) })
	if a != matched {
		return "", a
	}
	ob.Pos += ob.Loose(0)
	n := ob.ColonAt(0)
	if n == 0 {
		return "", incompleteAtEnd(ob.At(0), mismatch)
	}
	ob.Pos += n
	ob.Pos += ob.Loose(0)
	return scan.Unquote(out), incompleteAtEnd(ob.At(0), matched)
}

// member reads one member of an object that may be a call, and records it in env. It returns
// matched if the object continues, committed if the member contained the call, and mismatch or
// incomplete if the object is not a call. Arguments before the name are skipped. They are read when
// the name is known, since their types depend on the tool. A list of calls inside an object is read
// to its end here, so that the object around it can be closed. Objects around a call are read up to
// lenient.MaxWrap levels.
func (ob *objects) member(env *envelope, key string, depth int) match {
	c := ob.At(0)
	q, quoted := ob.QuoteAt(0)
	switch {
	case lenient.NameKeys[key] && env.t == nil && quoted:
		t, a := ob.names.nameString(q)
		env.t = t
		return a
	case wrapKeys[key] && c == '{' && depth < lenient.MaxWrap:
		return ob.wrapped(ob.envelope(depth + 1))
	case listKeys[key] && c == '[' && depth < lenient.MaxWrap:
		ob.Pos++
		ob.Pos += ob.Loose(0)
		a := ob.envelope(depth + 1)
		for a == committed && ob.nextObject() {
		}
		if a == committed {
			ob.closers.closeBrackets(1)
		}
		return ob.wrapped(a)
	case lenient.ArgsKeys[key] && env.t != nil && !env.describes():
		return ob.wrapped(ob.args.read(env.t, env.id, nil))
	// a second arguments member before the name counts as any other member
	case lenient.ArgsKeys[key] && env.argsAt < 0 && env.t == nil:
		env.argsAt = ob.Pos
	case lenient.IdKeys[key] && quoted:
		out, a := ob.Capture(func() { ob.Value(nil) })
		env.id = scan.Unquote(out)
		return a
	default:
		env.others = append(env.others, member{key, ob.Pos})
	}
	_, a := ob.Capture(func() { ob.Value(nil) })
	return a
}

// wrapped is called after an object inside another object was read with the result a. If a is
// committed, the inner object was a call, and wrapped skips the rest of the outer object. It
// returns a.
func (ob *objects) wrapped(a match) match {
	if a == committed {
		ob.restOfObject()
	}
	return a
}

// describes reports whether the object describes a tool. Such an object repeats the tool list, as
// small models do, and is not a call. The entries of a tool list have names and "parameters", so
// each would be taken for a call.
func (e *envelope) describes() bool {
	described := func(m member) bool { return m.key == "description" }
	return slices.ContainsFunc(e.others, described) && !e.t.Type().Has("description")
}

// whole decides whether an object is a call, if its end was reached before its arguments were read.
// It returns committed if it is, and mismatch if it is not. {"name": "get_time"} alone is a call
// between marks; without marks it may be any record with a name. In {"name": "get_time"},
// "arguments": {…}} a brace came too early, and a call without arguments would be wrong.
func (ob *objects) whole(env *envelope) match {
	record := func(m member) bool {
		return recordKeys[m.key] && env.argsAt >= 0 && ob.trial.closing.Markless()
	}
	if env.t == nil || env.describes() || slices.ContainsFunc(env.others, record) {
		return mismatch
	}
	end := ob.Pos
	switch {
	// the name came last, so the arguments are read now
	case env.argsAt >= 0:
		ob.Pos = env.argsAt
		if a := ob.args.read(env.t, env.id, nil); a != committed {
			return a
		}
	case len(env.others) == 0:
		if n := ob.closers.separator(); n > 0 && ob.StartsString(n) {
			if key, _ := ob.KeyAt(n); lenient.ArgsKeys[key] {
				return mismatch // its arguments follow a closer that came too early
			}
		}
		if ob.trial.bare() || len(env.t.Type().Required()) > 0 && ob.At(ob.Space(0)) == '{' {
			return mismatch // nothing shows that it is a call, or its arguments follow it
		}
		ob.calls.commitWith(env.t, env.id, "{}")
	default:
		return ob.flat(env, end)
	}
	ob.Pos = end
	return committed
}

// flat reads an object whose other members are the arguments themselves, such as {"name":
// "get_weather", "city": "Rome"}. It returns mismatch if any of them is not in the tool's schema,
// since the object is then a record of another kind. The arguments are read a second time, now with
// the types of the schema, so "days": "3" is 3 here as well. Afterwards reading continues at the
// position in the parameter end.
func (ob *objects) flat(env *envelope, end int) match {
	t := env.t.Type()
	for _, m := range env.others {
		if !t.Has(m.key) {
			return mismatch
		}
	}
	ob.calls.commit(env.t, env.id)
	ob.PutByte('{')
	for i, m := range env.others {
		if i > 0 {
			ob.PutByte(',')
		}
		ob.Out.JSON = append(chat.AppendQuoted(ob.Out.JSON, m.key), ':')
		ob.Pos = m.at
		ob.Value(t.Prop(m.key))
	}
	ob.PutByte('}')
	ob.Pos = end
	return committed
}

// doubtRest marks the call as doubtful if another object with members of the call's tool follows
// the arguments at offset i. For example, {"city": "Oslo"}, {"days": 3}} may be one object that was
// closed early, or a call and something else. A key that is cut by the end of the text may be that
// of such a member.
func (ob *objects) doubtRest(i int) {
	if ob.Out == nil || ob.At(i) != '{' {
		return
	}
	i += 1 + ob.Space(i+1)
	end := i + ob.Run(i, lenient.MaxKey, func(c int) bool { return c >= 0 && c != ':' && c != '}' })
	key, _ := ob.KeyAt(i)
	ob.Out.Doubt = ob.Out.Doubt || ob.At(end) < 0 || !lenient.OfEnvelope(key) && ob.Out.Typ.Has(key)
}

// recordKeys are keys of a record of an earlier call. Next to arguments, and without any mark, they
// show that the object is not a new call.
var recordKeys = map[string]bool{"result": true, "output": true, "response": true, "error": true,
	"status": true, "ms": true, "duration": true, "duration_ms": true, "elapsed": true}

// restOfObject skips the text after a call's arguments, up to the closing brace of the object
// around them. Members there belong to that object and not to the arguments: "type": "function", an
// id, a note. If there is any other text, a brace of the arguments was missing or surplus, and the
// reader of arguments decides whether the call has two meanings.
func (ob *objects) restOfObject() {
	for {
		n := ob.Loose(0)
		if ob.At(n) == ',' {
			n += 1 + ob.Loose(n+1)
		}
		if ob.At(n) == '}' {
			ob.Pos += n + 1
			return
		}
		start, a := ob.Pos, incompleteAtEnd(ob.At(n), mismatch)
		if ob.StartsString(n) {
			ob.Pos += n
			var key string
			if key, a = ob.memberKey(); a == matched {
				out, _ := ob.Capture(func() { ob.Value(nil) })
				if lenient.IdKeys[key] {
					ob.calls.lateID(scan.Unquote(out))
				}
				ob.Out.Doubt = ob.Out.Doubt || recordKeys[key] && ob.trial.closing.Markless()
				continue
			}
		}
		ob.Pos, ob.Unclosed = start, true
		ob.DoubtStray()
		ob.doubtRest(n)
		if a == incomplete {
			ob.ToEnd() // a comma after the arguments is structure
		}
		return
	}
}
