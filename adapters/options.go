package adapters

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"toolnorm/chat"
)

// Options contains what a Format must know of the request to read its reply. The zero value
// separates reasoning from text and reads no calls.
type Options struct {
	// Tools are the offered tools. Without tools only reasoning is separated from text, and marks
	// of calls are text.
	Tools []chat.Tool
	// Also maps further names by which a model may call tools to the tools' names; nil: there are
	// no further names. An offered tool's real name always means that tool.
	Also map[string]string
	// Prompt is the end of the rendered prompt (64 bytes are enough). It shows whether the reply
	// begins inside reasoning, in a plain reply or after the header of a message.
	Prompt string
	// Hold is how many bytes of a call's arguments are held back before the call is sent, or one of
	// the Hold constants below.
	Hold int
	// HoldNow returns the value that replaces Hold for a call that begins now; nil: Hold is used.
	HoldNow func() int
	// Which says which texts that look like calls are calls.
	Which Which
	// Quiet keeps calls inside reasoning as reasoning, even when nothing follows them.
	Quiet bool
	// Same is how many repeated calls in a row end the reply; 0: they never do. Repeated calls are
	// left out in any case.
	Same int
	// Known reports whether a value was given to the model to read, so that the model need not have
	// made it up; nil: this is not known.
	Known func(value string) bool
	// Messages is the conversation before the reply. It is evidence about a call without marks: the
	// user asked for the call, or pasted it. If it is empty, nothing is known.
	Messages []chat.Message
	// Control lists the marks that are control tokens of the model, for a source that sends each of
	// them as a separate piece. A call's mark that comes as such a piece is real wherever it is.
	// nil: the pieces of the source show nothing.
	Control []string
	// Whole says that every piece of the source is a token. The characters of a control token that
	// arrive in several pieces are then a mention of it.
	Whole bool
	// Alone reads this format only. Otherwise the marks of every known format count, this one's
	// first. Strict implies it.
	Alone bool

	// Repaired, if not nil, is called with the code of each repair before the event that it
	// concerns is sent.
	Repaired func(code string)

	// Context, if not nil, ends the reading when it is done, also inside a large piece of text. The
	// error of the reply is then the context's cause.
	Context context.Context
}

// The values of Options.Hold with a name: how many bytes of a call's arguments are held back before
// the call is sent. Until then the client has no progress to show. In return it never sees a call
// that turns out to be damaged, or not to be a call.
const (
	// the default: calls of up to 512 bytes are sent whole, longer ones stream from there
	HoldShort = 0
	HoldNone  = -1      // every call streams from its commit point
	HoldCall  = 1 << 62 // every call waits until it is complete
)

// ParseHold parses a value of Options.Hold as people write it: none, short, call, or a number of
// bytes above 0. Anything else is an error that names the valid values, for a flag's message. The
// number 0 is rejected because it is the value of the default, while a user who writes 0 means
// none.
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

// shortCall is how many bytes of arguments are held back under HoldShort. Most calls are shorter,
// and a call that is complete before it is sent can still become text again. A call that writes a
// file is longer, and there people want to see progress.
const shortCall = 512

// Held returns how many bytes of a call are held back if Options.Hold has the given value. If the
// result is negative, nothing is held back. The value 0 (HoldShort) is the default, and holds back
// short calls.
func Held(hold int) int {
	if hold == HoldShort {
		return shortCall
	}
	return hold
}

// Which decides which of the texts that look like calls are read as calls. Agents that only make
// calls lose more by a missed call than by an example that runs. If a person reads along, it is the
// other way round.
type Which uint8

// The values of Options.Which. A table in docs/calls.md lists the texts that each of them takes for
// a call.
const (
	Normal Which = iota // marks where models put them, and other complete calls with evidence
	Eager               // every complete call that fits an offered tool, whatever surrounds it
	Strict              // the family's own marks, or its own form if it has no marks
)

// whichNames are the names of the values of Which, in their order.
var whichNames = []string{"normal", "eager", "strict"}

// ParseWhich parses the name of a Which: eager, normal or strict. Any other text is an error that
// lists the names, for a flag's message.
func ParseWhich(s string) (Which, error) {
	if i := slices.Index(whichNames, s); i >= 0 {
		return Which(i), nil
	}
	return Normal, fmt.Errorf("must be eager, normal or strict, not %q", s)
}

// Reasons returns all repairs that can be made while a reply is read, ordered by their codes; see
// chat.Meta.Repairs. Codes are part of the interface and never change: logs, headers and traces
// contain them, and docs/repairs.md is written from them. In each element the field Means is a
// sentence in the past tense. The fields Wrote and Reads are an example: a text, and what it is
// read as.
func Reasons() []chat.Reason {
	all := make([]chat.Reason, len(reasons))
	for i, r := range reasons {
		all[i] = chat.Reason{Code: r[0], Means: r[1], Wrote: r[2], Reads: r[3]}
	}
	return all
}

// reasons lists the code, the meaning, an example and its result. A test runs the examples.
var reasons = [...][4]string{
	{"bare-keys", "a key without quotes was given some", `{city: "Rome"}`, `{"city": "Rome"}`},
	{"bare-words", "a value without quotes became text", `{"city": Rome}`, `{"city": "Rome"}`},
	{"closers",
		"brackets, quotes or marks that close the call were missing or the wrong ones, and were added", `{"a": [1, 2}`, `{"a": [1, 2]}`},
	{"comments", "a comment was left out", `{"a": 1 /* one */}`, `{"a": 1 }`},
	{"control-bytes", "a line break or another control byte inside a string was escaped",
		"{\"a\": \"x\ty\"}", `{"a": "x\ty"}`},
	{"doubled-braces", "braces that were doubled, as in a template, were halved", `{{"a": 1}}`,
		`{"a": 1}`},
	{"ellipsis", "dots that stood for further items were left out", `[1, 2, ...]`, `[1, 2]`},
	{"equals", "an equals sign, an arrow or several colons between key and value became a colon",
		`{"a" = 1}`, `{"a" : 1}`},
	{"escapes",
		"an escape that JSON does not know became the character that was meant, or a backslash",
		`{"a": "it\'s"}`, `{"a": "it's"}`},
	{"extra-closer",
		"something behind the end of the value, mostly a bracket that closes nothing, was left out",
		`{"a": 1]}`, `{"a": 1}`},
	{"extra-comma", "a comma without anything before it was left out", `[1,, 2]`, `[1, 2]`},
	{"full-width", "a comma or colon of East Asian width became the plain one", `{"a"：1}`,
		`{"a":1}`},
	{"inner-quotes", "quotes inside quotes were escaped, or those around an object left out",
		`{"a": "say "hi" now"}`, `{"a": "say \"hi\" now"}`},
	{"invented-result",
		"the model went on from a result, or from a turn of the user, that it had made up: the calls behind it were left out, and so were the block and what it wrote behind such a call", "<tool_response>Paid.</tool_response>", ""},
	{"joined-strings",
		"strings that are joined by a plus sign, or in Python by nothing, became one",
		`{"a": "x" + "y"}`, `{"a": "xy"}`},
	{"key-spelling",
		"a parameter in another case, or with other separators, got the schema's spelling",
		`{"fileName": "a"}`, `{"file_name": "a"}`},
	{"literals", "a number or word in another language's spelling became JSON's",
		`{"a": True, "b": 007}`, `{"a": true, "b": 7}`},
	{"marks",
		"a mark around the call that was damaged, doubled, missing or in another's place was put right", `tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`, `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`},
	{"missing-colon", "the colon between key and value was missing and was added", `{"a" 1}`,
		`{"a" :1}`},
	{"missing-comma", "the comma between two members or items was missing and was added",
		`{"a": 1 "b": 2}`, `{"a": 1 ,"b": 2}`},
	{"null-omitted",
		"a parameter that may be left out, and may not be null, was null and was left out",
		`{"city": "Rome", "days": null}`, `{"city": "Rome"}`},
	{"object-in-string", "a whole object or list in a string was taken out of it", `"{\"a\": 1}"`,
		`{"a": 1}`},
	{"odd-space", "a space that JSON does not know became a plain one", "{\"a\":\u00a01}",
		`{"a": 1}`},
	{"opening-brace", "the brace that opens the object was missing and was added",
		`"city": "Rome"}`, `{"city": "Rome"}`},
	{"paths", "the backslashes of a Windows path were doubled", `{"a": "C:\temp\new"}`,
		`{"a": "C:\\temp\\new"}`},
	{"placeholders", "a call with placeholders for all values is shown as text",
		`{"city": "<city>"}`, `{"city": "<city>"}`},
	{"quotes", "quotes of another kind became double ones", `{'city': 'Rome'}`, `{"city": "Rome"}`},
	{"raw-arguments",
		"arguments that are no JSON: lines, elements, flags or a query became an object, a program the tool's only parameter", `print("hi")`, `{"code":"print(\"hi\")"}`},
	{"text-around", "words, a fence or thinking around the JSON were left out",
		`Here it is: {"a": 1}`, `{"a": 1}`},
	{"too-deep", "arguments nested deeper than 512 levels were cut there", `[[[[…`, ``},
	{"trailing-comma", "a comma behind the last member or item was left out", `{"a": 1,}`,
		`{"a": 1}`},
	{"truncated", "the text ended inside the value, which was closed there", `{"a": "cut he`,
		`{"a": "cut he"}`},
	{"repeated-call",
		"a call that the reply had made already, with the same arguments, was left out",
		`the same call, again`, ""},
	{"tuples", "a list in round brackets or braces got square ones", `{"a": (1, 2)}`,
		`{"a": [1, 2]}`},
	{"two-readings", "a call that can be read in two ways is shown as text",
		`{"n": {"a": ["x"}, "m": "y"}`, `{"n": {"a": ["x"}, "m": "y"}`},
	{"types", "a text became a value of the type that the schema wants", `{"days": "3"}`,
		`{"days": 3}`},
	{"utf-8", "a byte that is no UTF-8 became U+FFFD", "{\"a\": \"\xff\"}", `{"a": "�"}`},
	{"wrapped", "a lone member that holds all arguments was left out",
		`{"arguments": {"city": "Rome"}}`, `{"city": "Rome"}`},
}
