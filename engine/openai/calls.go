package openai

import (
	"slices"
	"strconv"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/jsonscan"
)

// fragment is the part of a call that is in one delta:
//
//	{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\""}}
//
// By OpenAI's definition id and name come once, in the first fragment, and the index distinguishes
// calls. Servers leave out, repeat and retype nearly every part of it. For example, there is no
// index, the id comes with every fragment or is a new one each time, arguments are an object, or a
// name comes in two halves.
type fragment struct {
	index    int // -1: missing
	id, name string
	args     string
}

// nativeCall is a call that the server itself parsed from the model's text, as far as it has
// arrived. A scanner checks its arguments as they arrive. What the scanner has accepted may be sent
// just as the server spelled it, with the same digits and order of keys.
type nativeCall struct {
	index    int
	id, name string
	args     []byte           // as the server spelled them
	check    jsonscan.Scanner // over args[:valid]
	valid    int              // args[:valid] begin a JSON object, or are one
	sent     int              // args[:sent] were sent
	started  bool             // the start of the call was sent
	// the name came once more after the arguments: another call of the tool may follow
	again bool
}

// nativeCalls assembles the calls that a server has parsed itself, and sends them one after the
// other, each with arguments that are one strict JSON object. While a call is incomplete everything
// after it waits, because parts of other calls may come between its parts.
//
// A valid call is sent as it is spelled. If a call turns out wrong, nothing more of it is sent, and
// at the end of the reply it is read once more, with tolerance for faults, and repaired.
type nativeCalls struct {
	tools []chat.Tool
	hold  int // bytes of arguments that wait before a call is sent; see adapters.Options
	all   []*nativeCall
	// what waits, in order
	line    []waiting
	begun   int // calls of which a part was sent
	repairs []string
}

// waiting is one entry of the queue of a reply: a call that is not complete, or, if call is nil, an
// event. Text between two calls keeps its place between them.
type waiting struct {
	call  *nativeCall
	event chat.Event
}

// add appends to out an event that does not belong to a call, if it may be sent now. Otherwise the
// event waits for the incomplete call before it. A call that has no arguments yet holds everything
// back to the end, because its arguments may still come.
func (n *nativeCalls) add(out []chat.Event, e chat.Event) []chat.Event {
	if len(n.line) == 0 {
		return append(out, e)
	}
	n.line = append(n.line, waiting{event: e})
	return out
}

// fragment adds a part of a call, and appends to out what may be sent now. An id or a name that the
// call already has is not replaced, because some servers repeat the whole beginning with every
// fragment.
func (n *nativeCalls) fragment(out []chat.Event, f fragment) []chat.Event {
	c, begins := n.find(f)
	if begins {
		// The name came in an earlier fragment, and looked like a repetition of the previous call.
		if f.name == "" && c != nil && c.again {
			f.name = c.name
		}
		c = &nativeCall{index: f.index, check: jsonscan.Scanner{Object: true}}
		n.all = append(n.all, c)
		n.line = append(n.line, waiting{call: c})
	}
	repeated := c.name != "" && f.name != ""
	if c.id == "" {
		c.id = f.id
	}
	if c.name == "" || n.splitName(c, f) {
		c.name += f.name
	}
	if c.check.Complete() {
		c.again = c.again || repeated
		return n.drain(out) // what follows the object is not part of it
	}
	c.args = append(c.args, f.args...)
	if !c.check.Wrong() {
		c.valid += c.check.Add(c.args[len(c.args)-len(f.args):])
	}
	return n.drain(out)
}

// find returns the call that the fragment f belongs to. If the result begins is true, f instead
// begins a new call, and c is the call before that, or nil. A known id decides first, then the
// index. Otherwise f belongs to the last call. Neither id nor index is enough by itself, because
// servers number every call 0, make a new id for each fragment, or send neither.
//
// So calls may differ in the index (OpenAI), in the id with index 0, or only in the name.
func (n *nativeCalls) find(f fragment) (c *nativeCall, begins bool) {
	var near *nativeCall
	for _, c := range slices.Backward(n.all) {
		if f.index >= 0 && c.index >= 0 && f.index != c.index {
			continue
		}
		if f.id != "" && f.id == c.id {
			near = c
			break
		}
		if near == nil {
			near = c
		}
	}
	return near, near == nil || n.begins(near, f)
}

// begins reports whether f is the first fragment of a call other than c. That is so if f has
// another name or another id. It is also so if f has the same name once more after complete
// arguments, together with new arguments.
func (n *nativeCalls) begins(c *nativeCall, f fragment) bool {
	other := f.id != "" && c.id != "" && f.id != c.id
	switch {
	case f.name != "" && c.name != "" && f.name != c.name:
		return !n.splitName(c, f)
	case other:
		return !n.sameDespiteID(c, f)
	}
	// The same name after a complete object, with arguments of its own, begins another call of the
	// same tool, unless the id is the same.
	named := f.name != "" && c.name != "" || c.again
	return named && c.check.Complete() && (f.id == "" || f.id != c.id) &&
		strings.TrimSpace(f.args) != ""
}

// sameDespiteID reports whether the fragment f continues the call c although their ids differ,
// because some servers make up an id for every fragment. It does if f has no name, and c has a name
// and arguments that are not complete.
func (n *nativeCalls) sameDespiteID(c *nativeCall, f fragment) bool {
	return f.name == "" && c.name != "" && len(c.args) > 0 && !c.check.Complete()
}

// splitName reports whether f has the rest of c's name, as in "get_", then "weather". The joined
// name must be an offered one, and no arguments must have come yet, so that "get" and "get_time" of
// two calls are not joined.
func (n *nativeCalls) splitName(c *nativeCall, f fragment) bool {
	if f.name == "" || len(c.args) > 0 || f.id != "" && f.id != c.id {
		return false
	}
	exact := func(name string) bool {
		return slices.ContainsFunc(n.tools, func(t chat.Tool) bool { return t.Name == name })
	}
	return !exact(c.name) && exact(c.name+f.name)
}

// drain appends to out everything that may be sent. These are all events and calls up to the first
// incomplete call, and the part of that call that is certain. The order is that in which the calls
// began.
func (n *nativeCalls) drain(out []chat.Event) []chat.Event {
	for len(n.line) > 0 {
		w := n.line[0]
		if w.call != nil {
			if out = n.advance(out, w.call); !w.call.whole() {
				return out
			}
			out = append(out, chat.Event{Kind: chat.CallEnd, Index: n.begun - 1})
		} else {
			out = append(out, w.event)
		}
		n.line = n.line[1:]
	}
	return out
}

// advance appends to out the part of an incomplete call that may be sent. Short arguments wait
// until they are complete (Hold), because a call can be repaired by its schema as long as no part
// of it was sent.
func (n *nativeCalls) advance(out []chat.Event, c *nativeCall) []chat.Event {
	if c.name == "" || !c.whole() && (c.valid < len(c.args) || c.valid <= adapters.Held(n.hold)) {
		return out
	}
	return n.send(out, c, string(c.args[c.sent:c.valid]))
}

// send appends to out the next bytes of a call's arguments, and the call's start before the first
// of them. Indexes count from 0 in the order in which calls are sent, whatever the server's indexes
// were.
func (n *nativeCalls) send(out []chat.Event, c *nativeCall, args string) []chat.Event {
	if !c.started {
		c.started = true
		out = append(out, chat.Event{Kind: chat.CallStart, Index: n.begun, ID: c.id,
			Text: n.meant(c.name).Name})
		n.begun++
	}
	c.sent += len(args)
	if args == "" {
		return out
	}
	return append(out, chat.Event{Kind: chat.CallArgs, Index: n.begun - 1, Text: args})
}

// meant returns the offered tool that a name stands for. If there is none, it returns a tool with
// that name and nothing else. Spellings such as functions.Get_Weather stand for get_weather.
func (n *nativeCalls) meant(name string) chat.Tool {
	if t, ok := adapters.Offered(n.tools, name); ok {
		return t
	}
	return chat.Tool{Name: name}
}

// end appends to out everything that waits, after the reply has ended. If the reply was cut, an
// incomplete call gets no end if a part of it was sent, and is left out otherwise, because a client
// that ignores the finish_reason must not run half a call. In any other reply a call whose
// arguments are not an object is repaired. If that is impossible, end returns an error.
func (n *nativeCalls) end(out []chat.Event, cut bool) (_ []chat.Event, err error) {
	open := false
	for _, w := range n.line {
		c := w.call
		switch {
		case c == nil:
			out = append(out, w.event)
		case open || cut && !c.whole() && !c.started:
		case c.whole():
			out = append(n.advance(out, c), chat.Event{Kind: chat.CallEnd, Index: n.begun - 1})
		case cut:
			open = true
		default:
			if out, err = n.repair(out, c); err != nil {
				return out, err
			}
		}
	}
	n.line = nil
	return out, nil
}

// whole reports whether the call has complete arguments and a name. The name may come after the
// arguments, and nothing can be sent without it.
func (c *nativeCall) whole() bool { return c.check.Complete() && c.name != "" }

// repair appends to out the rest of a call whose arguments are not a JSON object, after they are
// repaired. It returns an error if there is no object in them, or if the repaired object begins
// differently from what was already sent. The error is Curable: with another strategy toolnorm
// reads the model's text itself.
func (n *nativeCalls) repair(out []chat.Event, c *nativeCall) ([]chat.Event, error) {
	if c.name == "" && len(c.args) == 0 {
		return out, nil
	}
	if c.name == "" {
		return out, &fault.Error{Kind: fault.Unavailable, Curable: true,
			Message: "the model server sent a call without a name"}
	}
	tool := n.meant(c.name)
	if c.started {
		tool.Schema = nil // what was sent was not fitted to it
	}
	args, repairs, ok := adapters.Arguments(tool, string(c.args))
	if !ok || !strings.HasPrefix(args, string(c.args[:c.sent])) {
		why := "the model server sent a call of " + strconv.Quote(c.name) +
			" whose arguments are no JSON object"
		return out, &fault.Error{Kind: fault.Unavailable, Curable: true, Message: why}
	}
	for _, r := range repairs {
		if !slices.Contains(n.repairs, r) {
			n.repairs = append(n.repairs, r)
		}
	}
	out = n.send(out, c, args[c.sent:])
	return append(out, chat.Event{Kind: chat.CallEnd, Index: n.begun - 1}), nil
}
