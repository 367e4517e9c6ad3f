package adapters

import (
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters/internal/claim"
	"toolnorm/chat"
)

// aside is a kind of event that is used only within this package. It reports a mark that was read
// and is not shown, such as the mark of a made-up result.
const aside = chat.Kind(255)

// counted passes on the events of a reply, except those of calls that must not run. These are calls
// after a result or a user's turn that the model has made up, since acting on invented data does
// harm, and repetitions of earlier calls, since they might send a mail twice. The calls that are
// sent get new numbers.
type counted struct {
	yield func(chat.Event, error) bool
	tools []chat.Tool       // the tools that are offered
	most  int               // repeated calls in a row that end the reply; 0: there is no limit
	known func(string) bool // see Options.Known
	made  []chat.Call       // the calls that were sent, in order
	gap   []byte            // the text after the last of these calls, or from the beginning
	next  chat.Call         // the call that is being read
	held  []chat.Event      // the events of that call, until it is known whether it counts
	waits bool              // next is held
	// how many bytes of its arguments were compared with those of other calls
	sized   int
	keys    map[string]bool // the calls that were made, by chat.Call.Key
	keyed   int             // how many elements of made are in keys
	over    bool            // a made-up result was seen: nothing after it counts
	again   int             // repeated calls since the last new one
	repairs []string
}

// take passes the next event of the reply on, holds it back or drops it. It returns false if no
// more events are wanted.
func (c *counted) take(e chat.Event, err error) bool {
	switch {
	case err != nil:
		return c.yield(e, err)
	case e.Kind == aside:
		if claim.Speaks(e.Text) {
			c.note(e.Text)
		}
		return true
	case e.Kind == chat.Text || e.Kind == chat.Reasoning && len(c.made) > 0:
		c.note(e.Text)
	case e.Kind == chat.CallStart, e.Kind == chat.CallArgs, e.Kind == chat.CallEnd:
		e.Index = len(c.made)
		return c.over || c.call(e)
	case e.Kind == chat.Finish:
		return c.ends(e)
	default:
		return c.yield(e, nil)
	}
	return c.over || c.yield(e, nil)
}

// call takes one event of a call. It sends the event, or holds it back until it is known whether
// the call counts. If the text before the first call contains a made-up turn or result, it drops
// that call and all that follows. It returns false if no more events are wanted.
func (c *counted) call(e chat.Event) bool {
	switch e.Kind {
	case chat.CallStart:
		c.next, c.sized = chat.Call{Name: e.Text}, minCompared
		if len(c.made) == 0 && (claim.Asks(string(c.gap)) || c.answered()) {
			c.stop()
			return true
		}
		c.waits = len(c.made) > 0 && (c.madeBefore() || !c.between().Plain())
	case chat.CallArgs:
		c.next.Args = append(c.next.Args, e.Text...)
	default:
		return c.callEnds(e)
	}
	if c.waits {
		c.held = append(c.held, e)
		return c.differs()
	}
	return c.yield(e, nil)
}

// answered reports whether the text before the first call contains a failed call and a result after
// it. A failed call is text that was meant as a call and could not be read: the name of a tool,
// structure after the name, and structure at the end.
func (c *counted) answered() bool {
	text := string(c.gap)
	at := claim.Begins(text)
	if at < 0 {
		return false
	}
	text = strings.TrimSpace(text[:at])
	if text == "" || strings.IndexByte(">})]\"'`;", text[len(text)-1]) < 0 {
		return false
	}
	return slices.ContainsFunc(c.tools, func(t chat.Tool) bool {
		_, behind, ok := strings.Cut(text, t.Name)
		return ok && behind != "" && strings.IndexByte("\"'>({=<[:,|`&\\\n", behind[0]) >= 0
	})
}

// note appends a piece of text to the field gap, the text since the last call. The field keeps at
// most claim.Longest+1 bytes, because no more of it is ever examined.
func (c *counted) note(text string) {
	if n := claim.Longest + 1 - len(c.gap); n > 0 {
		c.gap = append(c.gap, text[:min(n, len(text))]...)
	}
}

// between returns the text between the call being read and the last call before it that was not
// dropped as a repetition, with both calls. There must be such an earlier call.
func (c *counted) between() *claim.Gap {
	return &claim.Gap{Text: string(c.gap), Calls: len(c.made), Before: c.made[len(c.made)-1].Args,
		Tool: c.next.Name, Next: c.next.Args, Known: c.known}
}

// madeBefore reports whether a call of the same tool was made. The call being read may turn out to
// be the same call.
func (c *counted) madeBefore() bool {
	return slices.ContainsFunc(c.made, func(made chat.Call) bool {
		return made.Name == c.next.Name
	})
}

// minCompared is the number of bytes of arguments from which they are compared before they are
// whole. Shorter arguments are held back to their end.
const minCompared = 512

// differs sends a call with long arguments, which was held back as a possible repetition, as soon
// as they differ from those of every earlier call of the same tool. So a second file streams as the
// first does. A call after text that may be a made-up result is held back to its end. It returns
// false if no more events are wanted.
func (c *counted) differs() bool {
	if len(c.next.Args) < c.sized || !c.between().Plain() {
		return true
	}
	c.sized = 2 * len(c.next.Args)
	args := members(c.next.Args)
	for _, made := range c.made {
		if made.Name == c.next.Name && !differ(args, members(made.Args)) {
			return true
		}
	}
	return c.release()
}

// members returns the members of an object. It stops at the first member that is incomplete or
// malformed, and returns nil if the text is not an object.
func members(object json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	d := json.NewDecoder(strings.NewReader(string(object)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			break
		}
		all[name] = value
	}
	return all
}

// differ reports whether the first object has a member that the second object does not have, or
// that has another value there.
func differ(first, second map[string]json.RawMessage) bool {
	for name, value := range first {
		other, ok := second[name]
		if one, two := (chat.Call{Args: value}), (chat.Call{Args: other}); !ok || !one.Same(two) {
			return true
		}
	}
	return false
}

// callEnds decides whether the call that has just ended is sent. A repetition of an earlier call is
// dropped, and a call after a made-up result ends the reply. It returns false if no more events are
// wanted.
func (c *counted) callEnds(e chat.Event) bool {
	c.held = append(c.held, e)
	switch {
	case c.waits && c.isRepeated():
		c.held, c.waits = nil, false
		return c.repeated()
	case c.waits && c.between().IsResult():
		c.stop()
		return true
	}
	c.made, c.gap, c.again = append(c.made, c.next), c.gap[:0], 0
	return c.release()
}

// isRepeated reports whether the same call was made already. Calls are looked up by chat.Call.Key,
// which is computed only when a tool is called for the second time.
func (c *counted) isRepeated() bool {
	if c.keys == nil {
		c.keys = map[string]bool{}
	}
	for ; c.keyed < len(c.made); c.keyed++ {
		c.keys[c.made[c.keyed].Key()] = true
	}
	return c.keys[c.next.Key()]
}

// release sends the events that are held back. It returns false if no more events are wanted.
func (c *counted) release() bool {
	held := c.held
	c.waits, c.held = false, nil
	for _, e := range held {
		if !c.yield(e, nil) {
			return false
		}
	}
	return true
}

// stop drops the events that are held back, and all later events of the reply, because the model
// has gone on from a result that it made up.
func (c *counted) stop() {
	c.over, c.waits, c.held = true, false, nil
	c.repairs = append(c.repairs, "invented-result")
}

// repeated drops a call that was made already. It returns false if the reply is ended here, because
// the field most, a limit, allows no more such calls in a row: the model is in a loop.
func (c *counted) repeated() bool {
	if !slices.Contains(c.repairs, "repeated-call") {
		c.repairs = append(c.repairs, "repeated-call")
	}
	if c.again++; c.again != c.most {
		return true
	}
	c.repairs = append(c.repairs, SameCalls)
	c.ends(chat.Event{Kind: chat.Finish, Text: chat.Stop,
		Meta: &chat.Meta{Cause: "the model made the same calls over and over"}})
	return false
}

// SameCalls is the repair of a reply that was ended because it kept making the same calls; see
// Options.Same.
const SameCalls = "same-calls"

// ends sends the end of the reply. If a call that was cut is still held back, it is sent first,
// provided that it was held back only because it might repeat another call. A reply with a made-up
// result ends as if it had ended before that result, so its calls are complete. It returns false if
// no more events are wanted.
func (c *counted) ends(e chat.Event) bool {
	if c.waits {
		switch gap := c.between(); {
		case gap.IsResult():
			c.stop()
		case gap.Plain() && !c.release():
			return false
		}
	}
	meta := chat.MetaOf(e)
	if c.over {
		e.Text, meta.Cause, meta.Cut = chat.Stop, "", ""
	}
	for _, code := range c.repairs {
		if !slices.Contains(meta.Repairs, code) {
			meta.Repairs = append(slices.Clip(meta.Repairs), code)
		}
	}
	e.Meta = &meta
	return c.yield(e, nil)
}
