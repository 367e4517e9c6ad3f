package adapters

import (
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters/internal/claim"
	"toolnorm/chat"
)

// aside is an event of the decoder's own: a mark that it has read and that nobody sees, such as
// that of a made-up result.
const aside = chat.Kind(255)

// counted passes the events of a reply on as far as its calls count. No call leaves that stands
// behind a result which the model has made up, and none that the reply has made already: what acts
// on invented data does harm, and what is done twice is one mail too many. The calls that do leave
// are numbered anew.
type counted struct {
	yield   func(chat.Event, error) bool
	most    int               // repeated calls in a row that end the reply; 0: any number
	known   func(string) bool // see Options.Known
	made    []chat.Call       // that left, in order
	gap     []byte            // what stands behind the last of them
	next    chat.Call         // the call that is being read
	held    []chat.Event      // of that call, until it is known whether it counts
	waits   bool              // it is held
	sized   int               // how much of its arguments were compared with those of others
	keys    map[string]bool   // the calls that were made, by chat.Call.Key
	keyed   int               // how many of them are in keys
	over    bool              // a made-up result was seen: nothing counts behind it
	again   int               // repeated calls since the last other one
	repairs []string
}

// take handles the next event, and returns false when no more are wanted.
func (c *counted) take(e chat.Event, err error) bool {
	switch {
	case err != nil:
		return c.yield(e, err)
	case e.Kind == aside:
		if claim.Speaks(e.Text) {
			c.note(e.Text)
		}
		return true
	case e.Kind == chat.Text || e.Kind == chat.Reasoning:
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

// call handles an event of a call, and returns false when no more are wanted.
func (c *counted) call(e chat.Event) bool {
	switch e.Kind {
	case chat.CallStart:
		c.next, c.sized = chat.Call{Name: e.Text}, minCompared
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

// note keeps what is written behind a call, as far as it is looked at.
func (c *counted) note(text string) {
	if n := claim.Longest + 1 - len(c.gap); len(c.made) > 0 && n > 0 {
		c.gap = append(c.gap, text[:min(n, len(text))]...)
	}
}

// between returns what is between the last call that counted and the one that is read.
func (c *counted) between() *claim.Gap {
	return &claim.Gap{Text: string(c.gap), Calls: len(c.made), Before: c.made[len(c.made)-1].Args, Tool: c.next.Name, Next: c.next.Args, Known: c.known}
}

// madeBefore reports whether a call of the same tool was made, which may turn out to be the same.
func (c *counted) madeBefore() bool {
	return slices.ContainsFunc(c.made, func(made chat.Call) bool { return made.Name == c.next.Name })
}

// minCompared is from how many bytes on arguments are compared before they are whole: shorter ones
// wait.
const minCompared = 512

// differs lets a call go whose arguments are long as soon as an argument of theirs differs from
// those of every call that was made with the same tool, so that a second file streams as the first
// does. What is doubted waits to its end.
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

// members returns the members of an object, as far as they are whole, or nil if it is not an
// object.
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

// differ reports whether one object has a member that the other has not, or not so.
func differ(some, all map[string]json.RawMessage) bool {
	for name, value := range some {
		other, ok := all[name]
		if one, two := (chat.Call{Args: value}), (chat.Call{Args: other}); !ok || !one.Same(two) {
			return true
		}
	}
	return false
}

// callEnds decides about the call that has ended.
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

// isRepeated reports whether the call was made already. Calls are looked up by what they are to
// whoever runs them, which is found out when a tool is first called again.
func (c *counted) isRepeated() bool {
	if c.keys == nil {
		c.keys = map[string]bool{}
	}
	for ; c.keyed < len(c.made); c.keyed++ {
		c.keys[c.made[c.keyed].Key()] = true
	}
	return c.keys[c.next.Key()]
}

// release sends what is held.
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

// stop notes that nothing counts any more: the model has gone on from a result that it made up.
func (c *counted) stop() {
	c.over, c.waits, c.held = true, false, nil
	c.repairs = append(c.repairs, "invented-result")
}

// repeated leaves out a call that was made already. Many of them in a row end the reply: the model
// goes round.
func (c *counted) repeated() bool {
	if !slices.Contains(c.repairs, "repeated-call") {
		c.repairs = append(c.repairs, "repeated-call")
	}
	if c.again++; c.again != c.most {
		return true
	}
	c.repairs = append(c.repairs, SameCalls)
	c.ends(chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Cause: "the model made the same calls over and over"}})
	return false
}

// SameCalls is the repair of a reply that was ended since it went on with the same calls; see
// Options.Same.
const SameCalls = "same-calls"

// ends sends the end of the reply. Of a call that was cut while it was held nothing leaves, but
// where it might only have been the same as another. Behind a made-up result a reply ends as if it
// had ended there: its calls are whole.
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
