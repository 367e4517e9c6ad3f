package transcript

import (
	"regexp"
	"strings"
)

// Command is a command in a Markdown page, with the output that the page shows.
type Command struct {
	Line   int    // of the page, from 1
	Text   string // without the prompt; has several lines if a quote or a backslash continues it
	Output string // empty: the page shows no output
}

// Commands returns the commands of a Markdown page. A command is a line in a code block, fenced or
// indented by four spaces, that begins with "$ ". The lines after it, up to the next command or the
// end of the block, are its output. Code blocks without "$ " are ignored, because they may need
// things that a test does not have.
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
		case line == "" && at != nil: // an indented block continues after empty lines
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

// goesOn reports whether a shell would wait for another line, because a quote is open or the line
// ends with a backslash.
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
	// ids matches UUIDs, which differ in each run.
	ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	// anyLines matches a line that consists of "…".
	anyLines = regexp.MustCompile(`(?m)^ *…\n`)
)

// Prints reports whether the parameter got, the output of a command, matches c.Output. In c.Output,
// "…" matches any text within a line, a line "…" matches any number of lines, and a UUID matches
// any other UUID.
func (c Command) Prints(got string) bool {
	pattern := regexp.QuoteMeta(ids.ReplaceAllString(strings.TrimSpace(c.Output)+"\n", "ID"))
	pattern = strings.ReplaceAll(anyLines.ReplaceAllLiteralString(pattern, "\x00"), "…", "[^\n]*")
	pattern = strings.ReplaceAll(pattern, "\x00", "(?:[^\n]*\n)*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(
		ids.ReplaceAllString(strings.TrimSpace(got), "ID") + "\n")
}
