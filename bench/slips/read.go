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

// outcome is what came of a text.
type outcome int

// The outcomes, the worst last.
const (
	exact      outcome = iota // the call that was meant, and no other
	held                      // none, by two readings, no end or a misfit: it is asked for again
	unfinished                // none, and the finish reason says so: the call has no end
	lost                      // none: the text is shown, or nothing
	wrong                     // a call that was not meant, and fits the schema: it runs
	outcomes
)

// tool is a tool with what tells wrong arguments from right ones.
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

// read is what a reader made of a text.
type read struct {
	calls   []chat.Call
	doubt   bool // it names a call to ask for again, or the call began and never ended
	told    bool // it names no call, and the finish reason is that of a reply that was cut
	content string
	crash   string // what the reader panicked with
}

// how is in which way a text is handed over and read.
type how struct {
	hold   int
	pieces []string
	finish string
}

// whole returns a source that gives the text in one piece, and options that hold calls to their
// end.
func whole(text, finish string) how { return how{adapters.HoldCall, []string{text}, finish} }

// anyHow hands a text over in one of the ways that there are.
func anyHow(r *rand.Rand, text string) how {
	switch r.Intn(4) {
	case 0:
		return how{adapters.HoldShort, pieces(r, text), chat.Stop}
	case 1:
		return how{adapters.HoldNone, pieces(r, text), chat.Stop}
	}
	return whole(text, chat.Stop)
}

// pieces returns a text cut at random places between bytes.
func pieces(r *rand.Rand, text string) []string {
	var all []string
	for len(text) > 0 {
		n := min(1+r.Intn(1+r.Intn(1+min(len(text), 4096))), len(text))
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

// decode reads a text with toolnorm. A panic is the worst reading of all, and is told.
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

// outcomeOf compares what was read with what was meant.
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

// same reports whether two JSON texts are the same value.
func same(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
