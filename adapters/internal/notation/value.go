package notation

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// literal returns a text as JSON that fits a type, without any repair. The parameter written is the
// text with its quotation marks. It returns false if the text does not fit, or could be a value of
// two types.
func (r *reader) literal(text string, t *schema.Type, written string) (string, bool) {
	inQuotes := text != written
	text, ok := r.plainText(text, written)
	if !ok {
		return "", false
	}
	if t.Only(schema.Array | schema.Null) {
		return r.list(text, t, inQuotes)
	}
	word := strings.TrimSpace(text)
	v := strings.ToLower(strings.TrimPrefix(word, "$"))
	if t.Allows(schema.Boolean) && (v == "true" || v == "false") {
		return v, !t.Allows(schema.String)
	}
	if schema.IsNumber(word) && t.Allows(schema.Number|schema.Integer) &&
		(!t.Allows(schema.String) || !inQuotes) {
		return word, t.Known() && !t.Allows(schema.String) && lenient.Fits(word, t)
	}
	if !inQuotes && typeNames[strings.ToLower(word)] && !r.said(word) {
		return "", false // city: string
	}
	quoted := schema.Quote(text)
	return quoted, t.Allows(schema.String) && lenient.Fits(quoted, t)
}

// plainText returns the text that a value stands for. It returns false if the text is blank or not
// valid UTF-8, or if it has a backslash or an entity such as &amp; whose meaning depends on the
// notation and the user has not written exactly this text. The parameter written is the value with
// its quotation marks.
func (r *reader) plainText(text, written string) (string, bool) {
	switch {
	case text == unknowable:
		inner := strings.Trim(written, `"'`+"`")
		return inner, len(written)-len(inner) == 2 && r.said(inner)
	case strings.TrimSpace(text) == "" || !utf8.ValidString(text):
		return "", false
	case html.UnescapeString(text) != text && strings.Contains(r.text, "<"),
		text == written && strings.Contains(text, `\`):
		return text, r.said(text)
	}
	return text, true
}

// list returns a text as a JSON list. The text has items separated by commas or, if the parameter
// inQuotes says that it was in quotation marks, may be a JSON list. list returns false if an item
// does not fit. It accepts an item of several words only if the user has written it.
func (r *reader) list(text string, t *schema.Type, inQuotes bool) (string, bool) {
	if inQuotes && strings.ContainsAny(text, "[{\"") {
		var raw json.RawMessage
		if json.Unmarshal([]byte(text), &raw) == nil && text[0] == '[' {
			return text, lenient.Fits(text, t)
		}
		return "", false
	}
	var all []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if inner, n := quotedAll(item); n {
			item = inner
		}
		value, ok := r.literal(item, t.Item(), item)
		if !ok || strings.ContainsAny(item, ";|\"") ||
			strings.Contains(item, " ") && !r.said(item) {
			return "", false
		}
		all = append(all, value)
	}
	list := "[" + strings.Join(all, ",") + "]"
	return list, lenient.Fits(list, t)
}

// quotedAll returns the meaning of a text that has one pair of quotation marks around all of it. It
// returns false for any other text, and if the meaning is not known.
func quotedAll(text string) (string, bool) {
	open, _ := utf8.DecodeRuneInString(text)
	if quotes[open] == "" {
		return text, false
	}
	inner, size := quoted(text, open)
	return inner, size == len(text) && size > 0 && inner != unknowable
}

// structured reads a list or an object at the beginning of a text, and returns it as JSON with its
// length. Keys need no quotation marks. Texts need them, except for the items of a list. It returns
// false if there is no such value, or if it does not fit the type.
func (r *reader) structured(text string, t *schema.Type) (string, int, bool) {
	if t.Known() && !t.Allows(schema.Array|schema.Object) {
		return "", 0, false
	}
	var raw json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&raw) == nil {
		return string(raw), int(d.InputOffset()), lenient.Fits(string(raw), t)
	}
	size := balanced(text)
	if size == 0 {
		return "", 0, false
	}
	out, whole := lenient.RepairAs(text[:size], t)
	if whole && json.Valid([]byte(out)) && quotesIn(out) == quotesIn(text[:size]) {
		return out, size, lenient.Fits(out, t)
	}
	if text[0] != '[' || !t.Only(schema.Array|schema.Null) || strings.ContainsAny(text[1:size-1],
		"[{(\n") {
		return "", 0, false
	}
	out, ok := r.list(strings.TrimSpace(text[1:size-1]), t, false)
	return out, size, ok
}

// quotesIn returns the number of values in quotation marks in a text. Keys are not counted; a colon
// or an equals sign follows them.
func quotesIn(text string) (n int) {
	tokens := lex(text)
	for i, t := range tokens {
		next := i + 1
		for next < len(tokens) && tokens[next].kind == aSpace {
			next++
		}
		if t.kind == aText && (next == len(tokens) || tokens[next].inner != ":" &&
			tokens[next].inner != "=") {
			n++
		}
	}
	return n
}

// balanced returns the length of the text from a bracket at its beginning to the matching closing
// bracket, or 0 if there is none.
func balanced(text string) int {
	depth := 0
	for _, t := range lex(text) {
		switch {
		case t.kind == aBreak && depth == 0:
			return 0
		case strings.Contains("[{(", t.inner):
			depth++
		case strings.Contains(")}]", t.inner):
			if depth--; depth == 0 {
				return t.to
			}
		}
	}
	return 0
}

// bullet matches an element of a list on a line of its own.
var bullet = regexp.MustCompile(`^[ \t]*[-*•+] +(\S.*?)[ \t]*$`)

// bullets reads the value of a parameter, a list with each item on a line of its own, which begins
// after token j and ends at the offset next at the latest. It also returns where the value ends. It
// returns false if there are no such lines, or if the items do not fit the schema.
func (r *reader) bullets(j, next int, t *schema.Type) (string, int, bool) {
	for j < len(r.tokens) && r.tokens[j].kind != aBreak {
		if k := r.tokens[j].kind; k == aWord || k == aText {
			return "", 0, false
		}
		j++
	}
	if j >= len(r.tokens) || r.tokens[j].from >= next || !t.Only(schema.Array|schema.Null) {
		return "", 0, false
	}
	from := r.tokens[j].to
	var all []string
	for line := range strings.Lines(r.text[from:next]) {
		m := bullet.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || strings.ContainsAny(m[1], ":{}<>|") {
			break
		}
		item, inQuotes := quotedAll(m[1])
		value, ok := r.literal(item, t.Item(), map[bool]string{true: m[1], false: item}[inQuotes])
		if !ok {
			return "", 0, false
		}
		all, from = append(all, value), from+len(line)
	}
	if len(all) == 0 {
		return "", 0, false
	}
	list := "[" + strings.Join(all, ",") + "]"
	return list, min(from, next), lenient.Fits(list, t)
}

// Signs around bare values, which are values without quotation marks.
const (
	hard      = "<>{}|`\"«»⟦⟧⟨⟩【】《》\u0000" // these end a value, as signs of structure do
	separates = ",;&·•¦"                   // these separate two members
)

// bare returns a value without quotation marks, and the sign sep between it and the next member.
// The value begins at offset from and ends at offset next or earlier. The parameter conn has the
// signs between the key k and the value, such as a colon. The result ok is false if the value is
// empty, or if it may be more than one text (see isValue).
func (r *reader) bare(k key, from, next int, conn string) (value, sep string, ok bool) {
	line, whole := r.text[from:next], false
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line, whole = line[:i], true
	}
	inLine, own := !whole && next < len(r.text), r.lineBegins(k.at)
	if cut := structureIn(line, conn); cut >= 0 &&
		!(own && !inLine && lineSigns[strings.Trim(conn, "*`\"'")] && hasWords(line[cut:])) {
		line, inLine = line[:cut], false
	} else if inLine {
		if line, sep, ok = beforeNext(line); !ok {
			return "", "", false
		}
	}
	value = strings.TrimRight(line, " \t\r")
	if inner, ok := strings.CutSuffix(value, " \\"); ok && whole {
		value = strings.TrimRight(inner, " ") // the line of a shell goes on
	}
	value = strings.TrimRight(strings.TrimRight(value, ",;"), " \t")
	value = strings.TrimRight(r.withoutFrame(value, from), " \t")
	return value, sep, value != "" && r.isValue(k, value, conn, sep, own && !inLine)
}

// lineSigns are signs after which a value extends to the end of its line.
var lineSigns = scan.WordSet(": = := => -> → ： ＝ <- ←")

// structureIn returns the position in a line of the sign or the unbalanced closing bracket that
// ends a value without quotation marks, or -1 if there is none. If conn, the signs between key and
// value, has a closing bracket, an opening one also ends the value, as in [city]Paris[/city].
func structureIn(line, conn string) int {
	depth := map[rune]int{}
	for i, c := range line {
		switch {
		case strings.ContainsRune(hard, c),
			c == '[' && strings.ContainsRune(conn, ']'),
			c == '(' && strings.ContainsRune(conn, ')'):
			return i
		case c == '(' || c == '[':
			depth[c]++
		case c == ')':
			if depth['(']--; depth['('] < 0 {
				return i
			}
		case c == ']':
			if depth['[']--; depth['['] < 0 {
				return i
			}
		}
	}
	return -1
}

// gap matches a value with the separator before another member on its line.
var gap = regexp.MustCompile(`^(?s)(.*?\S??)([ \t]*[` + separates + `/][ \t]*|[ \t]+)([^\s\pL\pN]*)$`)

// beforeNext splits a line into a value and the signs that separate it from the next member. It
// returns false if nothing separates the two.
func beforeNext(line string) (value, sep string, ok bool) {
	m := gap.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]) + " " + m[3], true
}

// withoutFrame returns a value without the signs at its end that repeat the signs at the beginning
// of the whole text, such as the stars of *…*. The value begins at the offset from. If it is not at
// the end of the text, it is unchanged.
func (r *reader) withoutFrame(value string, from int) string {
	if from+len(value) < len(strings.TrimRight(r.text, " \t\r\n")) {
		return value
	}
	n := 0
	for i, c := range r.text {
		if unicode.IsSpace(c) || isWord(c) {
			n = i
			break
		}
	}
	frame := r.text[:n]
	if n < 2 && frame != "*" && frame != "§" || strings.Trim(frame, "-#>/!$") == "" && n < 2 {
		return value
	}
	return strings.TrimSuffix(value, frame)
}

// isValue reports whether a value without quotation marks is certainly a single value, unlike
// "Paris units metric". The parameters conn and sep are the signs before and after it, and own is
// true if the value and its key have a line of their own.
func (r *reader) isValue(k key, value, conn, sep string, own bool) bool {
	last, _ := utf8.DecodeLastRuneInString(value)
	sign := strings.TrimLeft(strings.TrimRight(conn, " "), "*`\"'")
	switch {
	case strings.Contains(value, r.tool.Name):
		return false
	case r.said(value) && !strings.ContainsRune(".,;:", last):
		return true
	case strings.ContainsRune(":=\\,;", last) || quotes[firstRune(value)] != "",
		!own && (strings.ContainsAny(value, "\"`") || strings.ContainsRune(".!?", last)),
		r.hasSigns(value), r.flagged(k.at) && flags.MatchString(value):
		return false
	// units=metric after it is not part of the value, unless each member has a line of its own
	case sign != "" && inner(value, sign) && !(own && r.lined()):
		return false
	case strings.TrimSpace(sep) != "" && strings.Contains(value, strings.TrimSpace(sep)):
		return false
	// city Paris units metric
	case sign == "" && !own && strings.ContainsAny(value, " \t"):
		return false
	}
	return true
}

// hasSigns reports whether a value without quotation marks has a part with a special meaning in
// some notations: a comment, an escape of a URL, a variable of a shell.
func (r *reader) hasSigns(value string) bool {
	return commented.MatchString(value) ||
		escaped.MatchString(value) && !query.MatchString(r.text) ||
		variables.MatchString(value) && !strings.EqualFold(value, "$true") &&
			!strings.EqualFold(value, "$false")
}

// flagged reports whether a key is written as a flag, as in --city.
func (r *reader) flagged(at int) bool { return at > 0 && r.tokens[at-1].inner == "-" }

// lined reports whether at least two parameters are named at the beginning of a line.
func (r *reader) lined() bool {
	n := 0
	for _, k := range r.keys {
		if r.lineBegins(k.at) {
			n++
		}
	}
	return n > 1
}

// firstRune returns the first character of a text, or utf8.RuneError if the text is empty.
func firstRune(text string) rune {
	c, _ := utf8.DecodeRuneInString(text)
	return c
}

var (
	commented = regexp.MustCompile(`\s(?:#\s|//\s|/\*)`) // a comment after a value
	variables = regexp.MustCompile(`\$[\w({]`)
	flags     = regexp.MustCompile(`\s--?[A-Za-z]`)
	escaped   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`) // of a URL
)

// inner reports whether a value contains a word followed by sign, the sign that separates keys and
// values.
func inner(value, sign string) bool {
	for rest := value; ; {
		at := strings.Index(rest, sign)
		if at < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(rest[:at], " "))
		behind := rest[at+len(sign):]
		after := firstRune(behind)
		digits := unicode.IsDigit(before) && unicode.IsDigit(after)
		if at > 0 && isWord(before) && !digits && !strings.HasPrefix(behind, "//") {
			return true
		}
		rest = behind
	}
}

// lineBegins reports whether token at is the first on its line, apart from signs, blanks and words
// that describe a call.
func (r *reader) lineBegins(at int) bool {
	for i := at - 1; i >= 0; i-- {
		switch r.tokens[i].kind {
		case aBreak:
			return true
		case aWord, aText:
			return roleOf(r.tokens[i].inner)&structural != 0 && r.lineBegins(i)
		}
	}
	return r.outer == ""
}
