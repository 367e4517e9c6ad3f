package derive

import (
	"fmt"
	"regexp"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Some templates print no calls and teach them in words: the system prompt shows an example, as it
// does for fine-tunes of models that were never taught otherwise:
//
//	respond with <call>{"name": "<tool>", "arguments": {…}}</call>
//
// The example is the declaration then: an object with a name and arguments, behind a mark. Examples
// without a mark say nothing that the generic format does not know.
var taughtCall = regexp.MustCompile(`(` + aMark + `)\s*(\[)?\s*\{\s*["']?(\w{2,20})["']?\s*:\s*[^{}\[\]:]{1,60},\s*["']?(\w{2,20})["']?\s*:\s*(?:\{[^{}]*\}|[^{},\]]{1,60})\s*\}\s*(?:,[^\]]{0,40})?(\])?\s*(` + aMark + `)?`)

// The words by which templates call the members of a call.
var (
	nameWords = regexp.MustCompile(`^(name|tool|tool_name|function|function_name)$`)
	argsWords = regexp.MustCompile(`^(arguments|args|parameters|params|input|tool_input|tool_args)$`)
)

// taught finds out how a model writes from the example in its system prompt. It returns ErrNoCalls
// if there is none. What it finds must print and read its own example before it is believed: it is
// one example in prose, not what the model was shown of its own calls. It is asked last, when the
// template prints no calls in either view.
func taught(model string, set *adapters.Set, render Render) (*Finding, error) {
	prompt, err := render([]chat.Message{{Role: chat.User, Content: probeAsk}}, probeTools)
	if err != nil {
		return nil, fmt.Errorf("the template refuses a conversation: %w", err)
	}
	for _, m := range taughtCall.FindAllStringSubmatch(prompt, -1) {
		// an object behind a mark is not a call because of that: <user>{"id": 1, "mail": "…"}
		if !nameWords.MatchString(m[3]) || !argsWords.MatchString(m[4]) {
			continue
		}
		hole, list := "{call}", ""
		if m[2] != "" {
			hole, list = "{calls}", " list=always"
		}
		lines := fmt.Sprintf("%scall    %s%s%s\nkeys    name=%s args=%s%s\n", heading(model), example(m[1]), hole, example(m[6]), m[3], m[4], list)
		f, err := set.Parse([]byte(lines))
		if err != nil {
			continue
		}
		found := &Finding{Lines: lines, Format: f, Shown: []string{string(f.Append(nil, probes[0]))}}
		if err := Reads(f, found.Shown[0], "", probes[:1], probeTools); err == nil {
			return found, nil
		}
	}
	return nil, ErrNoCalls
}

// What a model wrote has no neighbour to be compared with, so its marks are looked for at the edges
// of the call. Blanks may stand between the brackets of neither form, so that "a < b and c > d" is
// no mark.
const writtenMark = `(?:<[^<>\s]{1,64}>|\[/?[A-Z_]{2,40}\])`

var (
	markBefore = regexp.MustCompile(writtenMark + `\s*$`)
	markBehind = regexp.MustCompile(`^\s*` + writtenMark)
)

// CallLine returns the call line of a reply that holds a tool's name in JSON, or before it, after a
// mark. The object begins before the name in {"name": "get_weather", …} and after it in
// [TOOL_CALLS]get_weather[ARGS]{…}, at most 40 bytes away, which is room for a mark between. JSON
// that would need a repair is not found.
func CallLine(raw string, tools []chat.Tool) (line string, ok bool) {
	for _, t := range tools {
		at := strings.Index(raw, t.Name)
		if at < 0 {
			continue
		}
		if i := strings.LastIndexByte(raw[:at], '{'); i >= 0 {
			if object, ok := jsonAt(raw[i:]); ok && strings.Contains(object, t.Name) {
				return lineAround(raw, i, i+len(object), "{call}")
			}
		}
		behind := at + len(t.Name)
		if i := strings.IndexByte(raw[behind:], '{'); i >= 0 && i <= 40 {
			if object, ok := jsonAt(raw[behind+i:]); ok {
				return lineAround(raw, at, behind+i+len(object), "{name}"+example(raw[behind:behind+i])+"{json}")
			}
		}
	}
	return "", false
}

// lineAround returns a call line with the marks around text[start:end]. Without a mark before it
// there is no line: a declaration needs one to tell a call from text.
func lineAround(text string, start, end int, holes string) (string, bool) {
	before := markBefore.FindString(text[:start])
	if before == "" {
		return "", false
	}
	return "call    " + example(before) + holes + example(markBehind.FindString(text[end:])) + "\n", true
}
