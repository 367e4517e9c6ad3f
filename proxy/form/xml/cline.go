package xml

import (
	"slices"
	"strings"
)

// The text around the tools in the prompts of Cline and Roo:
//
//	# Tool Use Formatting
//	…
//	# Tools
//
//	## read_file
//	Description: Request to read the contents of a file at the specified path.
//	Parameters:
//	- path: (required) The path of the file to read
//	Usage:
//	<read_file>
//	<path>File path here</path>
//	</read_file>
//
//	# Tool Use Examples
//	…
//	# Tool Use Guidelines
const (
	clineHow      = "# Tool Use Formatting"
	clineTools    = "# Tools"
	clineUse      = "# Tool Use"
	clineExamples = "# Tool Use Examples"
	clineRule     = "===="
	clineXML      = " using the XML format specified for each tool"
)

// readCline returns the tools in a prompt of Cline or Roo, and the prompt without them. It also
// removes the other parts of the prompt about XML (the section on formatting, the examples),
// because a model that knows two ways of calling mixes them. If there is no such list of tools, it
// returns nil and the unchanged text.
func readCline(text string) (tools []Tool, rest string) {
	if !strings.Contains(text, clineTools+"\n") {
		return nil, text
	}
	l := split(text)
	from := l.find(0, clineTools, false)
	if from < 0 {
		return nil, text
	}
	end := l.section(from + 1)
	if len(l.text(from, end)) > largestList {
		return nil, text
	}
	for i := from + 1; i < end; {
		next := l.heading(i+1, end)
		if name := headingTool(l[i]); name != "" {
			if t, ok := readSection(name, l.text(i+1, next)); ok {
				tools = append(tools, t)
			}
		}
		i = next
	}
	if how := l.find(0, clineHow, false); how >= 0 && how < from {
		from = how
	}
	rest = l.text(0, from) + callInstructions + "\n\n"
	if end < len(l) && strings.HasPrefix(l[end], clineExamples) {
		end = l.section(end + 1)
	}
	return tools, rest + strings.ReplaceAll(l.text(end, len(l)), clineXML, "")
}

// section returns the index of the first line, from line i on, at which the next part of the prompt
// begins, or the number of lines if there is none. Only known headings begin a part. Any other
// heading is left to the text before it, since descriptions may contain headings. So a new heading
// in a later version of the prompt loses no tool.
func (l lines) section(i int) int {
	for ; i < len(l); i++ {
		if strings.HasPrefix(l[i], clineUse) || strings.HasPrefix(l[i], clineRule) {
			return i
		}
	}
	return len(l)
}

// heading returns the index of the first line that is the heading of a tool. It searches from the
// line with index i to the one before the index end. It returns end if there is none.
func (l lines) heading(i, end int) int {
	for ; i < end; i++ {
		if headingTool(l[i]) != "" {
			return i
		}
	}
	return end
}

// headingTool returns the tool that a heading names, or "" if the line is not the heading of a
// tool.
func headingTool(line string) string {
	if name, ok := strings.CutPrefix(line, "## "); ok && isName(strings.TrimSpace(name)) {
		return strings.TrimSpace(name)
	}
	return ""
}

// readSection returns the tool that text, a section of a prompt, describes. It returns false if the
// text has no XML element with the tool's name. The first such element shows the order of the
// parameters. If it shows a parameter's value with a structure (<file><path>…, or a JSON list),
// that value is added to the parameter's description. Placeholders such as "File path here" are
// skipped.
func readSection(name, text string) (t Tool, ok bool) {
	before, rest, found := strings.Cut(text, "<"+name+">")
	shown, _, closed := strings.Cut(rest, "</"+name+">")
	if !found || !closed {
		return t, false
	}
	t = Tool{Name: name}
	t.Description, t.Params = readBullets(before)
	silent := !strings.Contains(before, "(optional)") &&
		!slices.ContainsFunc(t.Params, func(p Param) bool { return p.Required })
	for _, e := range elements(shown) {
		at := t.param(e.name)
		if at < 0 {
			t.Params = append(t.Params, Param{Name: e.name})
			at = len(t.Params) - 1
		}
		if body := strings.TrimSpace(e.body); strings.ContainsAny(body, "<{[") {
			t.Params[at].Description = strings.TrimSpace(t.Params[at].Description +
				"\nWrite it like this:\n" + body)
		}
	}
	for i := range t.Params {
		// if nothing says which are required, all are
		t.Params[i].Required = t.Params[i].Required || silent
	}
	return t, true
}

// param returns the index of the parameter of this name, or -1 if there is none.
func (t *Tool) param(name string) int {
	return slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == name })
}

// behind lists the headings that come after the parameters.
var behind = []string{"Usage", "Example", "Notes:"}

// readBullets returns a description and the parameters after it, written as "- name: (required)
// what it is". The lines after a parameter belong to its description. Two forms are accepted:
// "(required)" after each name, and separate headings for required and optional parameters.
func readBullets(text string) (description string, params []Param) {
	var head strings.Builder
	listed, required := false, false
	var says []*strings.Builder // of each parameter; adding to a string would copy it for each line
	for _, line := range split(text) {
		word := strings.Trim(strings.TrimSpace(line), "*")
		if slices.ContainsFunc(behind, func(s string) bool { return strings.HasPrefix(word, s) }) {
			break
		}
		switch {
		case word == "Description:":
		case word == "Parameters:" || word == "Required Parameters:" ||
			word == "Optional Parameters:":
			listed, required = true, word == "Required Parameters:"
		case listed && strings.HasPrefix(line, "- "):
			name, first, _ := strings.Cut(line[2:], ":")
			if name = strings.Trim(name, "`"); isName(name) {
				params = append(params, Param{Name: name, Required: required ||
					strings.Contains(first, "(required)")})
				says = append(says, new(strings.Builder))
				says[len(says)-1].WriteString(first)
			}
		case listed && len(params) > 0:
			says[len(says)-1].WriteString(line)
		case !listed:
			head.WriteString(line)
		}
	}
	for i := range params {
		params[i].Description = says[i].String()
	}
	return strings.TrimSpace(strings.TrimPrefix(head.String(), "Description:")), trimParams(params)
}

// trimParams removes the words (required) and (optional), and the blanks around them, from the
// descriptions of the parameters. It changes params and returns it.
func trimParams(params []Param) []Param {
	for i := range params {
		d := strings.TrimSpace(params[i].Description)
		for _, mark := range []string{"(required)", "(optional)"} {
			d = strings.TrimSpace(strings.TrimPrefix(d, mark))
		}
		params[i].Description = d
	}
	return params
}
