package transcript

import (
	"regexp"
	"strings"
)

// Command is a command that a page of Markdown shows, and what the page says it prints.
type Command struct {
	Line   int    // of the page, from 1
	Text   string // as typed, without the prompt; several lines when a quote or a backslash goes on
	Output string // empty: the page shows none
}

// Commands returns the commands of a page: in its blocks of code, in fences or indented by four
// spaces, the lines that begin with "$ ". The lines below, up to the next command or the block's
// end, are the output. A block without a prompt is something to copy, and may need what a test does
// not have: it is not a command here.
func Commands(page string) (all []Command) {
	var at *Command
	fenced, empty := false, ""
	n := 0
	for line := range strings.Lines(page) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced, at = !fenced, nil
			continue
		}
		text, indented := strings.CutPrefix(line, "    ")
		switch {
		case fenced:
			text = line
		case line == "" && at != nil: // Markdown goes on with an indented block behind empty lines
			empty += "\n"
			continue
		case !indented:
			at = nil
			continue
		}
		command, isCommand := strings.CutPrefix(text, "$ ")
		switch {
		case isCommand:
			all = append(all, Command{Line: n, Text: command})
			at = &all[len(all)-1]
		case at == nil:
		case at.Output == "" && goesOn(at.Text):
			at.Text += "\n" + text
		default:
			at.Output += empty + text + "\n"
		}
		empty = ""
	}
	return all
}

// goesOn reports whether a shell would wait for another line: a quote is open, or a backslash ends
// the line.
func goesOn(command string) bool {
	quote := rune(0)
	escaped := false
	for _, c := range command {
		switch {
		case escaped:
			escaped = false
		case c == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		}
	}
	return quote != 0 || escaped
}

var (
	// ids are different each time.
	ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	// anyLines is a line of dots, in place of any number of lines.
	anyLines = regexp.MustCompile(`(?m)^ *…\n`)
)

// Prints reports whether got is what the page shows. In the page "…" stands for any text of a line,
// a line of its own for any lines, and a UUID for any other.
func (c Command) Prints(got string) bool {
	pattern := regexp.QuoteMeta(ids.ReplaceAllString(strings.TrimSpace(c.Output)+"\n", "ID"))
	pattern = strings.ReplaceAll(anyLines.ReplaceAllLiteralString(pattern, "\x00"), "…", "[^\n]*")
	pattern = strings.ReplaceAll(pattern, "\x00", "(?:[^\n]*\n)*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(
		ids.ReplaceAllString(strings.TrimSpace(got), "ID") + "\n")
}
