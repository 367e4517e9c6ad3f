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

// Meaning is what damaged arguments were found to mean.
type Meaning struct {
	Args string // strict JSON, as the schema wants it
	Cost int    // what its cheapest reading costs
	End  int    // where the arguments end in their text
	Open bool   // the text ended before they did

	unsure bool // the reading rests on a guess

	plain string // the value as plainJSON spells it
}

// Decide decides what damaged arguments of the tool called name mean: of all ways to read them that
// are likely, only the one. today is what was read of them, "" where nothing was. ok is false where
// they can mean different things, or nothing. Values are compared, not texts: two ways to read a
// text that give the same arguments are no doubt. The cheapest reading comes first, so of equal
// values the cheaper one stays. Strict JSON of each is read once more for the types of the schema:
// there is one reader of types.
func Decide(text string, g repair.Args, name, today string) (m Meaning, ok bool) {
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
	if today != "" {
		today = plainJSON(today)
	}
	m, ok = one(all, fits, today)
	return m, ok && !swallows(m.Args, absent(m.Args, g.Type), strings.Count(text[min(m.End, len(text)):], `"`)%2)
}

// Keywords reads the arguments of a Python call of a tool, up to the end of their text, behind
// which n bytes were left.
func Keywords(text, name string, t *schema.Type) (args string, n int, ok bool) {
	m, ok := Decide(text, repair.Args{Type: t, Python: true}, name, "")
	return m.Args, len(text) - m.End, ok && !m.Open
}

// absent returns the members of a type that an object does not have.
func absent(object string, t *schema.Type) (names []string) {
	fields := scan.Fields(object)
	for _, name := range t.Members() {
		if !slices.ContainsFunc(fields, func(m scan.Field) bool { return m.Key == name }) {
			names = append(names, name)
		}
	}
	return names
}

// swallows reports whether a text in a value looks as if it had swallowed more than its own: see
// swallowed. Of texts with a quote too many one may be meant so; two of them, or one and a quote
// behind the arguments (behind is 1), are pieces of one. Only arguments that are damaged are asked,
// and what they lose is another question to the model.
func swallows(value string, absent []string, behind int) bool {
	odd := behind
	for _, text := range texts(value, nil) {
		if swallowed(text, absent) {
			return true
		}
		if parts := strings.Split(text, `"`); len(parts)%2 == 0 {
			if before := parts[len(parts)-2]; before == "" || !scan.IsDigit(before[len(before)-1]) { // 5" are inches
				odd++
			}
		}
	}
	return odd > 1
}

// texts appends the strings of a JSON value to a list.
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

// brackets are those that come in pairs.
var brackets = []string{"{}", "[]", "()", "｛｝", "［］", "（）"}

// trace is what a text is never written with, but when it has swallowed structure: a method's call
// behind its quote, signs alone between two single quotes, a plus sign at its end, one quote
// without its partner in front.
var trace = regexp.MustCompile(`["']\.\w+\([^()]*\)$|'\s*[,;:&|+.{\[]+\s*'|'\s*,\s*[\[{]|^“.*”$|^«.*»$|\s\+\s*$|^'[^']*$|^“[^”]*$|^«[^»]*$|^\x60[^\x60]*$|^[rbu@$]"[^"]*$`)

// border is what stands at the border of a text that has swallowed a sign of structure, or what was
// written in the place of its quote: a colon in front, a quote behind a sign or in front of one, a
// sign that looks like a quote, a fence.
var border = regexp.MustCompile(`^[\s\x{FEFF}\x{200B}]*[:=,;]|^[)\]}]|\n\s*[,:]\s*$|"\s*[,:=]\s*$|[^=]=$|^[´″‟‹]|[´″›]$|^&(?:quot|#34|#39|apos);|&(?:quot|#34|#39|apos);$|^\x60{3}\w*\n[\s\S]*\n\x60{3}$|"\s+"`)

// edge is a quote with blanks alone between it and the border of a text, lonely one with signs.
var edge, lonely = regexp.MustCompile(`^\s+"|"\s+$`), regexp.MustCompile(`^[^\pL\pN\s"]{1,3}"|"[^\pL\pN\s"]{1,3}$`)

// endsInQuote reports whether a text ends in a quote without a partner, which may be its own,
// damaged or doubled. An apostrophe between two letters is none, and 5" are inches.
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
		if text[i] == '\'' && (i == 0 || i+1 == len(text) || !scan.IsWord(int(text[i-1])) || !scan.IsWord(int(text[i+1]))) {
			quotes++
		}
	}
	return quotes%2 == 1
}

// assigned is a sign of equality or a colon in front of a quote.
var assigned = regexp.MustCompile(`^["']?\s*[:=]\s*["']`)

// swallowed reports whether a text shows the signs of structure that it has swallowed, or of an end
// that was cut off: a bracket without its partner, a quotation that begins like an end or holds
// signs alone, the name of a parameter that the call does not have.
func swallowed(text string, absent []string) bool {
	for _, pair := range brackets {
		half := len(pair) / 2
		opened, closed := strings.Count(text, pair[:half]), strings.Count(text, pair[half:])
		if opened > closed || opened < closed && strings.HasSuffix(strings.TrimRight(text, " "), pair[half:]) {
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
	return trace.MatchString(text) || border.MatchString(text) || endsInQuote(text) || strings.Count(text, `"`)%2 == 1 && edge.MatchString(text) || strings.Count(text, `"`) == 1 && lonely.MatchString(text) || unpaired(strings.Split(text, `"`))
}

// unpaired reports whether quotes between the parts of a text are not those of quotations.
func unpaired(parts []string) bool {
	for i := 1; i+1 < len(parts); i += 2 {
		before, inside := parts[i-1], parts[i]
		if inside == "" {
			continue
		}
		ends := before != "" && before[len(before)-1] > ' ' && strings.IndexByte(",;:)]}.", inside[0]) >= 0
		if ends || strings.Trim(inside, "{[(,:; ") == "" {
			return true
		}
	}
	return false
}

// lead is how much cheaper what was read must be than what else may be meant. It is less than the
// search's margin, since two ways of reading agree on it.
const lead = 3

// one returns the only likely one of some meanings, and false when there is no such meaning. Only
// those count that fit the schema, if any does: one that does not fit is counted only where nothing
// fits, so that the check names what is wrong. A meaning that does not fit but is cheaper speaks
// against all that do: it shows that what fits is not what was written.
func one(all []Meaning, fits []bool, today string) (m Meaning, ok bool) {
	var likely []Meaning
	for i, m := range all {
		if fits[i] || !slices.Contains(fits, true) {
			likely = append(likely, m)
		}
	}
	if len(likely) == 0 || likely[0].unsure || likely[0].Cost > all[0].Cost+lead {
		return m, false
	}
	at := slices.IndexFunc(likely, func(m Meaning) bool { return m.plain == today })
	switch {
	case at >= 0:
		m = likely[at]
		return m, !slices.ContainsFunc(likely, func(o Meaning) bool { return o.Args != m.Args && o.Cost < m.Cost+lead })
	case len(likely) > 1:
		return m, false
	}
	return likely[0], slices.Contains(fits, true)
}

// meant returns what one reading says in the types of the schema, and whether it fits them. A
// reading that lost a value fits nothing, since null would be made up. A wrapper around the
// arguments is removed as elsewhere.
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
	return Meaning{Args: out, Cost: r.Cost, End: r.End, Open: r.Open(), unsure: r.Unsure() || r.Lost()}, !r.Lost() && Fits(out, t)
}

// Fits reports whether a value is of the type that the schema wants, with the members that it asks
// for, each once. Members that it does not list are allowed, as most schemas do. It is less than
// the check of the whole schema: patterns and bounds are looked at when the call leaves. A member
// that stands twice says two things.
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
		return !slices.ContainsFunc(t.Required(), func(key string) bool { return !slices.Contains(seen, key) })
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

// SameJSON reports whether two JSON texts are one but for white space and the spelling of strings.
func SameJSON(a, b string) bool {
	return a == b || plainJSON(a) == plainJSON(b)
}

// plainJSON returns a JSON text without white space, its strings in one spelling; numbers stay as
// they are written. The order of members is lost as well, which no tool depends on.
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
