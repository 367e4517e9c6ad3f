package responses

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// larkPattern returns a Lark grammar as a regular expression for the whole text. The pattern is
// empty if the grammar cannot be written as one: a rule refers to itself, a directive is unknown,
// or the expression is longer than schemas may hold. Wrong says why the text is certainly not a
// grammar; if it is empty, the text may be one.
//
//	start: begin hunk+ end            rules in small letters, terminals in capitals
//	begin: "*** Begin Patch" LF       texts, expressions between slashes, groups, | ? * +
//	%import common.LF                 the terminals that Lark knows by itself
//
// The grammars that clients offer describe lines, like the one of Codex's apply_patch, and have no
// recursive rules. The expression accepts every text that Lark accepts, and a few more, since Lark
// reads with a lexer that prefers long terminals.
func larkPattern(grammar string) (pattern, wrong string) {
	if len(grammar) > longestGrammar {
		return "", ""
	}
	g := &lark{rules: map[string]string{}, done: map[string]string{}}
	if !g.read(grammar) {
		return "", g.wrong
	}
	blank := ""
	for _, name := range g.ignored {
		blank += "|" + g.ref(name, nil)
	}
	if blank != "" {
		g.blank, g.done = "(?:"+blank[1:]+")*", map[string]string{}
	}
	pattern = g.blank + g.ref("start", nil)
	if g.failed || len(pattern) > longestPattern {
		return "", g.wrong
	}
	return pattern, ""
}

// longestGrammar is how many bytes of a grammar are read: each name in it may be replaced by an
// expression as long as a pattern may be, so a megabyte of names would take gigabytes. The grammar
// of Codex's apply_patch has 700 bytes.
const longestGrammar = 16 << 10

// lark is a grammar while it is translated into an expression.
type lark struct {
	rules   map[string]string // the definition of each name, as it is written
	done    map[string]string // the same as expressions
	ignored []string          // terminals that may come between any two others
	blank   string            // these as an expression
	failed  bool
	wrong   string // with failed: why the text is not a grammar, if that is certain
}

// mistake records a mistake that Lark itself would refuse. Only the first counts, since later ones
// may follow from it.
func (g *lark) mistake(why string) {
	if !g.failed {
		g.failed, g.wrong = true, why
	}
}

var (
	larkHead   = regexp.MustCompile(`^[?!]?([A-Za-z_]\w*)(?:\.-?\d+)?\s*:(.*)$`)
	larkImport = regexp.MustCompile(`^%import\s+common\.(\w+)(?:\s*->\s*(\w+))?$`)
	larkIgnore = regexp.MustCompile(`^%ignore\s+(.+)$`)
	larkToken  = regexp.MustCompile(
		`^(?:"(?:[^"\\]|\\.)*"i?|/(?:[^/\\\n]|\\.)+/[imsux]*|[A-Za-z_]\w*|->\s*\w+|\.\.|~\s*\d+(?:\s*\.\.\s*\d+)?|[()\[\]|?*+])`)
)

// larkCommon are the terminals that %import common.NAME brings.
var larkCommon = map[string]string{
	"LF": `/\n/`, "CR": `/\r/`, "NEWLINE": `/(\r?\n)+/`, "WS": `/[ \t\f\r\n]+/`,
	"WS_INLINE": `/[ \t]+/`,
	"DIGIT":     `/[0-9]/`, "HEXDIGIT": `/[0-9a-fA-F]/`, "INT": `/[0-9]+/`,
	"SIGNED_INT": `/[+-]?[0-9]+/`,
	"DECIMAL":    `/([0-9]+\.[0-9]*|\.[0-9]+)/`, "LETTER": `/[A-Za-z]/`, "UCASE_LETTER": `/[A-Z]/`,
	"LCASE_LETTER": `/[a-z]/`,
	"WORD":         `/[A-Za-z]+/`, "CNAME": `/[A-Za-z_][A-Za-z0-9_]*/`,
	"ESCAPED_STRING": `/"([^"\\\n]|\\.)*"/`,
	"NUMBER":         `/([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/`,
	"FLOAT":          `/([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+[eE][+-]?[0-9]+)([eE][+-]?[0-9]+)?/`,
	"SIGNED_NUMBER":  `/[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/`,
}

// read gathers the rules. A rule continues in lines that do not begin another rule. A line that
// fits nowhere makes it return false: half a grammar would accept wrong texts, or refuse right
// ones.
func (g *lark) read(grammar string) bool {
	name := ""
	for line := range strings.Lines(grammar) {
		text := strings.TrimSpace(line)
		switch head := larkHead.FindStringSubmatch(text); {
		case text == "", strings.HasPrefix(text, "//"):
		case strings.HasPrefix(text, "%"):
			if name = ""; !g.directive(text) {
				return false
			}
		case head != nil:
			name = head[1]
			g.rules[name] = head[2]
		case name != "":
			g.rules[name] += "\n" + text
		default:
			g.mistake("begins with a line that is no rule")
			return false
		}
	}
	if g.rules["start"] == "" {
		g.mistake("has no rule named start")
	}
	return !g.failed
}

// directive reads a line that begins with %.
func (g *lark) directive(text string) bool {
	if m := larkImport.FindStringSubmatch(text); m != nil {
		name := m[1]
		if m[2] != "" {
			name = m[2]
		}
		g.rules[name] = larkCommon[m[1]]
		return larkCommon[m[1]] != ""
	}
	if m := larkIgnore.FindStringSubmatch(text); m != nil {
		name := "%" + m[1] // the ignored text may be an expression without a name
		g.rules[name] = m[1]
		g.ignored = append(g.ignored, name)
		return true
	}
	return false
}

// ref returns the expression of a name. Within lists the names that are being read, none of which
// may come again inside.
func (g *lark) ref(name string, within []string) string {
	if done, ok := g.done[name]; ok {
		return done
	}
	text, ok := g.rules[name]
	if !ok {
		g.mistake("names " + name + ", which has no rule")
		return ""
	}
	if slices.Contains(within, name) || len(within) > 64 {
		g.failed = true
		return ""
	}
	r := &larkRule{lark: g, rest: text, within: append(within[:len(within):len(within)], name),
		rule: name[0] != '%' && name == strings.ToLower(name)}
	done := r.choices()
	if r.next() != "" { // only a closing bracket ends the reading early
		g.mistake("closes a bracket in " + name + " that was not opened")
	}
	g.failed = g.failed || len(done) > longestPattern
	g.done[name] = done
	return done
}

// larkRule reads the right side of one rule.
type larkRule struct {
	*lark
	rest   string
	token  string // the next token, once it was looked at
	within []string
	rule   bool // ignored text may follow its terminals
}

// next returns the next token, empty at the end, or where no token begins.
func (r *larkRule) next() string {
	if r.token != "" || r.failed {
		return r.token
	}
	r.rest = strings.TrimSpace(r.rest)
	for strings.HasPrefix(r.rest, "//") { // a comment, up to the end of its line
		_, r.rest, _ = strings.Cut(r.rest, "\n")
		r.rest = strings.TrimSpace(r.rest)
	}
	r.token = larkToken.FindString(r.rest)
	r.rest = r.rest[len(r.token):]
	if r.token == "" && r.rest != "" {
		r.unreadable()
	}
	return r.token
}

// unreadable ends the reading where no token begins. Only a quotation or an expression that is not
// closed is certainly a mistake: Lark knows tokens that are not read here, such as the braces of a
// template.
func (r *larkRule) unreadable() {
	if c := r.rest[0]; c == '"' || c == '/' {
		r.mistake("does not close what begins at " + strconv.Quote(r.rest[:min(len(r.rest), 20)]))
	}
	r.failed = true
}

// take consumes the next token and returns it. After the last token it returns "", at which all
// readers stop.
func (r *larkRule) take() string {
	t := r.next()
	r.token = ""
	return t
}

// choices reads alternatives up to a closing bracket or the end, as one group. Every part is a
// group of its own, so that an operator after it, such as a star, applies to all of it.
func (r *larkRule) choices() string {
	all := []string{r.sequence()}
	for r.next() == "|" {
		r.take()
		all = append(all, r.sequence())
	}
	return "(?:" + strings.Join(all, "|") + ")"
}

// sequence reads the items of one alternative. The name that -> gives an alternative does not
// change its text, so it is skipped.
func (r *larkRule) sequence() string {
	var b strings.Builder
	for {
		t := r.next()
		r.failed = r.failed || b.Len() > longestPattern
		if t == "" || t == "|" || t == ")" || t == "]" || r.failed {
			return b.String()
		}
		if strings.HasPrefix(t, "->") {
			r.take()
			continue
		}
		b.WriteString(r.item())
	}
}

// item reads one atom and how often it may come: "a"~3, "a"~1..4 are Lark's own spelling of {3}
// and {1,4}.
func (r *larkRule) item() string {
	text := r.atom(r.take())
	switch t := r.next(); {
	case t == "?", t == "*", t == "+":
		return text + r.take()
	case strings.HasPrefix(t, "~"):
		least, most, ranged := strings.Cut(strings.TrimSpace(r.take()[1:]), "..")
		if ranged {
			least = strings.TrimSpace(least) + "," + strings.TrimSpace(most)
		}
		return text + "{" + least + "}"
	}
	return text
}

// atom returns the expression of a token, as a group.
func (r *larkRule) atom(t string) string {
	switch t[0] {
	case '(', '[':
		text := r.choices()
		if closing := r.take(); closing != map[byte]string{'(': ")", '[': "]"}[t[0]] {
			r.mistake("does not close a bracket")
		}
		if t[0] == '[' {
			text += "?"
		}
		return "(?:" + text + ")"
	case '"':
		return r.terminal(larkText(t))
	case '/':
		end := strings.LastIndexByte(t, '/')
		flags := strings.ReplaceAll(t[end+1:], "u", "")
		if strings.Contains(flags, "x") {
			r.failed = true
		}
		text := strings.ReplaceAll(t[1:end], `\/`, "/")
		if flags != "" {
			return r.terminal("(?" + flags + ":" + text + ")")
		}
		return r.terminal("(?:" + text + ")")
	}
	if !isName(t) || strings.HasPrefix(r.rest, "{") { // a template's name
		r.failed = true
		return ""
	}
	text := r.ref(t, r.within)
	if t == strings.ToUpper(t) {
		return r.terminal(text)
	}
	return text
}

// terminal returns a terminal. If a rule uses it, ignored text may follow it. Within another
// terminal nothing is ignored, since Lark's lexer reads a terminal in one piece.
func (r *larkRule) terminal(text string) string {
	if r.rule && r.blank != "" {
		return "(?:" + text + r.blank + ")"
	}
	return text
}

// larkText returns the expression of a text in quotes. An i after the quotes makes it ignore case.
func larkText(t string) string {
	flag := ""
	if t, folded := strings.CutSuffix(t, "i"); folded {
		return "(?i:" + larkText(t)[len("(?:"):]
	}
	plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\f`, "\f", `\"`, `"`, `\\`,
		`\`).Replace(t[1 : len(t)-1])
	return "(?" + flag + ":" + regexp.QuoteMeta(plain) + ")"
}

// isName reports whether a token is the name of a rule or a terminal.
func isName(t string) bool {
	return t[0] == '_' || 'a' <= t[0]|0x20 && t[0]|0x20 <= 'z'
}
