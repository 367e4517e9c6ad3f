package worded

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// step is a call that the model wrote in lines with labels, such as "Action:" and "Action Input:".
type step struct {
	call  chat.Call
	known bool // its tool is offered
	until int  // the offset in the text at which it ends
}

// mostTries is how many labels are tried as the beginning of a call. It is limited because after
// each label the text may be read to its end, and a real reply has few labels.
const mostTries = 64

// steps returns the calls in lines with labels, such as "Action: add", and the text before them.
// The parameter end is the reason why the reply ended. No call is read after an answer. steps
// returns nil if there are no calls.
func (r *Reader) steps(text, end string) (calls []chat.Call, front string) {
	lines := linesOf(text)
	begin, until, tries := -1, 0, 0
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l.start < until, l.role == none:
			continue
		case len(calls) > 0 && strings.TrimSpace(text[until:l.start]) != "":
			return calls, front
		case l.role == final && len(calls) == 0:
			return nil, ""
		}
		if tries++; tries > mostTries {
			return calls, front
		}
		s, ok := r.step(text, lines, i, end)
		if !ok {
			continue
		}
		if len(calls) == 0 {
			if begin, ok = meant(text, lines[:i], l.start, s.until); !ok {
				return nil, ""
			}
			front = said(text[:begin])
		}
		// A call of an unknown tool is the last one returned: later calls may depend on it.
		if calls, until = append(calls, s.call), s.until; !s.known {
			break
		}
	}
	return calls, front
}

// meant reports whether the model means a call that it wrote after labels, and not as an example.
// The call is text[start:until]. Words after it must continue from it, but nothing may follow a
// fence around it. Before it there must be a line with a thought, or words that announce it. meant
// also returns the offset at which the call or its fence begins.
func meant(text string, before []line, start, until int) (begin int, ok bool) {
	begin = start
	if at, inside := inFence(text[:start]); inside {
		first := lineAt(text, at)
		if m := fenced.FindStringSubmatch(text[at:]); !slices.Contains(plainFences,
			strings.ToLower(m[2])) {
			return 0, false
		}
		if between := said(text[min(first.end+1, start):start]); between != "" {
			return 0, false // program text
		}
		_, behind, _ := fence(text[at:])
		if strings.TrimSpace(behind) != "" {
			return 0, false
		}
		begin = at
	} else if !adapters.Meant("", words(text[until:])) {
		return 0, false
	}
	for _, l := range slices.Backward(before) {
		if l.role == thought {
			return begin, true
		}
	}
	return begin, adapters.Meant(said(text[:begin]), "")
}

// plainFences are the labels of fences that do not contain a program.
var plainFences = []string{"", "text", "txt", "plaintext", "plain", "json", "yaml", "yml", "tool",
	"tool_call", "tool_code", "tool_use", "action", "react", "function_call"}

// words returns the words after a call, or "" if there is nothing but PAUSE and punctuation.
// Everything from the first label on, such as "Observation:", is left out, because the model has
// made it up.
func words(behind string) string {
	behind = rest(behind)
	if !strings.ContainsFunc(strings.Replace(behind, "PAUSE", "", 1), unicode.IsLetter) {
		return ""
	}
	return behind
}

// said returns what a reply tells the user: the text without thoughts, fence lines, and lines with
// a known label such as "Action:".
func said(text string) string {
	var out []string
	skip := false
	for _, l := range linesOf(text) {
		switch {
		case l.role == thought:
			skip = true
		case l.role > thought:
			skip = false
		case fenced.MatchString(text[l.start:l.end]):
		case !skip:
			out = append(out, text[l.start:l.end])
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// linking matches the words between a name and its arguments on one line, as in "calc.add with the
// arguments {…}".
var linking = regexp.MustCompile(
	`(?i)^[ \t,:]*(?:with|using)[ \t]+(?:the[ \t]+)?(?:following[ \t]+)?(?:arguments?|args|inputs?|parameters?|params)?[ \t:]*([({].*)$`)

// step reads a call whose label, such as "Action:", begins line i. The tool's name follows on that
// line or, if the label fills it, on the next. The parameter end is the reason why the reply ended.
// step returns false if there is no call.
func (r *Reader) step(text string, lines []line, i int, end string) (s step, ok bool) {
	l := lines[i]
	value, at := l.value, l.at
	if l.role != action && l.role != other {
		return s, false
	}
	next := i + 1
	if value == "" {
		if l.role != action {
			return s, false
		}
		for next < len(lines) && strings.TrimSpace(text[lines[next].start:lines[next].end]) == "" {
			next++
		}
		if next == len(lines) || lines[next].role != none {
			return s, false
		}
		value, at = strings.TrimSpace(text[lines[next].start:lines[next].end]), lines[next].start
		next++
	}
	if value[0] == '{' || fenced.MatchString(value) {
		return r.objectStep(text, at, end)
	}
	called, rest := name(value)
	t, known := r.tool(called)
	if !known && (l.role != action || called == "" || isFinal(called) ||
		r.Foreign != nil && r.Foreign(called)) {
		return s, false
	}
	if strings.HasPrefix(strings.TrimSpace(rest), "#") ||
		strings.HasPrefix(strings.TrimSpace(rest), "//") {
		rest = "" // a comment
	}
	s = step{call: chat.Call{Name: t.Name}, known: known}
	args, worded := "", l.role == action
	switch inline := strings.TrimLeft(linking.ReplaceAllString(rest, "$1"), " ,;|:\t-"); {
	case inline != "" && strings.ContainsRune("({[", rune(inline[0])):
		begin := at + strings.LastIndex(text[at:lines[next-1].end], strings.TrimSpace(inline))
		args, s.until = r.inline(text, begin, lines, next)
		worded = worded && inline[0] != '{'
	case inline != "":
		in := lineAt(inline, 0)
		if in.role != input {
			return s, false // these are words: a sentence that begins with a name
		}
		if args, s.until = in.value, lines[next-1].end; opensValue(args) {
			begin := at + strings.LastIndex(text[at:lines[next-1].end], strings.TrimSpace(args))
			args, s.until = inside(text[begin:])
			s.until += begin
		}
	default:
		var labelled bool
		if args, s.until, labelled, ok = r.behind(t, text, lines, next); !ok && l.role != action {
			return s, false
		}
		worded = worded && (labelled || args == "")
	}
	return r.finished(text, t, called, args, worded, s, end)
}

// finished returns the step s with its call completed. It reads the call's arguments from args. The
// parameter called is the name that the model wrote, and worded says whether a label announces the
// arguments. The parameter end is the reason why the reply ended. finished returns false if the
// step is no call after all, for example because the token limit cut the reply inside it.
func (r *Reader) finished(text string, t chat.Tool, called, args string, worded bool, s step,
	end string) (step, bool) {
	// Only a label shows that the text before it is complete.
	behind := strings.TrimSpace(text[min(s.until, len(text)):])
	whole := end != chat.Length || labelled.MatchString(behind) && lineAt(behind, 0).role > other
	if !s.known {
		// For an unknown tool only the name counts; a name that was cut may become another one.
		s.call = chat.Call{Name: called, Args: []byte("{}")}
		if v, complete := value(strings.TrimSpace(args)); complete {
			if read, ok := arguments(chat.Tool{}, v, true); ok {
				s.call.Args = read
			}
		}
		return s, whole && (slices.ContainsFunc([]rune(called), isName) || worded && args != "")
	}
	if args == "" && !worded {
		return s, false
	}
	read, ok := read(t, args, worded, whole)
	s.call.Args = read
	return s, ok && !tellsTypes(read)
}

// tellsTypes reports whether all arguments are only names of types, as in the description of a
// tool.
func tellsTypes(args []byte) bool {
	var v map[string]any
	if json.Unmarshal(args, &v) != nil || len(v) == 0 {
		return false
	}
	for _, value := range v {
		word, _ := value.(string)
		if kind, _, _ := strings.Cut(strings.ToLower(strings.Trim(word, "<>")),
			" "); !slices.Contains(types, strings.Trim(kind, ",;(")) {
			return false
		}
	}
	return true
}

// types are the names of types that descriptions of tools use.
var types = []string{"string", "str", "text", "integer", "int", "number", "float", "boolean",
	"bool", "array", "list", "object", "dict", "any"}

// isName reports whether a character is an ASCII character other than a blank, as in the names of
// tools.
func isName(c rune) bool { return c < 0x80 && c != ' ' }

// inline returns the arguments that begin at the given offset, on the line of the tool's name, and
// the offset at which they end. Arguments in brackets end at the closing bracket, and others at the
// first label from lines[next] on.
func (r *Reader) inline(text string, begin int, lines []line, next int) (args string, until int) {
	if text[begin] == '{' {
		v, _ := value(text[begin:])
		return v, begin + len(v)
	}
	until = stops(lines, next, len(text))
	close := map[byte]byte{'(': ')', '[': ']'}[text[begin]]
	body := strings.TrimRight(text[begin:until], " \t\n`*.")
	if i := strings.IndexByte(body, '\n'); i >= 0 && body[i-1] == close {
		body = body[:i]
	}
	if len(body) < 2 || body[len(body)-1] != close {
		return text[begin:until], until // a bracket that is not closed is read as it is
	}
	return strings.TrimSpace(body[1 : len(body)-1]), begin + len(body)
}

// behind returns the arguments on the lines after a tool's name, from lines[next] on, and the
// offset at which they end. The result labelled reports whether a label such as "Action Input:"
// begins them. The result ok is false if the lines have neither such a label nor JSON nor
// parameters.
func (r *Reader) behind(t chat.Tool, text string, lines []line, next int) (
	args string, until int, labelled, ok bool) {
	until = lines[next-1].end
	for next < len(lines) && strings.TrimSpace(text[lines[next].start:lines[next].end]) == "" {
		next++
	}
	if next == len(lines) {
		return "", until, false, false
	}
	in := lines[next]
	at := in.at
	bare := strings.TrimSpace(text[in.start:in.end])
	switch {
	case in.role == input || in.role == other && opensValue(strings.TrimSpace(text[at:])):
		labelled = in.role == input
	case opensValue(bare):
		at = in.start
	default:
		end := max(stops(lines, next+1, len(text)), in.end)
		if i := strings.Index(text[in.start:end], "\n\n"); i >= 0 {
			end = in.start + i
		}
		_, ok := pairs(t, text[in.start:end])
		if ok {
			return text[in.start:end], end, true, true
		}
		return "", until, false, false
	}
	rest := text[at:]
	at += len(rest) - len(strings.TrimLeft(rest, " \t\n"))
	rest = text[at:]
	if strings.HasPrefix(strings.TrimLeft(rest, "*_`"), "{") || fenced.MatchString(rest) {
		args, until = inside(rest)
		return args, at + until, labelled, true
	}
	until = max(stops(lines, next+1, len(text)), in.end)
	if at > until { // nothing follows the label
		return "", in.end, labelled, true
	}
	return text[at:until], until, labelled, true
}

// inside returns the JSON or the contents of the fence at the beginning of a text, and the offset
// at which it ends. Markdown signs around JSON are left out. If the text begins with neither,
// inside returns "" and the offset after the Markdown signs.
func inside(text string) (args string, until int) {
	inner, behind, ok := fence(text)
	if ok {
		return strings.TrimSpace(inner), len(text) - len(behind)
	}
	trimmed := strings.TrimLeft(text, "*_`")
	v, _ := value(trimmed)
	until = len(text) - len(trimmed) + len(v)
	return v, until + len(text[until:]) - len(strings.TrimLeft(text[until:], "*_`"))
}

// opensValue reports whether a text begins with JSON or a fence.
func opensValue(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "`{") || fenced.MatchString(text)
}

// stops returns the offset at which an argument ends, before the first line from lines[next] on
// that begins with a known label, such as "Observation:", or closes a fence. If there is no such
// line, it returns size, the end of the whole text.
func stops(lines []line, next, size int) int {
	for ; next < len(lines); next++ {
		if lines[next].role > other || lines[next].closes {
			return max(lines[next].start-1, 0)
		}
	}
	return size
}

// objectStep reads a call in JSON, or in a fence with JSON, that begins at the given offset after a
// label such as "Action:". The parameter end is the reason why the reply ended. objectStep returns
// false if the JSON is no call.
func (r *Reader) objectStep(text string, at int, end string) (s step, ok bool) {
	body, until := inside(strings.TrimLeft(text[at:], " \t"))
	calls := r.object(body, end)
	if len(calls) == 0 {
		return s, false
	}
	_, known := r.tool(calls[0].Name)
	return step{call: calls[0], known: known,
			until: min(at+until+len(text[at:])-len(strings.TrimLeft(text[at:], " \t")), len(text))},
		true
}
