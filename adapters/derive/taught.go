package derive

import (
	"fmt"
	"regexp"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Some templates do not print calls, but teach them in words: the system prompt shows an example,
// often for fine-tunes of models that were not trained on calls:
//
//	respond with <call>{"name": "<tool>", "arguments": {…}}</call>
//
// Such an example, an object with a name and arguments after a mark, becomes the declaration.
// Examples without a mark are read by the generic format anyway.
var taughtCall = regexp.MustCompile(`(` + aMark +
	`)\s*(\[)?\s*\{\s*["']?(\w{2,20})["']?\s*:\s*[^{}\[\]:]{1,60},\s*["']?(\w{2,20})["']?\s*:\s*(?:\{[^{}]*\}|[^{},\]]{1,60})\s*\}\s*(?:,[^\]]{0,40})?(\])?\s*(` + aMark + `)?`)

// The names that templates use for the members of a call.
var (
	nameWords = regexp.MustCompile(`^(name|tool|tool_name|function|function_name)$`)
	argsWords = regexp.MustCompile(
		`^(arguments|args|parameters|params|input|tool_input|tool_args)$`)
)

// taught finds out how a model writes calls from the example of a call in its system prompt. It
// returns ErrNoCalls if there is no example, and another error if the template refuses the
// conversation. An example in prose is weaker evidence than printed calls. So the declaration must
// read back what it prints, and taught is used only if the template prints no calls in any
// conversation.
func taught(model string, set *adapters.Set, render Render) (*Finding, error) {
	prompt, err := render([]chat.Message{{Role: chat.User, Content: probeAsk}}, probeTools)
	if err != nil {
		return nil, fmt.Errorf("the template refuses a conversation: %w", err)
	}
	for _, m := range taughtCall.FindAllStringSubmatch(prompt, -1) {
		// an object after a mark need not be a call: <user>{"id": 1, "mail": "…"}
		if !nameWords.MatchString(m[3]) || !argsWords.MatchString(m[4]) {
			continue
		}
		placeholder, list := "{call}", ""
		if m[2] != "" {
			placeholder, list = "{calls}", " list=always"
		}
		lines := fmt.Sprintf("%scall    %s%s%s\nkeys    name=%s args=%s%s\n", heading(model),
			example(m[1]), placeholder, example(m[6]), m[3], m[4], list)
		f, err := set.Parse([]byte(lines))
		if err != nil {
			continue
		}
		found := &Finding{Lines: lines, Format: f,
			Shown: []string{string(f.Append(nil, probes[0]))}}
		if err := Reads(f, found.Shown[0], "", probes[:1], probeTools); err == nil {
			return found, nil
		}
	}
	return nil, ErrNoCalls
}

// A single reply cannot be compared with another rendering, so its marks are looked for at the
// edges of the call. A mark contains no blanks, so "a < b and c > d" has no mark.
const writtenMark = `(?:<[^<>\s]{1,64}>|\[/?[A-Z_]{2,40}\])`

var (
	markBefore = regexp.MustCompile(writtenMark + `\s*$`)
	markBehind = regexp.MustCompile(`^\s*` + writtenMark)
)

// CallLine returns the "call" line of a declaration that describes how a reply is written, which
// has a mark and a call of one of the tools. It returns false if it finds no call. The name is in a
// JSON object, {"name": "get_weather", …}, or at most 40 bytes before one, as in
// [TOOL_CALLS]get_weather[ARGS]{…}. JSON that would need a repair is not found.
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
				return lineAround(raw, at, behind+i+len(object), "{name}"+
					example(raw[behind:behind+i])+"{json}")
			}
		}
	}
	return "", false
}

// lineAround returns the "call" line of a declaration, made from the call at text[start:end]. The
// line has the mark before the call, the parameter placeholders, and the
// mark after the call. It returns false if no mark precedes the call, because a declaration needs
// such a mark to distinguish a call from text.
func lineAround(text string, start, end int, placeholders string) (string, bool) {
	before := markBefore.FindString(text[:start])
	if before == "" {
		return "", false
	}
	return "call    " + example(before) + placeholders + example(markBehind.FindString(text[end:])) +
		"\n", true
}
