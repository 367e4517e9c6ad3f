package xml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// mostParams is how many parameters Void reads in a call.
// Its parser's loop ends there, and the eleventh would be lost silently.
const mostParams = 10

// Write writes a call as the client finds it: a line with its opening mark, and the rest up to the
// closing one. The two should be sent in separate pieces: Void looks for the marks of all its tools
// in the text so far, and takes the tool that is first in its list, so a value that holds such a
// mark must come later.
//
// Values that are not strings are written as JSON. Members that the tool does not know are left
// out, as the client would do, and so is null. An error says, in words for the user, why the call
// cannot be written: there is no escaping in these forms.
//
//	<read_file>
//	<uri>/tmp/a.go</uri>
//	</read_file>
//
// Parameters come in the prompt's order: Void looks ahead for each known mark in that order and
// jumps, so that an earlier parameter that is written later loses those before it.
func (p *Prompt) Write(c chat.Call) (open, rest string, err error) {
	t := p.Find(c.Name)
	if t == nil {
		return "", "", fmt.Errorf("the client has no tool %s", c.Name)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &members); err != nil {
		return "", "", fmt.Errorf("the arguments of %s are no object: %w", c.Name, err)
	}
	var b strings.Builder
	written := 0
	for _, param := range t.Params {
		value, ok := text(members[param.Name])
		if !ok {
			continue
		}
		if mark := p.broken(t, param.Name, value); mark != "" {
			return "", "", fmt.Errorf("%s of %s holds %s, which would end it", param.Name, c.Name,
				mark)
		}
		if written++; p.Protocol == Void && written > mostParams {
			return "", "", fmt.Errorf("%s has more than %d arguments", c.Name, mostParams)
		}
		fmt.Fprintf(&b, "<%s>%s</%s>\n", param.Name, around(value), param.Name)
	}
	fmt.Fprintf(&b, "</%s>", c.Name)
	return "<" + c.Name + ">\n", b.String(), nil
}

// around returns a value of several lines with a newline before and after it, since parsers remove
// one newline from both ends. Otherwise a value that itself begins or ends with a newline would
// lose it.
func around(value string) string {
	if strings.Contains(value, "\n") {
		return "\n" + value + "\n"
	}
	return value
}

// text returns a member's value as text: a string's characters, and the JSON of anything else. It
// returns false for null and for an absent value. Numbers keep the digits that the model wrote.
func text(v json.RawMessage) (string, bool) {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || string(v) == "null" {
		return "", false
	}
	if v[0] == '"' {
		var s string
		if json.Unmarshal(v, &s) == nil {
			return s, true
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v), true
	}
	return b.String(), true
}

// broken returns a mark in a value that the client would read as one, empty when there is none. In
// Void's parser a value ends at the first closing mark of any parameter, and any opening one begins
// the next. A value may hold the tool's own closing mark: Void looks for that from the end of
// the text.
func (p *Prompt) broken(t *Tool, name, value string) string {
	if p.Protocol == Cline {
		// The last closing mark ends the content of a written file, so the content may hold such
		// marks itself.
		if mark := "</" + name + ">"; name != "content" && strings.Contains(value, mark) {
			return mark
		}
		return ""
	}
	for _, param := range t.Params {
		for _, mark := range []string{"<" + param.Name + ">", "</" + param.Name + ">"} {
			if strings.Contains(value, mark) {
				return mark
			}
		}
	}
	return ""
}
