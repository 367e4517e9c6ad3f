package responses

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// larkPattern returns a regular expression that matches the whole text of a Lark grammar. The
// pattern is empty if the grammar cannot be translated: a rule refers to itself, a directive is
// unknown, or the expression is longer than schemas may contain. In this case the result wrong says
// why the text is certainly not a grammar, or is empty if the text may be one.
//
//	start: begin hunk+ end            rules in small letters, terminals in capitals
//	begin: "*** Begin Patch" LF       texts, expressions between slashes, groups, | ? * +
//	%import common.LF                 the terminals that Lark knows by itself
//
// The grammars that clients offer describe lines, as the one of Codex's apply_patch does, and have
// no recursive rules. The expression matches every text that Lark accepts, and a few more, because
// Lark reads with a lexer that prefers long terminals.
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

// longestGrammar is the longest grammar that is read, in bytes. Each name in it may be replaced by
// an expression as long as a pattern may be, so a megabyte of names would take gigabytes. The
// grammar of Codex's apply_patch has 700 bytes.
const longestGrammar = 16 << 10

// lark is a grammar that is being translated into a regular expression.
type lark struct {
	rules   map[string]string // the definition of each name, as in the grammar
	done    map[string]string // the definitions as expressions
	ignored []string          // terminals that may come between any two others
	blank   string            // the ignored terminals as an expression
	failed  bool
	wrong   string // if failed: why the text is certainly no grammar; empty: it may be one
}

// mistake records a mistake in the grammar that Lark itself would refuse. Only the first one is
// stored, since later ones may follow from it.
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

// larkCommon maps the terminals that %import common.NAME defines to their expressions.
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

// read stores the rules of a grammar. A rule continues in lines that do not begin another rule. It
// returns false if a line is neither part of a rule nor a known directive, or if there is no rule
// named start, because half a grammar would accept wrong texts or refuse right ones.
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

// directive reads a line that begins with %. It returns false if the directive is unknown.
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

// ref returns the regular expression for the rule of this name. The parameter within has the names
// of the rules that are being read, which must not refer to themselves. If the name has no rule or
// is in within, the grammar is marked as failed, and ref returns "".
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

// larkRule parses the right side of one rule.
type larkRule struct {
	*lark
	rest  string
	token string // the next token, if it was looked at
	// the names whose rules are being read
	within []string
	rule   bool // whether ignored text may follow its terminals
}

// next returns the next token of the rule without consuming it. It returns "" at the end of the
// text. If the text continues with something that is no token, it marks the rule as unreadable and
// returns "" as well.
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

// unreadable marks the rule as failed, because its text continues with something that is no token.
// If that is a string or a regular expression that is not closed, the client has made a mistake,
// which is recorded. Other text may be valid in Lark and only not supported here, such as the
// braces of a template.
func (r *larkRule) unreadable() {
	if c := r.rest[0]; c == '"' || c == '/' {
		r.mistake("does not close what begins at " + strconv.Quote(r.rest[:min(len(r.rest), 20)]))
	}
	r.failed = true
}

// take consumes the next token and returns it. After the last token it returns "".
func (r *larkRule) take() string {
	t := r.next()
	r.token = ""
	return t
}

// choices reads the alternatives of a rule, separated by |, up to a closing bracket or the end, and
// returns a regular expression for them. It is a group, so that an operator after it, such as a
// star, applies to all of it.
func (r *larkRule) choices() string {
	all := []string{r.sequence()}
	for r.next() == "|" {
		r.take()
		all = append(all, r.sequence())
	}
	return "(?:" + strings.Join(all, "|") + ")"
}

// sequence reads one alternative of a rule, up to the next | or closing bracket, and returns the
// pattern that matches it. A name after -> does not change what matches, so it is skipped.
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

// item returns the regular expression for the next part of a Lark rule with its repetition, such as
// * or Lark's "a"~3 and "a"~1..4, which mean {3} and {1,4}.
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

// atom returns the regular expression for the part of a Lark rule that begins with the token t: a
// string, an expression between slashes, a name, or a group in brackets. If a bracket is not closed
// or the token is not supported, it marks the rule as failed.
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

// terminal returns the regular expression for a terminal of a Lark grammar. The parameter text is
// the expression without what follows. If the terminal is used in a rule, the result also matches
// the text that the grammar ignores, such as blanks after it. If it is used in another terminal, it
// does not, because Lark's lexer reads a terminal in one piece.
func (r *larkRule) terminal(text string) string {
	if r.rule && r.blank != "" {
		return "(?:" + text + r.blank + ")"
	}
	return text
}

// larkText returns the regular expression for a string in quotes. If an i follows the quotes, the
// expression ignores case.
func larkText(t string) string {
	flag := ""
	if t, folded := strings.CutSuffix(t, "i"); folded {
		return "(?i:" + larkText(t)[len("(?:"):]
	}
	plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\f`, "\f", `\"`, `"`, `\\`,
		`\`).Replace(t[1 : len(t)-1])
	return "(?" + flag + ":" + regexp.QuoteMeta(plain) + ")"
}

// isName reports whether a token of a Lark grammar is the name of a rule or of a terminal.
func isName(t string) bool {
	return t[0] == '_' || 'a' <= t[0]|0x20 && t[0]|0x20 <= 'z'
}
