package lenient

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Meaning is one way to understand damaged arguments.
type Meaning struct {
	Args string // strict JSON of the schema's types
	Cost int    // the cost of its cheapest reading
	End  int    // the offset in the text at which the arguments end
	Open bool   // the text ended before the arguments did

	unsure bool // the reading is based on a guess

	plain string // the value as plainJSON spells it
}

// Decide returns the meaning of damaged arguments of the tool called name, if all likely ways to
// read them agree. ok is false if they can mean different things, or nothing. The parameter direct
// is what the Reader made of the text, without the search for other ways, or "" if it failed.
// Values are compared, not texts, so two ways that give the same arguments agree. The cheapest ways
// come first, so of equal values the cheapest remains. Each result is read once more by the Reader,
// which gives it the types of the schema.
func Decide(text string, g repair.Args, name, direct string) (m Meaning, ok bool) {
	var all []Meaning
	var fits []bool
	seen := map[string]bool{}
	for _, r := range g.Read(text) {
		m, fit := meant(r, g.Type, name)
		if m.Args != "" {
			m.plain = plainJSON(m.Args)
		}
		if m.Args == "" || seen[m.plain] {
			continue
		}
		seen[m.plain] = true
		fits = append(fits, fit)
		all = append(all, m)
	}
	if direct != "" {
		direct = plainJSON(direct)
	}
	m, ok = one(all, fits, direct)
	return m, ok && !swallows(m.Args, absent(m.Args, g.Type),
		strings.Count(text[min(m.End, len(text)):], `"`)%2)
}

// Keywords reads the arguments of a Python call of the tool name, and returns them as JSON. The
// result n is the number of bytes in the text after the arguments. ok is false if the arguments
// have no end, or no clear meaning.
func Keywords(text, name string, t *schema.Type) (args string, n int, ok bool) {
	m, ok := Decide(text, repair.Args{Type: t, Python: true}, name, "")
	return m.Args, len(text) - m.End, ok && !m.Open
}

// FromDamaged returns the likely value of the member key, of the type t, in a damaged text. The
// text is everything in the value's tag. It returns false if it is not clear what the text means.
func FromDamaged(text, key string, t *schema.Type) (string, bool) {
	text = "{" + schema.Quote(key) + ": " + text + "}"
	m, ok := Decide(text, repair.Args{Type: schema.Holding(key, t)}, "", "")
	fields := scan.Fields(m.Args)
	if !ok || m.Open || strings.Trim(text[min(m.End, len(text)):], "]})") != "" ||
		len(fields) != 1 || fields[0].Key != key {
		return "", false
	}
	return fields[0].Value, true
}

// absent returns the names of the members that a type lists and an object does not have.
func absent(object string, t *schema.Type) (names []string) {
	fields := scan.Fields(object)
	for _, name := range t.Members() {
		if !slices.ContainsFunc(fields, func(m scan.Field) bool { return m.Key == name }) {
			names = append(names, name)
		}
	}
	return names
}

// swallows reports whether the value of damaged arguments has a string that seems to contain the
// structure after it, see swallowed. The model is then asked once more. The result is also true if
// two strings have a surplus quotation mark, because they are then pieces of one string; a single
// one may be intended. If behind is 1, there is a surplus mark after the arguments, which counts
// like such a string.
func swallows(value string, absent []string, behind int) bool {
	odd := behind
	for _, text := range texts(value, nil) {
		if swallowed(text, absent) {
			return true
		}
		if parts := strings.Split(text, `"`); len(parts)%2 == 0 {
			// 5" are inches
			if before := parts[len(parts)-2]; before == "" || !scan.IsDigit(before[len(before)-1]) {
				odd++
			}
		}
	}
	return odd > 1
}

// texts appends the strings in a JSON value to a list.
func texts(value string, list []string) []string {
	switch value[0] {
	case '"':
		list = append(list, scan.Unquote(value))
	case '{':
		for _, m := range scan.Fields(value) {
			list = texts(m.Value, list)
		}
	case '[':
		var items []json.RawMessage
		_ = json.Unmarshal([]byte(value), &items)
		for _, item := range items {
			list = texts(string(item), list)
		}
	}
	return list
}

// brackets are the pairs of brackets.
var brackets = []string{"{}", "[]", "()", "｛｝", "［］", "（）"}

// trace matches what occurs in a string only if the string has swallowed structure: a method call
// after a quotation mark, only signs between two single marks, a plus sign at the end, or an
// opening mark without its partner.
var trace = regexp.MustCompile(
	`["']\.\w+\([^()]*\)$|'\s*[,;:&|+.{\[]+\s*'|'\s*,\s*[\[{]|^“.*”$|^«.*»$|\s\+\s*$|^'[^']*$|^“[^”]*$|^«[^»]*$|^\x60[^\x60]*$|^[rbu@$]"[^"]*$`)

// border matches the beginning or end of a string that has swallowed a sign of structure, or
// whatever replaced its quotation mark: a leading colon, a mark next to a sign, a sign that looks
// like a mark, a fence.
var border = regexp.MustCompile(
	`^[\s\x{FEFF}\x{200B}]*[:=,;]|^[)\]}]|\n\s*[,:]\s*$|"\s*[,:=]\s*$|[^=]=$|^[´″‟‹]|[´″›]$|^&(?:quot|#34|#39|apos);|&(?:quot|#34|#39|apos);$|^\x60{3}\w*\n[\s\S]*\n\x60{3}$|"\s+"`)

// edge matches a quotation mark that only blanks separate from the beginning or end of a text.
// lonely matches one that only signs separate from it.
var edge, lonely = regexp.MustCompile(`^\s+"|"\s+$`), regexp.MustCompile(
	`^[^\pL\pN\s"]{1,3}"|"[^\pL\pN\s"]{1,3}$`)

// endsInQuote reports whether a text ends in a quotation mark without a partner. Such a mark may be
// the string's own closing mark, damaged or doubled. An apostrophe between two letters is not a
// quotation mark, and 5" means inches.
func endsInQuote(text string) bool {
	if before, ok := strings.CutSuffix(text, `"`); ok && before != "" {
		last := before[len(before)-1]
		return last == '"' || strings.Count(before, `"`)%2 == 0 && !scan.IsDigit(last)
	}
	if !strings.HasSuffix(text, "'") {
		return false
	}
	quotes := 0
	for i := range len(text) {
		if text[i] == '\'' && (i == 0 || i+1 == len(text) || !scan.IsWord(int(text[i-1])) ||
			!scan.IsWord(int(text[i+1]))) {
			quotes++
		}
	}
	return quotes%2 == 1
}

// assigned matches an equals sign or a colon before a quotation mark.
var assigned = regexp.MustCompile(`^["']?\s*[:=]\s*["']`)

// swallowed reports whether a string seems to contain keys or brackets of the arguments, or to have
// lost its end. That is so if the string has a bracket without a partner, or the name of a
// parameter that the call lacks (absent). It is also so if the string has a quotation that begins
// with a closing sign or contains only signs.
func swallowed(text string, absent []string) bool {
	for _, pair := range brackets {
		half := len(pair) / 2
		opened, closed := strings.Count(text, pair[:half]), strings.Count(text, pair[half:])
		if opened > closed || opened < closed && strings.HasSuffix(strings.TrimRight(text, " "),
			pair[half:]) {
			return true
		}
	}
	for _, name := range absent {
		if _, rest, ok := strings.Cut(text, name); ok && assigned.MatchString(rest) {
			return true
		}
		if i := strings.Index(text, name); i >= 0 && (i == 0 || !scan.IsWord(int(text[i-1]))) {
			rest := strings.TrimLeft(text[i+len(name):], `"' `)
			if rest != "" && (rest[0] == ':' || rest[0] == '=') {
				return true
			}
		}
	}
	return trace.MatchString(text) || border.MatchString(text) || endsInQuote(text) ||
		strings.Count(text, `"`)%2 == 1 && edge.MatchString(text) ||
		strings.Count(text, `"`) == 1 && lonely.MatchString(text) ||
		unpaired(strings.Split(text, `"`))
}

// unpaired reports whether the quotation marks of a text are not in pairs. The text was divided at
// these marks into parts, so every second part should be a quotation. The result is true if one of
// them does not look like a quotation.
func unpaired(parts []string) bool {
	for i := 1; i+1 < len(parts); i += 2 {
		before, inside := parts[i-1], parts[i]
		if inside == "" {
			continue
		}
		ends := before != "" && before[len(before)-1] > ' ' &&
			strings.IndexByte(",;:)]}.", inside[0]) >= 0
		if ends || strings.Trim(inside, "{[(,:; ") == "" {
			return true
		}
	}
	return false
}

// lead is the difference in cost by which the meaning that the Reader found must be cheaper than
// any other. It is less than the margin of the search, because here two ways of reading agree.
const lead = 3

// one returns the only likely meaning in all, and false if there is none or more than one. The
// slice fits says for each meaning whether it fits the schema. If some fit, only these are
// considered, and otherwise all, so that the schema check can report the error. The result is also
// false if a meaning that does not fit is much cheaper than all that fit, because the model then
// probably wrote none of these. The meaning of direct (see Decide) is returned even among several
// if all others cost much more.
func one(all []Meaning, fits []bool, direct string) (m Meaning, ok bool) {
	var likely []Meaning
	for i, m := range all {
		if fits[i] || !slices.Contains(fits, true) {
			likely = append(likely, m)
		}
	}
	if len(likely) == 0 || likely[0].unsure || likely[0].Cost > all[0].Cost+lead {
		return m, false
	}
	at := slices.IndexFunc(likely, func(m Meaning) bool { return m.plain == direct })
	switch {
	case at >= 0:
		m = likely[at]
		return m, !slices.ContainsFunc(likely, func(o Meaning) bool {
			return o.Args != m.Args && o.Cost < m.Cost+lead
		})
	case len(likely) > 1:
		return m, false
	}
	return likely[0], slices.Contains(fits, true)
}

// meant converts the arguments of a reading to the types of the schema, and reports whether they
// fit. Arguments that lost a value do not fit, because the value would have to be invented. An
// object around the arguments is removed. The Meaning is empty if the text of the reading is not
// one complete value or, for a tool, not an object.
func meant(r repair.Reading, t *schema.Type, name string) (Meaning, bool) {
	doc := readDocument(r.Text, t)
	if doc == nil || !doc.whole {
		return Meaning{}, false
	}
	out := doc.out
	if name != "" {
		if args, ok := Unwrapped(name, t, out); ok {
			out = args
		}
		if out[0] != '{' {
			return Meaning{}, false
		}
	}
	return Meaning{Args: out, Cost: r.Cost, End: r.End, Open: r.Open(), unsure: r.Unsure() ||
		r.Lost()}, !r.Lost() && Fits(out, t)
}

// Fits reports whether a value has the type that the schema demands, with all required members and
// no member twice. Members that the schema does not list are allowed, as in most schemas. Fits does
// not check the whole schema: patterns and bounds are checked when the call is sent.
func Fits(value string, t *schema.Type) bool {
	kind := schema.KindOf(value)
	if t.Known() && !t.Allows(kind) {
		return false
	}
	switch kind {
	case schema.Object:
		var seen []string
		for _, m := range scan.Fields(value) {
			if slices.Contains(seen, m.Key) || !Fits(m.Value, t.Prop(m.Key)) {
				return false
			}
			seen = append(seen, m.Key)
		}
		return !slices.ContainsFunc(t.Required(), func(key string) bool {
			return !slices.Contains(seen, key)
		})
	case schema.Array:
		var list []json.RawMessage
		_ = json.Unmarshal([]byte(value), &list)
		for i, item := range list {
			if !Fits(string(item), t.ItemAt(i)) {
				return false
			}
		}
	default:
		return len(t.Enum()) == 0 || slices.Contains(t.Enum(), value)
	}
	return true
}

// SameJSON reports whether two JSON texts differ only in white space, the spelling of strings, or
// the order of members.
func SameJSON(a, b string) bool {
	return a == b || plainJSON(a) == plainJSON(b)
}

// plainJSON returns a JSON text in one form, so that two can be compared: without white space, with
// strings in one spelling, and with members in alphabetical order, because no tool depends on their
// order. Numbers are not changed. A text that is not JSON is returned unchanged.
func plainJSON(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return text
	}
	out, _ := json.Marshal(v)
	return string(out)
}
