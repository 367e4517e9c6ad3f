package adapters

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"toolnorm/chat"
)

// Options are what a Format must know of the request to read its reply.
type Options struct {
	Tools  []chat.Tool       // the tools offered; with none, only reasoning is separated from text
	Also   map[string]string // further names by which a model may call tools, each with the tool's name; nil: none
	Prompt string            // the end of the rendered prompt (64 bytes do): tells whether the reply begins inside reasoning
	Hold   int               // see the constants
	Which  Which             // which texts that look like calls are calls
	Quiet  bool              // calls inside reasoning stay reasoning, even when nothing follows them
	Alone  bool              // read this format only; else the marks of every known format are live, this one's first

	Context context.Context // ends the reading with its error when it is done, also inside a large piece of text; nil: nothing does
}

// Degrees of holding, for Options.Hold: how many bytes of a call's arguments wait before the call leaves. Waiting costs the
// client progress to show, and buys that a call which turns out to be damaged, or no call at all, was never seen by it.
const (
	HoldShort = 0       // the default: calls of up to 512 bytes leave whole, longer ones stream from there on
	HoldNone  = -1      // every call streams from its commit point
	HoldCall  = 1 << 62 // every call waits until it is complete
)

// ParseHold reads a degree of holding as people write it: none, short, call, or a number of bytes above 0. Zero bytes would
// be the default's value, and who writes 0 means none.
func ParseHold(s string) (int, error) {
	switch s {
	case "short":
		return shortCall, nil
	case "none":
		return HoldNone, nil
	case "call":
		return HoldCall, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("must be none, short, call or a number of bytes, not %q", s)
	}
	return n, nil
}

// shortCall is how many bytes of arguments wait under HoldShort. Most calls are shorter, and a call that is complete before it
// leaves can still become text again; a file that is written is longer, and there people want to see progress.
const shortCall = 512

// Held is how many bytes wait under a degree of holding.
func Held(hold int) int {
	if hold == HoldShort {
		return shortCall
	}
	return hold
}

// Which says which texts that look like calls are calls. Agents that do nothing but call lose more by a missed call than by an
// example that runs; where a person reads along it is the other way round.
type Which uint8

// The degrees, for Options.Which. What each of them takes is a table in docs/calls.md.
const (
	Normal Which = iota // marks at their places, other complete calls with evidence
	Eager               // every complete call that fits an offered tool, whatever stands around it
	Strict              // the family's own marks, and its own form where it has none
)

// whichNames are the degrees by name, in the order of their values.
var whichNames = []string{"normal", "eager", "strict"}

// ParseWhich reads a degree as people write it: eager, normal or strict.
func ParseWhich(s string) (Which, error) {
	if i := slices.Index(whichNames, s); i >= 0 {
		return Which(i), nil
	}
	return Normal, fmt.Errorf("must be eager, normal or strict, not %q", s)
}
