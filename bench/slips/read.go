package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// outcome says how well a text was read, compared with the call that was meant.
type outcome int

// The outcomes, the worst last.
const (
	exact outcome = iota // the call that was meant, and no other
	// no call; it has two readings, no end or does not fit, and is asked for again
	held
	unfinished // no call; it has no end, and the finish reason says so
	lost       // no call; the text is shown, or nothing
	wrong      // a call that was not meant, and fits the schema: it runs
	outcomes
)

// tool is a tool, with its schema for making and for checking arguments.
type tool struct {
	chat.Tool
	shape *shape
	check *jsonschema.Schema
}

// fits reports whether arguments fit the tool's schema.
func (t *tool) fits(args string) bool {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
	return err == nil && t.check.Validate(v) == nil
}

// read is what a reader, such as toolnorm's decoder, has read in a text.
type read struct {
	calls   []chat.Call
	doubt   bool // the text names a call to ask for again, or a call began and never ended
	told    bool // the text names no call, and the finish reason is that of a reply that was cut
	content string
	crash   string // the value with which the reader panicked
}

// how says in which pieces a text is given to the decoder, and how it is read.
type how struct {
	hold   int
	pieces []string
	finish string
}

// whole returns how the decoder gets the text: in one piece, with calls held back until their end,
// and with the given finish reason.
func whole(text, finish string) how { return how{adapters.HoldCall, []string{text}, finish} }

// anyHow returns a random way to give the decoder a text: whole, or in random pieces.
func anyHow(r *rand.Rand, text string) how {
	switch r.Intn(4) {
	case 0:
		return how{adapters.HoldShort, pieces(r, text), chat.Stop}
	case 1:
		return how{adapters.HoldNone, pieces(r, text), chat.Stop}
	}
	return whole(text, chat.Stop)
}

// pieces returns a text in random pieces, which may end inside a character.
func pieces(r *rand.Rand, text string) []string {
	var all []string
	for len(text) > 0 {
		n := min(1+r.Intn(1+r.Intn(1+min(len(text), 4096))), len(text))
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

// decode returns what toolnorm reads in a text. If the decoder panics, the field crash of the
// result is set, which means the worst outcome.
func (l *lab) decode(f *adapters.Format, h how) (got read) {
	defer func() {
		if why := recover(); why != nil {
			got = read{crash: fmt.Sprint(why)}
			l.crashed.Add(1)
		}
	}()
	events := make(chat.Fixed, 0, len(h.pieces)+1)
	for _, p := range h.pieces {
		events = append(events, chat.Event{Kind: chat.Text, Text: p})
	}
	events = append(events, chat.Event{Kind: chat.Finish, Text: h.finish})
	var c chat.Collector
	for e, err := range f.Decode(&events, adapters.Options{Tools: l.offered, Hold: h.hold}) {
		if err != nil {
			break
		}
		c.Add(e)
		if e.Meta != nil && e.Meta.Doubt != "" {
			got.doubt = true
		}
	}
	got.calls, got.content = c.Complete(), c.Text.String()
	got.doubt = got.doubt || c.Open
	got.told = c.End != nil && c.End.Text == chat.Length && h.finish == chat.Stop
	return got
}

// outcomeOf returns the outcome of reading a text with the call c: it compares c with got, which is
// what was read in the text.
func (l *lab) outcomeOf(c *call, got read) outcome {
	result := lost
	if got.crash != "" {
		return wrong
	}
	switch {
	case got.doubt:
		result = held
	case got.told && got.content == "":
		result = unfinished
	}
	for _, g := range got.calls {
		t := l.named(g.Name)
		switch {
		case t == c.tool && same(string(g.Args), c.meant()) && result != exact:
			result = exact
		case t == nil || !t.fits(string(g.Args)):
			if result != exact {
				result = held
			}
		default:
			return wrong
		}
	}
	return result
}

// same reports whether two JSON texts have the same value. It returns false if one of them is not
// JSON.
func same(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
