package adapters

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"toolnorm/chat"
)

// Options are what a Format must know of the request to read its reply. The zero value separates
// reasoning from text and reads no calls.
type Options struct {
	// Tools are those offered. With none, only reasoning is separated from text: marks of calls are
	// text then.
	Tools []chat.Tool
	// Also holds further names by which a model may call tools, each with the tool's name; nil:
	// none. A name that a tool really has stays that tool's.
	Also map[string]string
	// Prompt is the end of the rendered prompt (64 bytes do): it tells whether the reply begins
	// inside reasoning, in a plain reply or behind the header of a message.
	Prompt string
	// Hold is in bytes of arguments, or one of the constants below.
	Hold int
	// HoldNow returns what takes the place of Hold for a call that begins now; nil: nothing does.
	HoldNow func() int
	// Which says which texts that look like calls are calls.
	Which Which
	// Quiet keeps calls inside reasoning there, even when nothing follows them.
	Quiet bool
	// Same is how many calls in a row, each of which was made before, end the reply; 0: it is never
	// ended. They do not leave.
	Same int
	// Known reports whether the model was given a value to read, so that it need not have made it
	// up; nil: nobody knows.
	Known func(value string) bool
	// Messages are what was said in front of the reply. They are evidence of a call without marks:
	// the user asked for it, or pasted it; none: nobody knows.
	Messages []chat.Message
	// Control are marks that the model has as control tokens, of a source that gives each of its
	// tokens as a piece of its own. A call's mark that comes as such a piece is one wherever it
	// stands. nil: pieces say nothing.
	Control []string
	// Whole says that the source has nothing but tokens: then the characters of such a mark in
	// several pieces are a mention.
	Whole bool
	// Alone reads this format only; else the marks of every known format are live, this one's
	// first. Strict implies it.
	Alone bool

	// Repaired is told the codes of repairs before the event leaves that they concern; nil: nobody
	// is.
	Repaired func(code string)

	// Context ends the reading with its error when it is done, also inside a large piece of text;
	// nil: nothing does.
	Context context.Context
}

// Degrees of holding, for Options.Hold: how many bytes of a call's arguments wait before the call
// leaves. Waiting costs the client progress to show, and buys that a call which turns out to be
// damaged, or no call at all, was never seen by it.
const (
	HoldShort = 0       // the default: calls of up to 512 bytes leave whole, longer ones stream from there on
	HoldNone  = -1      // every call streams from its commit point
	HoldCall  = 1 << 62 // every call waits until it is complete
)

// ParseHold reads a degree of holding as people write it: none, short, call, or a number of bytes
// above 0. Zero bytes would be the default's value, and who writes 0 means none. The error names
// the values that count, for a flag's message.
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

// shortCall is how many bytes of arguments wait under HoldShort. Most calls are shorter, and a call
// that is complete before it leaves can still become text again; a file that is written is longer,
// and there people want to see progress.
const shortCall = 512

// Held returns how many bytes wait under a degree of holding. Below 0 nothing waits. The constants
// keep 0 for the default, so that the zero Options hold what is short.
func Held(hold int) int {
	if hold == HoldShort {
		return shortCall
	}
	return hold
}

// Which says which texts that look like calls are calls. Agents that do nothing but call lose more
// by a missed call than by an example that runs; where a person reads along it is the other way
// round.
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
// The error names the degrees, for a flag's message.
func ParseWhich(s string) (Which, error) {
	if i := slices.Index(whichNames, s); i >= 0 {
		return Which(i), nil
	}
	return Normal, fmt.Errorf("must be eager, normal or strict, not %q", s)
}

// Reasons returns the names of all that is repaired while a reply is read, in alphabetical order.
// See chat.Meta.Repairs. They are part of the interface: logs, headers and traces name them, and
// docs/repairs.md is written from them. Codes stay. Means is a sentence in the past, Wrote and
// Reads an example: what was in the text, and what comes of it.
func Reasons() []chat.Reason {
	all := make([]chat.Reason, len(reasons))
	for i, r := range reasons {
		all[i] = chat.Reason{Code: r[0], Means: r[1], Wrote: r[2], Reads: r[3]}
	}
	return all
}

// reasons are code, meaning, and an example with what comes of it. A test runs the examples.
var reasons = [...][4]string{
	{"bare-keys", "a key without quotes was given some", `{city: "Rome"}`, `{"city": "Rome"}`},
	{"bare-words", "a value without quotes became text", `{"city": Rome}`, `{"city": "Rome"}`},
	{"closers", "brackets, quotes or marks that close the call were missing or the wrong ones, and were added", `{"a": [1, 2}`, `{"a": [1, 2]}`},
	{"comments", "a comment was left out", `{"a": 1 /* one */}`, `{"a": 1 }`},
	{"control-bytes", "a line break or another control byte inside a string was escaped", "{\"a\": \"x\ty\"}", `{"a": "x\ty"}`},
	{"doubled-braces", "braces that were doubled, as in a template, were halved", `{{"a": 1}}`, `{"a": 1}`},
	{"ellipsis", "dots that stood for further items were left out", `[1, 2, ...]`, `[1, 2]`},
	{"equals", "an equals sign, an arrow or several colons between key and value became a colon", `{"a" = 1}`, `{"a" : 1}`},
	{"escapes", "an escape that JSON does not know became the character that was meant, or a backslash", `{"a": "it\'s"}`, `{"a": "it's"}`},
	{"extra-closer", "something behind the end of the value, mostly a bracket that closes nothing, was left out", `{"a": 1]}`, `{"a": 1}`},
	{"extra-comma", "a comma without anything before it was left out", `[1,, 2]`, `[1, 2]`},
	{"full-width", "a comma or colon of East Asian width became the plain one", `{"a"：1}`, `{"a":1}`},
	{"inner-quotes", "quotes inside quotes were escaped, or those around an object left out", `{"a": "say "hi" now"}`, `{"a": "say \"hi\" now"}`},
	{"invented-result", "the model went on from a result that it had made up: the calls behind it were left out, and so were the block and what it wrote behind such a call", "<tool_response>Paid.</tool_response>", ""},
	{"joined-strings", "strings that are joined by a plus sign, or in Python by nothing, became one", `{"a": "x" + "y"}`, `{"a": "xy"}`},
	{"key-spelling", "a parameter in another case, or with other separators, got the schema's spelling", `{"fileName": "a"}`, `{"file_name": "a"}`},
	{"literals", "a number or word in another language's spelling became JSON's", `{"a": True, "b": 007}`, `{"a": true, "b": 7}`},
	{"marks", "a mark around the call that was damaged, doubled, missing or in another's place was put right", `tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`, `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`},
	{"missing-colon", "the colon between key and value was missing and was added", `{"a" 1}`, `{"a" :1}`},
	{"missing-comma", "the comma between two members or items was missing and was added", `{"a": 1 "b": 2}`, `{"a": 1 ,"b": 2}`},
	{"null-omitted", "a parameter that may be left out, and may not be null, was null and was left out", `{"city": "Rome", "days": null}`, `{"city": "Rome"}`},
	{"object-in-string", "a whole object or list in a string was taken out of it", `"{\"a\": 1}"`, `{"a": 1}`},
	{"odd-space", "a space that JSON does not know became a plain one", "{\"a\":\u00a01}", `{"a": 1}`},
	{"opening-brace", "the brace that opens the object was missing and was added", `"city": "Rome"}`, `{"city": "Rome"}`},
	{"paths", "the backslashes of a Windows path were doubled", `{"a": "C:\temp\new"}`, `{"a": "C:\\temp\\new"}`},
	{"quotes", "quotes of another kind became double ones", `{'city': 'Rome'}`, `{"city": "Rome"}`},
	{"raw-arguments", "arguments that are no JSON: lines, elements, flags or a query became an object, a program the tool's only parameter", `print("hi")`, `{"code":"print(\"hi\")"}`},
	{"text-around", "words, a fence or thinking around the JSON were left out", `Here it is: {"a": 1}`, `{"a": 1}`},
	{"too-deep", "arguments nested deeper than 512 levels were cut there", `[[[[…`, ``},
	{"trailing-comma", "a comma behind the last member or item was left out", `{"a": 1,}`, `{"a": 1}`},
	{"truncated", "the text ended inside the value, which was closed there", `{"a": "cut he`, `{"a": "cut he"}`},
	{"repeated-call", "a call that the reply had made already, with the same arguments, was left out", `the same call, again`, ""},
	{"tuples", "a list in round brackets or braces got square ones", `{"a": (1, 2)}`, `{"a": [1, 2]}`},
	{"two-readings", "a call that can be read in two ways is shown as text", `{"n": {"a": ["x"}, "m": "y"}`, `{"n": {"a": ["x"}, "m": "y"}`},
	{"types", "a text became a value of the type that the schema wants", `{"days": "3"}`, `{"days": 3}`},
	{"utf-8", "a byte that is no UTF-8 became U+FFFD", "{\"a\": \"\xff\"}", `{"a": "�"}`},
	{"wrapped", "a lone member that holds all arguments was left out", `{"arguments": {"city": "Rome"}}`, `{"city": "Rome"}`},
}
