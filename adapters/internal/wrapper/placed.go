package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// Labels of fences that contain a document, or a command. A command in a fence is for the user to
// run, unless the user asked for that very call.
var (
	documentLabels = scan.WordSet("yaml yml toml")
	commandLabels  = scan.WordSet("bash sh shell zsh console text")
)

// holds reports whether a fence with this label, as in ```yaml, may contain a document or a
// command.
func holds(label string) bool {
	label = strings.ToLower(label)
	return documentLabels[label] || commandLabels[label]
}

// Labelled reports whether a fence with this label, as in ```bash, may contain a call that is
// neither JSON nor tags.
func Labelled(label string, tools *toolset.Set) bool {
	l := law{tools: tools}
	return holds(label) || l.named(label) != nil
}

// fenceAround returns the label and the content of a fence that surrounds a whole text. If there is
// no such fence, ok is false and inner is the text.
func fenceAround(text string) (label, inner string, ok bool) {
	if !strings.HasPrefix(text, "```") {
		return "", text, false
	}
	rest := strings.TrimLeft(text, "`")
	label, inner, ok = strings.Cut(rest, "\n")
	label = strings.TrimSpace(label)
	inner = strings.TrimRight(inner, " \t\r\n")
	body := strings.TrimRight(inner, "`")
	if !ok || strings.Contains(body, "```") {
		return label, text, false
	}
	return label, strings.Trim(body, "\r\n"), true
}

// place matches the name of a tool before its arguments. The name may be alone, after a sign or a
// word, a heading, in bold or in brackets, and a sign may separate the name and the arguments. The
// groups are the word before the name, the signs before the name, the name, and the signs after the
// name.
var place = regexp.MustCompile("^(?:#{1,6} +|[-*] +|[@/$!#&→] ?)?" + "(" + placeWord +
	"?)([*`\"'\\[{(<]{0,4})(\\w(?:[\\w.-]*\\w)?)([*`\"'\\]})>:]{0,5})" +
	`[ \t]*(?:->|=>|→|:=|=|:|\|\|?|;|with(?: arguments)?)?[ \t]*`)

// placeWord matches a word before the name.
const placeWord = `(?:\*{0,2}(?:(?i:tool|function|action|call)(?: (?:call|name|tool))?:\*{0,2} *|(?:[Cc]all|CALL|[Uu]se|[Rr]un|invoke|execute)(?: tool)? ))`

// bracketed matches a text that begins with an unquoted name in brackets, as JSON never does.
var bracketed = regexp.MustCompile(`^(?:\[\[?\w[\w.-]*\]\]?|\{\{\w[\w.-]*\}\})\s*[^\s,\]}]`)

// expression matches a call in parentheses: (get_weather :city "Paris").
var expression = regexp.MustCompile(`^\((?:(?:tool-)?call )?(\w(?:[\w.-]*\w)?)\s+([\s\S]*)\)$`)

// placed reads a call that consists of a tool's name and, after it, its arguments as one object in
// any notation. The name must be the label of a fence, as in ```get_time, or be written in a way
// that the regular expression [place] matches, such as a heading or in brackets. It also reads a
// call in parentheses, (get_weather :city "Paris"). It returns nil for any other text.
func (l *law) placed(text string) *node {
	if m := expression.FindStringSubmatch(text); m != nil {
		if t := l.named(m[1]); t != nil {
			return callOf(t, pairs(m[2], t.Type()))
		}
	}
	// ```get_weather
	if label, inner, ok := fenceAround(text); ok {
		if t := l.named(label); t != nil {
			return callOf(t, coded(inner, t))
		}
		return nil
	}
	m := place.FindStringSubmatchIndex(text)
	if m == nil {
		return nil
	}
	front, behind := text[m[4]:m[5]], strings.ReplaceAll(text[m[8]:m[9]], ":", "")
	t := l.named(text[m[6]:m[7]])
	if t == nil || mirrored(front) != behind {
		return nil
	}
	rest := text[m[1]:]
	body := strings.TrimLeft(rest, " \t\r\n")
	args := coded(strings.TrimRight(body, " \t\r\n"), t)
	// [search]⏎query = rain is a section of settings
	if front == "[" && body != "" && strings.IndexByte("{(`", body[0]) < 0 {
		return nil
	}
	// lines of arguments must begin on the line after the name
	if args == nil || len(body) == len(rest) && isLines(body) {
		return nil
	}
	return callOf(t, args)
}

// mirrored returns the closing brackets for some opening brackets, in the reverse order.
func mirrored(openers string) string {
	all := []byte(openers)
	slices.Reverse(all)
	return strings.NewReplacer("[", "]", "{", "}", "(", ")", "<", ">").Replace(string(all))
}

// isLines reports whether a text begins with a key and a colon, as lines such as "city: Paris" do.
func isLines(text string) bool { return lineKey.MatchString(text) }

// lineKey matches the key of a member at the beginning of a line.
var lineKey = regexp.MustCompile(`^(?:- )?[\w.-]+:(?:\s|$)`)

// callOf returns the call of a tool with some arguments. It returns nil if args is nil, or if the
// arguments name types instead of values.
func callOf(t *toolset.Tool, args *node) *node {
	if args == nil || slices.ContainsFunc(args.members, describesType) {
		return nil
	}
	return &node{kind: anObject, members: []member{{t.Name, args}}}
}
