package xml

import (
	"strconv"
	"strings"
)

// The text around the tools in Void's prompt:
//
//	Available tools:
//
//	1. read_file
//	Description: Returns full contents of a given file.
//	Format:
//	<read_file>
//	<uri>The FULL path to the file.</uri>
//	<start_line>Optional. Do NOT fill this in unless you were specifically given exact line numbers.</start_line>
//	</read_file>
//
//	Tool calling details:
//	- To call a tool, write its name and parameters in one of the XML formats specified above.
const (
	// Normal mode has no tools, gather mode only those that read, and agent mode all, also those of
	// MCP servers.
	voidTools  = "Available tools:"
	voidFormat = "Format:"
	voidHow    = "Tool calling details:"
	voidClose  = "</SYSTEM_MESSAGE>" // after a prompt that is in a user's message
)

// Limits that keep the reading of a hostile text fast.
const (
	longestEntry = 300     // lines of one tool
	mostTries    = 50      // lines with a tool's number that turn out to be no tool
	largestList  = 1 << 20 // bytes of all tools together
)

// readVoid returns the tools in a prompt of the editor Void, and the prompt without them. The
// prompt must have both the heading "Available tools:" and the details about calling, because any
// user may write the heading. Indentation differs, so the blanks around a line are ignored. If
// there is no list of tools, it returns nil and the unchanged text.
func readVoid(text string) (tools []Tool, rest string) {
	if !strings.Contains(text, voidTools) {
		return nil, text
	}
	l := split(text)
	from := l.find(0, voidTools, false)
	if from < 0 {
		return nil, text
	}
	end, behind := l.voidEnd(from)
	if end < 0 || len(l.text(from, end)) > largestList {
		return nil, text
	}
	for i := from + 1; i < end; {
		var t Tool
		if t, i = l.void(i, end, len(tools)+1); t.Name != "" {
			tools = append(tools, t)
		}
	}
	indent := l[from][:len(l[from])-len(strings.TrimLeft(l[from], " \t"))]
	return tools, l.text(0, from) + indent + callInstructions + "\n" + l.text(behind, len(l))
}

// voidEnd searches from the line with index from on. It returns the index of the line that ends the
// list of tools (end), and that of the first line after the details about calling tools (behind).
// It returns -1 and -1 if there is no list. A list can also end with three dots: for models that it
// does not know, the editor Void assumes 4,096 tokens, cuts messages to about 5,000 characters, and
// puts three dots at the end.
func (l lines) voidEnd(from int) (end, behind int) {
	last := l.find(from, voidClose, false)
	if last < 0 {
		last = len(l)
	}
	if how := l.find(from, voidHow, true); how >= 0 && how < last {
		return how, min(l.blank(how), last)
	}
	if strings.HasSuffix(strings.TrimSpace(l[last-1]), "...") {
		return last, last
	}
	return -1, -1
}

// void returns the tool with number n, and the index of the line after its entry in the list. It
// searches for the entry from the line with index i on, and the entry must end before the line with
// index end. If there is no entry, the returned tool has no name. The number of the entry must be
// n, so that a numbered list in a tool's description does not begin a tool.
func (l lines) void(i, end, n int) (t Tool, next int) {
	number := strconv.Itoa(n) + ". "
	for tries := 0; i < end && tries < mostTries; i++ {
		name, ok := strings.CutPrefix(strings.TrimSpace(l[i]), number)
		if !ok || !isName(name) {
			continue
		}
		tries++
		near := l[:min(end, i+longestEntry)]
		open := near.find(i, "<"+name+">", true)
		if open < 0 {
			continue
		}
		head := strings.TrimSpace(l.text(i+1, open))
		head = strings.TrimSpace(strings.TrimSuffix(head, voidFormat))
		t = Tool{Name: name,
			Description: strings.TrimSpace(strings.TrimPrefix(head, "Description:"))}
		last := near.ends(open, "</"+name+">")
		if last < 0 {
			continue
		}
		_, body, _ := strings.Cut(l.text(open, last+1), ">")
		for _, e := range elements(body) {
			t.Params = append(t.Params, voidParam(e))
		}
		return t, last + 1
	}
	return Tool{}, end
}

// voidParam returns the parameter that an element shows, with the element's text as its
// description. A parameter is required unless its description calls it optional or names a default.
// The editor Void names no types, since every value is text for it, and even the parameters of MCP
// tools lose their types in its prompt.
func voidParam(e element) Param {
	p := Param{Name: e.name, Description: strings.TrimSpace(e.body)}
	if p.Description == "undefined" { // JavaScript's word for a description that nobody wrote
		p.Description = ""
	}
	says := strings.ToLower(p.Description)
	p.Required = !strings.Contains(says, "optional") && !strings.Contains(says, "default")
	return p
}
