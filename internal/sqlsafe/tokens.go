package sqlsafe

import "strings"

// token is a word, a number, an operator, a bracket or a quoted text of a statement.
type token struct {
	text string // as it was written
	at   int    // its offset in the statement
}

// words returns the tokens of a statement. It returns a Refusal if the text is too long, contains a
// NUL, is not valid UTF-8, or contains a second statement.
func (k Kind) words(sql string) ([]token, *Refusal) {
	if r := readable(sql); r != nil {
		return nil, r
	}
	all := k.tokens(sql)
	return all, onlyOne(sql, all)
}

// tokens returns the tokens of a statement, without white space and comments. An unclosed text or
// comment extends to the end, as in SQLite; PostgreSQL refuses it. The tokens are used for bounds
// and positions, but never alone to decide what a statement means.
func (k Kind) tokens(sql string) (all []token) {
	for i := 0; i < len(sql); {
		n, blank := k.next(sql[i:])
		if !blank {
			all = append(all, token{sql[i : i+n], i})
		}
		i += n
	}
	return all
}

// next returns the length of the token at the beginning of s, which must not be empty, and whether
// it is white space or a comment. The length is at least 1. "::" and "||" are one token, because
// tooDeep counts each as one level of the tree.
func (k Kind) next(s string) (n int, blank bool) {
	switch c := s[0]; {
	case c == ' ' || c >= '\t' && c <= '\r':
		return 1, true
	case strings.HasPrefix(s, "--"):
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end + 1, true
		}
		return len(s), true
	case strings.HasPrefix(s, "/*"):
		return k.comment(s), true
	case k == PostgreSQL && (c == 'e' || c == 'E') && len(s) > 1 && s[1] == '\'':
		return 1 + quotedLength(s[1:], '\'', true), false
	case c == '\'' || c == '"' || c == '`' && k == SQLite:
		return quotedLength(s, c, false), false
	case c == '[' && k == SQLite:
		if end := strings.IndexByte(s, ']'); end >= 0 {
			return end + 1, false
		}
		return len(s), false
	case c == '$' && k == PostgreSQL:
		return dollar(s), false
	case wordByte(c):
		n := 1
		for n < len(s) && (wordByte(s[n]) || s[n] == '$') {
			n++
		}
		return n, false
	case strings.HasPrefix(s, "::"), strings.HasPrefix(s, "||"):
		return 2, false
	}
	return 1, false
}

// wordByte reports whether c belongs to a word or a number. Both databases treat all bytes above
// ASCII as letters.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c >= 0x80
}

// comment returns the length of the comment at the beginning of s. PostgreSQL's comments nest, so
// after /* /* */ PostgreSQL is still in a comment while SQLite is not.
func (k Kind) comment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i:i+2] == "/*" && (k == PostgreSQL || depth == 0):
			depth++
			i++
		case s[i:i+2] == "*/":
			if depth--; depth == 0 {
				return i + 2
			}
			i++
		}
	}
	return len(s)
}

// quotedLength returns the length of the quoted text at the beginning of s. Inside it quotes are
// doubled or, if backslash is true, escaped with a backslash. An unclosed text extends to the end.
func quotedLength(s string, quote byte, backslash bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

// dollar returns the length of the text in dollar quotes at the beginning of s, or 1 if there is
// none. $1 is a parameter and begins no text. The tag in $tag$ consists of letters, and the same
// tag ends the text.
func dollar(s string) int {
	end := strings.IndexByte(s[1:], '$')
	if end < 0 || end > 0 && s[1] >= '0' && s[1] <= '9' {
		return 1
	}
	for _, c := range []byte(s[1 : end+1]) {
		if !wordByte(c) {
			return 1
		}
	}
	mark := s[:end+2]
	if close := strings.Index(s[len(mark):], mark); close >= 0 {
		return len(mark) + close + len(mark)
	}
	return len(s)
}

// onlyOne returns a refusal if a second statement follows, that is, any token after a semicolon
// except for further semicolons. Otherwise it returns nil. A semicolon at the end is allowed, since
// models like to write one.
func onlyOne(sql string, all []token) *Refusal {
	for i, t := range all {
		if t.text == ";" && i+1 < len(all) && all[i+1].text != ";" {
			return refuse(sql, all[i+1].at, "only one statement is allowed; a second begins here")
		}
	}
	return nil
}

// The bounds of nesting. The parser's stack overflowed, and it never answered again, with 350
// nested brackets or CASEs, and with 700 operators in a row, each of which is a level of the tree.
const (
	// A little more than half of the 700 operators, and 100 instead of 350 brackets.
	mostLevels   = 400
	bracketLevel = 4 // how many levels a bracket counts as
)

// tooDeep returns a refusal for a statement whose tree would have more levels than the parser can
// handle, and otherwise nil. It counts too much rather than too little. Every word and operator may
// be a level, until a comma, AND or OR in the same bracket begins another branch. Joins and set
// operations nest on their left side, so their levels stay counted. A bracket is closed only by one
// of the same kind, and a CASE only by an END inside it. END and CASE may also be names of columns
// (1 AS end, t.end), which close nothing.
func tooDeep(sql string, all []token) *Refusal {
	type level struct {
		open         string
		words, chain int
		between      int // BETWEENs whose AND is still to come; that AND begins no other branch
	}
	open, sum := []level{{}}, 0
	closed := func() {
		now := open[len(open)-1]
		sum -= now.words + now.chain
		open = open[:len(open)-1]
	}
	for i, t := range all {
		now := &open[len(open)-1]
		word := strings.ToLower(t.text)
		if i > 0 && all[i-1].text == "." && t.text != "(" && t.text != "[" {
			word = "a name"
		}
		other := false // whether another branch begins
		switch {
		case word == "(" || word == "[" || word == "case":
			open = append(open, level{open: word, chain: bracketLevel})
			sum += bracketLevel
		case word == ")" || word == "]":
			for now.open == "case" { // CASE was the name of a column
				closed()
				now = &open[len(open)-1]
			}
			if len(open) > 1 && (now.open == "(") == (word == ")") {
				closed()
			}
		case word == "end" && now.open == "case":
			closed()
		case word == "and" && now.between > 0:
			now.between, now.words, sum = now.between-1, now.words+1, sum+1
		case word == "," || word == "and" || word == "or" || word == ";":
			other = true
		case (word == "when" || word == "else") && now.open == "case":
			other = true
		case word == "join" || word == "union" || word == "intersect" || word == "except":
			now.chain, sum = now.chain+1, sum+1
			other = word != "join"
		case word == ".":
		default:
			if word == "between" {
				now.between++
			}
			now.words++
			sum++
		}
		if other {
			sum -= now.words
			now.words, now.between = 0, 0
		}
		if sum > mostLevels {
			return refuse(sql, t.at, "the statement is nested too deeply")
		}
	}
	return nil
}
