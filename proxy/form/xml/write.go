package xml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// mostParams is the most parameters of a call that Void reads. Its parser stops there, and the
// eleventh would be lost silently.
const mostParams = 10

// Write returns a call in the client's XML, in two parts: a line with the opening tag, and the rest
// up to the closing tag. The two should be sent in separate pieces. The editor Void searches the
// text so far for the tags of all its tools, and takes the tool that is first in its list, so a
// value that contains such a tag must come later. It returns an error, with the reason in words for
// the user, if the call cannot be written, because there is no escaping in these forms.
//
// Values that are not strings are written as JSON. Members that are null are left out, and so are
// those that the tool does not know, since the client would ignore them.
//
//	<read_file>
//	<uri>/tmp/a.go</uri>
//	</read_file>
//
// Parameters are written in the order of the prompt. Void searches for each known tag in that order
// and jumps ahead, so if an earlier parameter were written later, those before it would be lost.
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

// around returns a value of several lines with a newline before and after it. Parsers remove one
// newline at both ends, so a value that itself begins or ends with a newline would lose it
// otherwise.
func around(value string) string {
	if strings.Contains(value, "\n") {
		return "\n" + value + "\n"
	}
	return value
}

// text returns a member's value as text: the characters of a string, or the JSON of anything else.
// It returns false for null and for an absent value. Numbers keep the digits that the model wrote.
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

// broken returns a tag in a value that the client would take for a tag of the call, or "" if there
// is none. In the editor Void's parser a value ends at the first closing tag of any parameter, and
// any opening tag begins the next value. A value may contain the tool's own closing tag, because
// Void searches for that tag from the end of the text.
func (p *Prompt) broken(t *Tool, name, value string) string {
	if p.Protocol == Cline {
		// The last closing tag ends the content of a written file, so the content may contain such
		// tags itself.
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
