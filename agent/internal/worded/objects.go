package worded

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/jsontree"
)

// Where JSON may be a call, and where it has arguments. They only find what to try.
var (
	named  = regexp.MustCompile(`["'“]?\b(?:tool|tool_name|name|function|function_name|action|recipient_name)\b["'”]?\s*[:=]\s*["'“]([^"'“”\n]{1,128})["'”]`)
	argued = regexp.MustCompile(`["'“]?\b(?:arguments|args|parameters|params|input|action_input|tool_input|kwargs)\b["'”]?\s*[:=]`)
)

// marks are what may stand around JSON but no sentence: fences, labels of languages, roles, names
// of calls, headings and lists.
var (
	openers   = regexp.MustCompile("(?i)(?:^|\\n)[ \\t]*(?:(?:[-*]|\\d{1,2}[.)])[ \\t]+)?(?:[`~]{3,}[ \\t]*(?:json[c5]?|python|py|tool|tool_code|tool_calls?|tool_use|function|function_calls?|xml|text|plaintext|javascript|js|action)?|`|json|<[a-z_|:-]{2,24}>)[ \\t]*\\n?[ \\t]*$")
	spoken    = regexp.MustCompile(`(?i)(?:^|\n)[ \t]*(?:assistant|ai|model|bot|call|calls|tool|tool call|tool_call|function call|function|output|response|action)[ \t]*:[ \t]*$`)
	commented = regexp.MustCompile(`(?:^|\n)[ \t]*(?:/\*[^\n]{0,80}\*/|(?://|#)[^\n]{0,80})[ \t]*\n?$`)
	headed    = regexp.MustCompile(`(?:^|\n)[ \t]*(?:#{1,6}[ \t][^\n]{0,60}|\*\*[^\n*]{1,60}\*\*:?)[ \t]*\n*$`)
	closers   = regexp.MustCompile("^[ \\t]*\\n?[ \\t]*(?:[`~]{3,}|`|</[a-z_|:-]{2,24}>)[ \\t]*")
)

// objects reads a call in JSON that has nothing around it but marks and words that mean it; and a
// program of one call.
func (r *Reader) objects(text, end string) (calls []chat.Call, front string) {
	at := r.opens(text)
	if at < 0 {
		if calls, front = r.beside(text); len(calls) > 0 {
			return calls, front
		}
		return r.program(text, end)
	}
	body, complete := value(text[at:])
	if !complete && end == chat.Length {
		return nil, ""
	}
	front, opened := bared(text[:at])
	behind := closers.ReplaceAllString(text[at+len(body):], "")
	if opened != "" {
		behind = closers.ReplaceAllString(behind, "")
	}
	// Of several calls with words between the first runs: the others may depend on what it finds.
	said := front
	if next := r.opens(behind); next >= 0 {
		behind, _ = bared(behind[:next])
		if listed.MatchString(front) && adapters.Meant("", front) {
			said = "" // the first step of a list of steps
		}
	}
	if _, inside := inFence(front); inside || !adapters.Meant(said, rest(behind)) {
		return nil, ""
	}
	calls = r.object(body, end)
	if line := lastLine(front, text[:at]); len(calls) > 0 && line != "" {
		if _, known := r.tool(calls[0].Name); !known || !isSentence(line) {
			return nil, ""
		}
	}
	return calls, front
}

// lastLine returns what comes before JSON on its own line, or "" where that is only marks. front is
// the text without those.
func lastLine(front, whole string) string {
	line := whole[strings.LastIndexByte(whole, '\n')+1:]
	if !strings.HasSuffix(strings.TrimRight(whole, " \t`"), strings.TrimRight(front, " \t`")) || strings.TrimSpace(line) == "" {
		return "" // a mark was taken off
	}
	return line
}

// isSentence reports whether a line is words that go on in JSON: no line of a shell or of code, and
// no quotation.
func isSentence(line string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.ContainsAny(line[:1], "$>|#") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \t`"))
	return unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune(":：,.。", last)
}

// listed is an entry of a list that says what the call in it does: 1. Write the file:
var listed = regexp.MustCompile(`^\d{1,2}[.)][ \t]+([^\n]+):$`)

// rest returns what is said after a call, up to the first label: that begins what a model makes up.
func rest(behind string) string {
	for _, l := range linesOf(behind) {
		if l.role > other {
			return behind[:l.start]
		}
	}
	return behind
}

// opens returns where the first JSON begins that may be a call; -1 where none does.
func (r *Reader) opens(text string) int {
	at := 0
	for range mostObjects {
		i := strings.IndexAny(text[at:], "{[")
		if i < 0 {
			return -1
		}
		if at += i; r.mayCall(text[at:]) {
			return at
		}
		at++
	}
	return -1
}

// mostObjects bounds the brackets that are looked at.
const mostObjects = 256

// reach is how far into JSON the name of a tool stands.
const reach = 400

// mayCall reports whether JSON at the beginning of a text may be a call.
func (r *Reader) mayCall(text string) bool {
	head := text[:min(len(text), reach)]
	if m := named.FindStringSubmatchIndex(head); m != nil && strings.Trim(head[:m[0]], " \n\t{[,\"") == "" {
		return true
	} else if m != nil && head[0] == '{' {
		return true // {"thought": …, "action": …}
	}
	key := strings.TrimLeft(head, "{ \n\t\"'[")
	n, _ := name(key)
	_, known := r.tool(n)
	return known && head[0] == '{'
}

// object reads JSON as the contract's family does; where that finds no call, as one of the tool
// that it names, if it has arguments.
func (r *Reader) object(body, end string) []chat.Call {
	text := "```json\n" + body + "\n```"
	if calls := r.own(decodedAlso("agent", text, end, r.Tools, r.Also)); len(calls) > 0 {
		return calls
	}
	if calls := r.keyed(body); len(calls) > 0 {
		return calls
	}
	m := named.FindStringSubmatchIndex(body)
	if m == nil || !argued.MatchString(body) {
		return nil
	}
	said := body[m[2]:m[3]]
	called, rest := name(said)
	t, known := r.tool(called)
	key := strings.Trim(body[m[0]:m[2]], " \t:=\"'“”")
	if !known && !goTogether(key, body) {
		return nil
	}
	if strings.TrimSpace(rest) != "" && !known || r.Foreign != nil && r.Foreign(said) || isFinal(said) {
		return nil
	}
	if known {
		called = t.Name
	}
	// Without its schema: arguments that do not fit are for the tool's reader to refuse.
	text = "```json\n" + body[:m[2]] + called + body[m[3]:] + "\n```"
	calls := decodedAlso("agent", text, end, []chat.Tool{{Name: called}}, nil)
	// Of an unknown tool the name is all that counts, also where its input is a text.
	if _, complete := value(body); len(calls) == 0 && !known && key == "action" && complete {
		return []chat.Call{{Name: called, Args: []byte("{}")}}
	}
	if len(calls) == 0 || describes(string(calls[0].Args)) {
		return nil
	}
	return calls[:1]
}

// Members that make a call of a name that nobody offers. {"action": "delete", "input": "x"} and
// {"name": "Ann", "args": []} may be anything.
var (
	withAction = regexp.MustCompile(`["'“]?\baction_input\b["'”]?\s*[:=]`)
	withName   = regexp.MustCompile(`["'“]?\b(?:arguments|parameters)\b["'”]?\s*[:=]\s*["'“]?\{`)
)

// goTogether reports whether an object has the member that belongs to the one that names the tool.
func goTogether(key, body string) bool {
	switch key {
	case "action":
		return withAction.MatchString(body)
	case "name", "function":
		return withName.MatchString(body)
	}
	return true
}

// key is the only member of an object, when a value in braces is its value.
var key = regexp.MustCompile(`^\{\s*["'“]([^"'“”\s]{1,128})["'”]\s*:\s*(\{)`)

// keyed reads an object whose only member is named like a tool, and holds its arguments.
func (r *Reader) keyed(body string) []chat.Call {
	m := key.FindStringSubmatchIndex(body)
	if m == nil {
		return nil
	}
	t, known := r.tool(body[m[2]:m[3]])
	args, complete := value(body[m[4]:])
	if !known || !complete || strings.Trim(body[m[4]+len(args):], " ,}\n\t") != "" {
		return nil
	}
	read, ok := arguments(t, args, true)
	var members map[string]json.RawMessage
	if !ok || json.Unmarshal(read, &members) != nil {
		return nil
	}
	typ := schema.Compile(t.Schema)
	for member := range members {
		if len(typ.Members()) > 0 && !typ.Has(member) {
			return nil // it tells of the tool
		}
	}
	return []chat.Call{{Name: t.Name, Args: read}}
}

// describes reports whether arguments are a schema, which tells of a tool and calls none.
func describes(args string) bool {
	return strings.Contains(args, `"properties"`) && strings.Contains(args, `"type"`)
}

// decodedAlso decodes like decoded, with further names of tools and with text around the calls.
func decodedAlso(family, text, end string, tools []chat.Tool, also map[string]string) []chat.Call {
	source := chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: end}}
	var got chat.Collector
	for e, err := range adapters.Named(family).Decode(&source, adapters.Options{Tools: tools, Also: also, Hold: adapters.HoldCall}) {
		if err != nil {
			return nil
		}
		got.Add(e)
	}
	return got.Complete()
}

// own sets the tools' own names in calls.
func (r *Reader) own(calls []chat.Call) []chat.Call {
	for i, c := range calls {
		if whole, ok := r.Also[c.Name]; ok {
			calls[i].Name = whole
		}
	}
	return calls
}

// bared removes the marks that open JSON from the end of the text before it, and returns that text
// and the marks.
func bared(front string) (text, opened string) {
	whole := front
	for before := ""; before != front; {
		before = front
		for _, mark := range []*regexp.Regexp{commented, openers, spoken, headed} {
			if m := mark.FindStringIndex(front); m != nil && m[0] < len(front) {
				front = strings.TrimRight(front[:m[0]], " \t\n")
			}
		}
	}
	return strings.TrimSpace(front), whole[len(strings.TrimRight(front, " \t\n")):]
}

// value returns the JSON value that a text begins with, and whether it was closed: brackets count
// but in strings.
func value(text string) (v string, complete bool) {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return text, false
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += jsontree.StringEnd(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return text[:i+1], true
			}
		}
	}
	return text, false
}
