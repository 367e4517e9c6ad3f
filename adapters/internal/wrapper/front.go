package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// lines reads a text that begins with a letter or a sign, byte by byte, and decides when it can no
// longer be a call. It knows calls on lines of their own, arguments after a tool's name, and calls
// as a line of a program.
type lines struct {
	front   []byte        // the first line, up to the byte that decided
	below   bool          // an outer key was read, so the line is indented
	free    bool          // a tool was named, or a call was announced
	tool    *toolset.Tool // the tool whose name comes first, or nil
	first   byte          // the first byte of the object
	begun   bool          // the first line of the object is complete
	ticks   int           // how many backquotes the line begins with; -1 after any other byte
	depth   int           // how many brackets are open
	quote   byte          // the quotation mark of the open string in the brackets, or 0
	escaped bool
	over    bool // the object is complete, so only closing signs may follow
}

// program matches the beginning of a line of a program up to its bracket. partial matches a text
// that may become such a line or a line of YAML. A variable has to begin with a small letter, so
// that the first word of a sentence does not delay the reply.
var (
	program = regexp.MustCompile(`^(?:(?:(?:const|let|var) )?\w+ ?= ?)?(?:return )?(?:await )?[\w.]+$`)
	partial = regexp.MustCompile(
		`^(?:(?:const|let|var) )?[a-z_]\w* ?$|^(?:(?:(?:const|let|var) )?\w+ ?= ?)?(?:await )?[\w.]*$|^return (?:await )?[\w.]*$|^-( ?|--?|[ ]\w*)$`)
)

// maxFirst bounds the first line, in bytes: a name and the signs and words around it.
const maxFirst = toolset.MaxName + 64

// goes takes one more byte, and reports whether the text may still be a call in one of the forms of
// [lines]. After it has returned false, the text is not a call, and goes must not be called again.
func (s *lines) goes(c byte, tools *toolset.Set) bool {
	if s.free {
		return s.tool == nil || s.behind(c)
	}
	l := law{tools: tools}
	switch {
	// the first line of YAML
	case c == '\n' && string(s.front) == "---":
		s.front = s.front[:0]
		return true
	// the line below an outer key
	case s.below && len(s.front) == 0 && c == ' ':
		return true
	// tool: get_time⏎, tool_call:⏎, - use: get_time⏎
	case c == '\n' && l.firstLine(string(s.front)):
		s.free = true
		return true
	case c == '(' && program.Match(s.front):
		s.free = true
		return true
	case c == '\n' && l.precedes(string(s.front)):
		s.below = s.below || outer.Match(s.front)
		s.front = s.front[:0]
		return true
	}
	s.front = append(s.front, c)
	if len(s.front) > maxFirst {
		return false
	}
	line := string(s.front)
	named, t := l.placeAhead(line)
	if t != nil {
		s.free, s.tool = true, t
		return s.behind(c)
	}
	if named {
		return true
	}
	// [tool_call] in a fence
	if line[0] == '[' {
		return c != '\n'
	}
	// tool = "get_time"
	if name, value, ok := strings.Cut(line, " = "); ok &&
		strings.IndexFunc(name, func(r rune) bool { return !scan.IsName(int(r)) }) < 0 {
		return c != '\n' && (program.Match(s.front) || partial.MatchString(line) ||
			tools.Begins([]byte(strings.Trim(value, "\"'"))))
	}
	// # next action
	if comment.MatchString(line) {
		return c != '\n'
	}
	if _, value, ok := strings.Cut(line, ":"); ok {
		return len(value) <= toolset.MaxName && c != '\n'
	}
	return c != '\n' && len(line) <= toolset.MaxName && (partial.MatchString(line) ||
		slices.ContainsFunc(nameLines, func(w string) bool {
			return strings.HasPrefix(w, fold(strings.Trim(line, "*- ")))
		}))
}

// outer matches a key of YAML without a value. comment matches a line with a comment.
var (
	outer   = regexp.MustCompile(`^[a-z][a-z0-9_]*:$`)
	comment = regexp.MustCompile(`^# \S`)
)

// precedes reports whether a line may come before the first line of YAML that names a call: an
// outer key, a comment, or an id or a thought.
func (l *law) precedes(line string) bool {
	if len(line) > maxFirst {
		return false
	}
	key, value, ok := strings.Cut(line, ": ")
	key = fold(key)
	if ok && strings.TrimSpace(value) != "" && (idKeys[key] || thoughtKeys[key]) {
		return true
	}
	// # get_time is a heading with the tool's name
	may, _ := l.placeAhead(line + "\n")
	return !may && (outer.MatchString(line) || comment.MatchString(line))
}

// firstLine reports whether a line may be the first of a call in YAML or TOML. Such a line names a
// tool, or is a key that announces a call, such as "tool_call:".
func (l *law) firstLine(line string) bool {
	if m := table.FindStringSubmatch(line); m != nil {
		first, _, _ := strings.Cut(m[2], ".")
		return l.named(m[2]) != nil || kinds[fold(first)]
	}
	name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "- "), "* "), ":")
	if !ok {
		name, value, ok = strings.Cut(line, " = ")
	}
	name, value = strings.Trim(name, "* "), strings.Trim(strings.TrimSpace(value), "\"'`* ")
	return ok && (value == "" && (l.named(name) != nil || kinds[fold(name)]) ||
		value != "" && l.named(value) != nil)
}

// begins reports whether a text is the beginning of one of frontWords, the words that may come
// before a tool's name.
func begins(text string) bool {
	return slices.ContainsFunc(frontWords, func(w string) bool {
		return strings.HasPrefix(w, text)
	})
}

// frontWords are words that may come before a tool's name, see [placeWord].
var frontWords = []string{"Tool: ", "Tool call: ", "Tool name: ", "Function: ", "Function call: ",
	"Function name: ", "Action: ", "Call: ", "tool: ", "tool call: ", "tool name: ", "function: ",
	"function call: ", "action: ", "call: ", "call ", "Call ", "CALL ", "use ", "Use ", "run ",
	"Run ", "invoke ", "execute ", "call tool ", "Call tool ", "use tool ", "Use tool ",
	"run tool ", "tool-call "}

// sign matches a sign that may come before a tool's name or one of frontWords, or the beginning of
// such a sign.
var sign = regexp.MustCompile(`^(?:#{1,6}(?: +|$)|[-*] +|[@/$!#&→] ?)`)

// placeAhead looks at the beginning of text for a tool's name, written in one of the ways that
// [place] matches, and for the first byte of an object after it. The result t is the tool, or nil
// as long as that byte has not come. The result may reports whether text can still become such a
// beginning.
func (l *law) placeAhead(text string) (may bool, t *toolset.Tool) {
	rest := text[len(sign.FindString(text)):]
	if rest == "" || strings.HasPrefix("→", rest) {
		return true, nil
	}
	bare := strings.TrimLeft(rest, "*(")
	if begins(bare) {
		may = true
	}
	for _, w := range frontWords {
		if behind, ok := strings.CutPrefix(strings.Replace(bare, ":**", ":", 1), w); ok {
			m, t := l.nameAhead(behind)
			if t != nil {
				return true, t
			}
			may = may || m
		}
	}
	m, t := l.nameAhead(rest)
	return may || m, t
}

// nameAhead looks at the beginning of text for a tool's name, with or without signs around it, and
// for the first byte of an object after it. The result t is the tool, or nil as long as that byte
// has not come. The result may reports whether text can still become such a beginning.
func (l *law) nameAhead(text string) (may bool, t *toolset.Tool) {
	name := strings.TrimLeft(text, "*`\"'[{(<")
	if len(text)-len(name) > 4 {
		return false, nil
	}
	n := 0
	for n < len(name) && scan.IsName(int(name[n])) {
		n++
	}
	if n == len(name) {
		return n == 0 || l.tools.Begins([]byte(name)), nil
	}
	// the sign of an arrow: get_time->{…}
	if t = l.named(strings.TrimRight(name[:n], "-.")); t == nil {
		return false, nil
	}
	between := strings.TrimLeft(name[n:], "*`\"'])}>:")
	first := strings.TrimLeft(between, " \t\r\n:=|;-→>?")
	for _, w := range []string{"with arguments ", "with "} {
		if strings.HasPrefix(w, first) {
			return true, nil
		}
		first = strings.TrimPrefix(first, w)
	}
	dashes := strings.HasSuffix(between[:len(between)-len(first)], "--")
	switch c := first[0]; {
	case strings.IndexByte("{[(`", c) >= 0, dashes:
		return true, t
	case strings.HasPrefix("→", first):
		return true, nil
	// city=Paris, :city "Paris", city: Paris on the next line
	case !scan.IsWord(int(c)):
		return false, nil
	}
	key := first
	for i := range len(first) {
		if !scan.IsName(int(first[i])) {
			key = first[:i]
			break
		}
	}
	if len(key) < len(first) {
		if t.Type().Has(key) && strings.IndexByte("=: ", first[len(key)]) >= 0 {
			return true, t
		}
		return false, nil
	}
	return slices.ContainsFunc(t.Type().Members(),
		func(m string) bool { return strings.HasPrefix(m, key) }), nil
}

// behind takes the next byte after a tool's name, which is a byte of the arguments or of the text
// after them. It returns false if the text can no longer be only a call, because the arguments are
// followed by something other than blanks and closing signs, such as ) or ```.
func (s *lines) behind(c byte) bool {
	if s.first == 0 && !scan.IsSpace(int(c)) {
		s.first = c
	}
	switch {
	case s.over:
		return scan.IsSpace(int(c)) || strings.IndexByte("}])>`", c) >= 0
	case s.escaped:
		s.escaped = false
	case s.quote != 0:
		s.escaped = c == '\\'
		if c == s.quote {
			s.quote = 0
		}
	case c == '"' && s.depth > 0:
		s.quote = c
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
		s.over = s.depth == 0 && (s.first == '{' || s.first == '[')
	// the line that closes a fence
	case c == '\n':
		s.begun, s.ticks = true, 0
	case c == '`' && s.ticks >= 0:
		s.ticks++
		s.over = s.begun && s.ticks == 3
	default:
		s.ticks = -1
	}
	return true
}
