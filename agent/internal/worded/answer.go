package worded

import (
	"encoding/json"
	"slices"
	"strings"
)

// finals are names that models use to answer as if they called a tool.
var finals = []string{"", "none", "null", "no", "no action", "no tool", "n/a", "final answer",
	"final", "answer", "finish", "finish answer", "respond", "final response", "done"}

// isFinal reports whether a name in the place of a tool's name only announces an answer, such as
// "Final Answer".
func isFinal(name string) bool {
	return slices.Contains(finals, folded(strings.Trim(name, "[]()`\"' .")))
}

// Answer returns a text without the labels of an answer. For example, it returns "It is 3." for
// "Final Answer: It is 3.", for {"action": "Final Answer", "action_input": "It is 3."}, and for
// {"tool": null, "answer": "It is 3."}. A text without labels is returned as it is, byte for byte.
func Answer(text string) string {
	whole := strings.TrimSpace(text)
	if said := answer(whole); said != whole {
		return said
	}
	return text
}

// answer returns a text without the labels of an answer, as Answer does. The text must have no
// white space around it.
func answer(said string) string {
	if strings.HasPrefix(said, "<") {
		if rest := strings.TrimSpace(tags.ReplaceAllString(said, "")); rest != "" ||
			strings.HasSuffix(said, ">") {
			said = rest
		}
	}
	said = divided(roleInFront.ReplaceAllString(said, ""))
	if m := element.FindStringSubmatchIndex(said); m != nil && m[0] == 0 && m[1] == len(said) &&
		said[m[2]:m[3]] == said[m[6]:m[7]] && roles()[folded(said[m[2]:m[3]])] == final {
		said = said[m[4]:m[5]]
	}
	if behind, ok := labelledAnswer(said); ok {
		said = behind
	}
	inner := said
	if in, behind, ok := fence(said); ok && strings.TrimSpace(behind) == "" {
		inner = strings.TrimSpace(in)
	}
	return objectAnswer(inner, said)
}

// labelledAnswer returns the text after the label of an answer, such as "Final Answer:", or the
// value of an action that is no tool but an answer, as in "Action: Finish[42]". If the text has
// neither, labelledAnswer returns all of it and false.
func labelledAnswer(text string) (string, bool) {
	lines := linesOf(text)
	for i, l := range lines {
		rest := strings.TrimSpace(text[l.at:])
		switch {
		case l.role == final && onlyThoughts(lines[:i], text):
			return strings.TrimSpace(strings.TrimSuffix(rest, "**")), true
		case l.role == action:
			value := l.value
			if inner, ok := strings.CutSuffix(value, "]"); ok { // Finish[42]
				if called, said, ok := strings.Cut(inner, "["); ok && isFinal(called) &&
					said != "" {
					return said, true
				}
			}
			called, _, _ := strings.Cut(value, "(")
			if !isFinal(called) || value == "" {
				return text, false
			}
			for _, next := range lines[i+1:] {
				if next.role == input || next.role == final {
					return strings.TrimSpace(text[next.at:]), true
				}
			}
			return text, false
		case l.role <= other && strings.TrimSpace(text[l.start:l.end]) != "" &&
			!onlyThoughts(lines[:i], text):
			return text, false
		}
	}
	// Or the answer is the words after a thought and a blank line.
	if i := strings.Index(text, "\n\n"); i >= 0 && len(lines) > 0 && lines[0].role == thought &&
		strings.Trim(text[i:], " \n") != "" && unlabelled(text[i+2:]) {
		return strings.TrimSpace(text[i:]), true
	}
	return text, false
}

// unlabelled reports whether no line of a text begins with a known label, such as "Action:".
func unlabelled(text string) bool {
	return !slices.ContainsFunc(linesOf(text), func(l line) bool { return l.role > other })
}

// onlyThoughts reports whether the lines are nothing but thoughts, actions and results: no word
// stands before the first label, and every label is a known one, such as "Thought:".
func onlyThoughts(lines []line, text string) bool {
	labelled := false
	for _, l := range lines {
		if labelled = labelled ||
			l.role > other; !labelled && strings.TrimSpace(text[l.start:l.end]) != "" {
			return false
		}
	}
	return true
}

// objectAnswer returns the answer in the JSON object with which inner begins, or the parameter said
// if inner begins with no such object. The object has final_answer as its only member, or else its
// tool is null or a word such as "Final Answer". Text after an object with such a tool takes
// precedence over the answer in the object; the result may then be "".
func objectAnswer(inner, said string) string {
	d := json.NewDecoder(strings.NewReader(inner))
	var v map[string]any
	if !strings.HasPrefix(inner, "{") || d.Decode(&v) != nil {
		return said
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(inner[d.InputOffset():]), "```"))
	if only, ok := v["final_answer"].(string); ok && len(v) == 1 {
		return strings.TrimSpace(only)
	}
	tool, named := v["tool"]
	for _, key := range []string{"action", "name", "tool_name"} {
		if other, ok := v[key]; ok && !named {
			tool, named = other, true
		}
	}
	name, isText := tool.(string)
	if !named || tool != nil && (!isText || !isFinal(name)) {
		return said
	}
	for _, key := range []string{"answer", "action_input", "final_answer", "response", "text",
		"message", "arguments", "input"} {
		switch value := v[key].(type) {
		case string:
			if rest == "" {
				return strings.TrimSpace(value)
			}
		case map[string]any: // {"action": "finish", "action_input": {"answer": "…"}}
			for _, only := range value {
				if text, ok := only.(string); ok && len(value) == 1 && rest == "" {
					return strings.TrimSpace(text)
				}
			}
		}
	}
	return rest
}
