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

// These patterns find where JSON may name a tool, and where it may have arguments. They only say
// what to try.
var (
	named = regexp.MustCompile(
		`["'“]?\b(?:tool|tool_name|name|function|function_name|action|recipient_name)\b["'”]?\s*[:=]\s*["'“]([^"'“”\n]{1,128})["'”]`)
	argued = regexp.MustCompile(
		`["'“]?\b(?:arguments|args|parameters|params|input|action_input|tool_input|kwargs)\b["'”]?\s*[:=]`)
)

// These match what may surround JSON without being a sentence: fences, names of languages, roles,
// names of calls, headings and lists.
var (
	openers = regexp.MustCompile(
		"(?i)(?:^|\\n)[ \\t]*(?:(?:[-*]|\\d{1,2}[.)])[ \\t]+)?(?:[`~]{3,}[ \\t]*(?:json[c5]?|python|py|tool|tool_code|tool_calls?|tool_use|function|function_calls?|xml|text|plaintext|javascript|js|action)?|`|json|<[a-z_|:-]{2,24}>)[ \\t]*\\n?[ \\t]*$")
	spoken = regexp.MustCompile(
		`(?i)(?:^|\n)[ \t]*(?:assistant|ai|model|bot|call|calls|tool|tool call|tool_call|function call|function|output|response|action)[ \t]*:[ \t]*$`)
	commented = regexp.MustCompile(
		`(?:^|\n)[ \t]*(?:/\*[^\n]{0,80}\*/|(?://|#)[^\n]{0,80})[ \t]*\n?$`)
	headed = regexp.MustCompile(
		`(?:^|\n)[ \t]*(?:#{1,6}[ \t][^\n]{0,60}|\*\*[^\n*]{1,60}\*\*:?)[ \t]*\n*$`)
	closers = regexp.MustCompile("^[ \\t]*\\n?[ \\t]*(?:[`~]{3,}|`|</[a-z_|:-]{2,24}>)[ \\t]*")
)

// objects reads a call in JSON, or in a program that is one call, with nothing around it but
// formatting and words that announce it. The parameter end is the reason why the reply ended.
// objects also returns the text before the call, and returns nil if there is no call.
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
	// Of several calls with words between them the first runs: the others may depend on its result.
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

// lastLine returns the text between the last newline and the JSON after it. The parameter whole is
// all the text before the JSON, and front is the same text without Markdown signs. It returns "" if
// that line is blank or has only Markdown signs.
func lastLine(front, whole string) string {
	line := whole[strings.LastIndexByte(whole, '\n')+1:]
	if !strings.HasSuffix(strings.TrimRight(whole, " \t`"), strings.TrimRight(front, " \t`")) ||
		strings.TrimSpace(line) == "" {
		return "" // a mark was removed
	}
	return line
}

// isSentence reports whether a line before JSON is prose, such as "I call it with:". It returns
// false for a line of a shell or of code, and for a quotation.
func isSentence(line string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") ||
		strings.ContainsAny(line[:1], "$>|#") {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \t`"))
	return unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune(":：,.。", last)
}

// listed matches a list entry that announces the call in it, for example "1. Write the file:".
var listed = regexp.MustCompile(`^\d{1,2}[.)][ \t]+([^\n]+):$`)

// rest returns the words after a call, up to the first label, such as "Observation:". From that
// label on the model makes the text up.
func rest(behind string) string {
	for _, l := range linesOf(behind) {
		if l.role > other {
			return behind[:l.start]
		}
	}
	return behind
}

// opens returns the offset of the first JSON that may be a call, or -1 if there is none.
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

// mostObjects is how many brackets of a text are looked at.
const mostObjects = 256

// reach is how many bytes of JSON may come before the name of a tool.
const reach = 400

// mayCall reports whether JSON at the beginning of a text may be a call.
func (r *Reader) mayCall(text string) bool {
	head := text[:min(len(text), reach)]
	if m := named.FindStringSubmatchIndex(head); m != nil &&
		strings.Trim(head[:m[0]], " \n\t{[,\"") == "" {
		return true
	} else if m != nil && head[0] == '{' {
		return true // {"thought": …, "action": …}
	}
	key := strings.TrimLeft(head, "{ \n\t\"'[")
	n, _ := name(key)
	_, known := r.tool(n)
	return known && head[0] == '{'
}

// object returns the calls in a JSON text that is written as {"tool": …, "arguments": …}. If there
// are none, it looks for a call in other forms, in which the JSON names a tool and has arguments.
// The parameter end is the reason why the reply ended. object returns nil if there is no call.
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
	if strings.TrimSpace(rest) != "" && !known || r.Foreign != nil && r.Foreign(said) ||
		isFinal(said) {
		return nil
	}
	if known {
		called = t.Name
	}
	// The schema is not used here: the tool's reader refuses arguments that do not fit.
	text = "```json\n" + body[:m[2]] + called + body[m[3]:] + "\n```"
	calls := decodedAlso("agent", text, end, []chat.Tool{{Name: called}}, nil)
	// For an unknown tool only the name counts, even if its input is a text.
	if _, complete := value(body); len(calls) == 0 && !known && key == "action" && complete {
		return []chat.Call{{Name: called, Args: []byte("{}")}}
	}
	if len(calls) == 0 || describes(string(calls[0].Args)) {
		return nil
	}
	return calls[:1]
}

// These match members that turn the name of an unknown tool into a call. Without them {"action":
// "delete", "input": "x"} and {"name": "Ann", "args": []} may be anything.
var (
	withAction = regexp.MustCompile(`["'“]?\baction_input\b["'”]?\s*[:=]`)
	withName   = regexp.MustCompile(`["'“]?\b(?:arguments|parameters)\b["'”]?\s*[:=]\s*["'“]?\{`)
)

// goTogether reports whether a JSON object, whose text is body, has arguments beside the member
// key, which names the tool. For "name" these must be in a member such as "arguments". goTogether
// returns true for a key that needs no other member.
func goTogether(key, body string) bool {
	switch key {
	case "action":
		return withAction.MatchString(body)
	case "name", "function":
		return withName.MatchString(body)
	}
	return true
}

// key matches the first member of an object, if its value is in braces.
var key = regexp.MustCompile(`^\{\s*["'“]([^"'“”\s]{1,128})["'”]\s*:\s*(\{)`)

// keyed reads an object with a single member, whose key is the name of a tool and whose value is
// its arguments. It returns nil for any other object.
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
			return nil // it describes the tool
		}
	}
	return []chat.Call{{Name: t.Name, Args: read}}
}

// describes reports whether arguments are a schema, which describes a tool and does not call it.
func describes(args string) bool {
	return strings.Contains(args, `"properties"`) && strings.Contains(args, `"type"`)
}

// decodedAlso returns the calls in a text, which may have other text around them. It reads the
// format that the parameter family names. The keys of the parameter also are other names of the
// tools, which are accepted, and end is the reason why the reply ended. It returns nil if the
// decoder fails.
func decodedAlso(family, text, end string, tools []chat.Tool, also map[string]string) []chat.Call {
	source := chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: end}}
	var got chat.Collector
	for e, err := range adapters.Named(family).Decode(&source,
		adapters.Options{Tools: tools, Also: also, Hold: adapters.HoldCall}) {
		if err != nil {
			return nil
		}
		got.Add(e)
	}
	return got.Complete()
}

// own returns the calls with the tools' own names. It replaces the other names that r.Also lists,
// such as names in the form for model servers.
func (r *Reader) own(calls []chat.Call) []chat.Call {
	for i, c := range calls {
		if whole, ok := r.Also[c.Name]; ok {
			calls[i].Name = whole
		}
	}
	return calls
}

// bared takes the text before some JSON, and removes formatting at its end that introduces the
// JSON, such as the opening line of a fence or a heading. It returns the remaining text and what
// was removed.
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

// value returns the JSON object or array at the beginning of a text, and true. It returns the whole
// text and false if the text begins with neither, or if the value is not closed. Brackets in
// strings do not close it.
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
