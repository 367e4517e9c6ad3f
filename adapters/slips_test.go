package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// Wrong arguments that fit a tool's schema are the worst that the decoder can give: they run. These
// tests write calls as a family does, make one slip in their structure, and read them: what comes
// out may be what was meant, or nothing.

// slipTools are tools whose schemas make wrong arguments easy to miss: most members may be left
// out, and free ones come in.
var slipTools = []chat.Tool{
	{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"count":{"type":"integer"},
		"ratio":{"type":"number"},"done":{"type":"boolean"},"note":{"type":["string","null"]},"where":{"type":"object","properties":{"city":{"type":"string"},"zip":{"type":"string"},"at":{"type":"array","items":{"type":"number"}}}},
		"steps":{"type":"array","items":{"type":"object","properties":{"do":{"type":"string"},"n":{"type":"integer"},"args":{"type":"array","items":{"type":"string"}}},"required":["do"]}}},"required":["title"]}`)},
	{Name: "invite", Schema: json.RawMessage(`{"type":"object","properties":{"guests":{"type":"array","items":{"type":"string"}},"when":{"type":"string"}},"required":["guests"]}`)},
	{Name: "label", Schema: json.RawMessage(`{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}}}}`)},
	{Name: "save", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"mode":{"type":"string","enum":["append","replace"]},"line":{"type":"integer"}},"required":["path","content"]}`)},
	{Name: "send", Schema: json.RawMessage(`{"type":"object","properties":{"channel":{"type":"string"},"text":{"type":"string"},"urgent":{"type":"boolean"},"extra":{"type":"object"},"grid":{"type":"array","items":{"type":"array","items":{"type":"number"}}}},"required":["channel","text"]}`)},
	{Name: "say", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
}

// slipTexts are texts that look like structure.
var slipTexts = []string{
	"plain", "two words", `if (x) { return "a, b"; }`, `say "hi", then go`, `the "best" one`, "it's here", "a, b, c", "key: value", `{"a": 1}`, "[1, 2]", "東京、大阪：「晴れ」", "한국어, 영어",
	"line\nbreak", "print(\"x, y\")\nreturn [1]", "", "42", "true", "x = 1; y = 2", "https://a.b/c?d=e&f=g", "don't, won't", "(a) or [b]", "f(x=1, y='z')", `"quoted"`,
	`C:\Users\ann\new.txt`, `\alpha \beta \nu \textbf{x}`, `\w+@\d{2}\.com`, "# Title\n\n- a **b**\n- [c](d.md)", `{"k": ["v", {"n": 1}]}`, "Добрый день, мир", "नमस्ते, दुनिया", "مرحبا، «عالم»", "好的，谢谢", "שלום (עולם)",
	"<b>x</b>", "<tool_call> is a mark", "a.txt", "/srv/app/main.go", "SELECT * FROM t WHERE a = 'x'", "def f(a):\n    return \"a\" + 'b'", "-- note\n// no comment", "100%; 5\"", "a\tb",
}

// slipCall is a call whose texts stand apart: args hold a name in the place of each.
type slipCall struct {
	tool  *schema.Type
	name  string
	args  string
	texts []string
}

func randomSlipCall(r *rand.Rand) slipCall {
	c := slipCall{}
	text := func() string {
		c.texts = append(c.texts, slipTexts[r.Intn(len(slipTexts))])
		return fmt.Sprintf(`"zq%dzq"`, len(c.texts)-1)
	}
	list := func(most int, item func() string) string {
		var out []string
		for range r.Intn(most + 1) {
			out = append(out, item())
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	whole := func() string { return fmt.Sprint(r.Intn(2000) - 1000) }
	var members []string
	put := func(often int, key string, value func() string) {
		if r.Intn(100) < often {
			members = append(members, fmt.Sprintf("%q:%s", key, value()))
		}
	}
	tool := slipTools[max(r.Intn(9)-3, 0)]
	switch tool.Name {
	case "plan":
		put(100, "title", text)
		put(50, "tags", func() string { return list(3, text) })
		put(50, "count", whole)
		put(30, "ratio", func() string { return fmt.Sprintf("%d.25", r.Intn(90)) })
		put(30, "done", func() string { return fmt.Sprint(r.Intn(2) == 0) })
		put(30, "note", func() string { return []string{"null", text()}[r.Intn(2)] })
		put(40, "where", func() string {
			return fmt.Sprintf(`{"city":%s,"at":[%d.5,%d.5]}`, text(), r.Intn(90), r.Intn(90))
		})
		put(40, "steps", func() string {
			return list(2, func() string { return fmt.Sprintf(`{"do":%s,"n":%s,"args":%s}`, text(), whole(), list(2, text)) })
		})
	case "invite":
		put(100, "guests", func() string { return list(3, text) })
		put(70, "when", text)
	case "label":
		put(80, "tags", func() string { return list(3, text) })
		put(80, "ids", func() string { return list(3, whole) })
	case "save":
		put(100, "path", text)
		put(100, "content", text)
		put(40, "mode", func() string { return []string{`"append"`, `"replace"`}[r.Intn(2)] })
		put(40, "line", whole)
	case "send":
		put(100, "channel", text)
		put(100, "text", text)
		put(50, "urgent", func() string { return fmt.Sprint(r.Intn(2) == 0) })
		put(40, "extra", func() string {
			return fmt.Sprintf(`{"a":%s,"n":%s,"l":[{"d":%s}]}`, text(), whole(), text())
		})
		put(40, "grid", func() string { return fmt.Sprintf(`[[%d.5,2],[3,%d.5]]`, r.Intn(90), r.Intn(90)) })
	case "say":
		put(100, "text", text)
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	c.name, c.args, c.tool = tool.Name, "{"+strings.Join(members, ",")+"}", schema.Compile(tool.Schema)
	return c
}

var placeholder = regexp.MustCompile(`zq(\d+)zq`)

// meant is the call's arguments with their texts.
func (c *slipCall) meant() string {
	return placeholder.ReplaceAllStringFunc(c.args, func(s string) string { return insideQuotes(c.text(s)) })
}

func (c *slipCall) text(name string) string {
	var n int
	fmt.Sscanf(name, "zq%dzq", &n)
	return c.texts[n]
}

// written is a call as a family writes it, names in the place of texts.
type written struct {
	*slipCall
	frame string            // the whole, with names
	quote map[string]string // what stands in front of each name
	from  int               // where the tool's name ends
	as    map[string]string // texts that are spelled otherwise
}

func writeSlip(f *Format, c *slipCall) *written {
	w := &written{slipCall: c, quote: map[string]string{}, as: map[string]string{}}
	w.frame = string(f.Append(nil, chat.Call{Name: c.name, Args: json.RawMessage(c.args)}))
	for _, at := range placeholder.FindAllStringIndex(w.frame, -1) {
		w.quote[w.frame[at[0]:at[1]]] = w.frame[max(at[0]-2, 0):at[0]]
	}
	w.from = strings.Index(w.frame, c.name) + len(c.name)
	if i := strings.Index(w.frame, print.JSON.Value(c.args)); i > 0 {
		w.from = i
	}
	return w
}

// fill puts the texts in, each as its quotes want it.
func (w *written) fill(frame string) string {
	return placeholder.ReplaceAllStringFunc(frame, func(name string) string {
		if s, ok := w.as[name]; ok {
			return s
		}
		text, quote := w.text(name), w.quote[name]
		switch {
		case strings.HasSuffix(quote, `\"`):
			return inQuotesTwice(text)
		case strings.HasSuffix(quote, `"`):
			return insideQuotes(text)
		case strings.HasSuffix(quote, `'`):
			return strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text)
		}
		return text
	})
}

func insideQuotes(text string) string {
	q := schema.Quote(text)
	return q[1 : len(q)-1]
}

func inQuotesTwice(text string) string { return insideQuotes(insideQuotes(text)) }

// slip is one way to get structure wrong.
type slip struct {
	name string
	make func(r *rand.Rand, w *written) string // the whole text; empty where the call has no place for it
	edit func(r *rand.Rand, w *written) string // the frame, for slips in the frame alone: these can follow each other
}

// edits is a slip in the frame alone.
func edits(name string, edit func(r *rand.Rand, w *written) string) slip {
	return slip{name, func(r *rand.Rand, w *written) string {
		if frame := edit(r, w); frame != "" {
			return w.fill(frame)
		}
		return ""
	}, edit}
}

// replacing makes one of some pieces of structure another one.
func replacing(name string, pairs ...string) slip {
	return edits(name, func(r *rand.Rand, w *written) string {
		k := 2 * r.Intn(len(pairs)/2)
		at := places(w, pairs[k])
		if len(at) == 0 {
			return ""
		}
		i := at[r.Intn(len(at))]
		return w.frame[:i] + pairs[k+1] + w.frame[i+len(pairs[k]):]
	})
}

// everywhere makes all of some pieces of structure another one.
func everywhere(name string, pairs ...string) slip {
	return edits(name, func(r *rand.Rand, w *written) string {
		k := 2 * r.Intn(len(pairs)/2)
		if len(places(w, pairs[k])) == 0 {
			return ""
		}
		return w.frame[:w.from] + strings.ReplaceAll(w.frame[w.from:], pairs[k], pairs[k+1])
	})
}

// places are where a piece of structure stands behind the tool's name.
func places(w *written, piece string) (at []int) {
	whole := tokens.FindAllStringIndex(w.frame, -1)
	for i := w.from; i+len(piece) <= len(w.frame); i++ {
		inside := slices.ContainsFunc(whole, func(span []int) bool { return span[0] <= i && i < span[1] && span[1]-span[0] != len(piece) })
		if strings.HasPrefix(w.frame[i:], piece) && !inside {
			at = append(at, i)
		}
	}
	return at
}

// tokens are marks that a tokenizer holds as one: a model writes them whole or not at all.
var tokens = regexp.MustCompile(`</?\w+:\w+|</?[|｜][^>]*>|<[^<>|]*\|>|\]<\]minimax\[>\[|<escape>|\[[A-Z_]+\]|\d,-?\d`)

// mapped writes the arguments of a family of JSON objects in another way.
func mapped(name string, as func(args string) string) slip {
	return slip{name, func(r *rand.Rand, w *written) string {
		args := print.JSON.Value(w.args)
		before, after, ok := strings.Cut(w.frame, args)
		if !ok {
			return ""
		}
		return w.fill(before) + as(w.fill(args)) + w.fill(after)
	}, nil}
}

// spelled writes one text with some of its bytes as they are.
func spelled(name, bytes string, as func(quoted string) string) slip {
	return slip{name, func(r *rand.Rand, w *written) string {
		var names []string
		for name, quote := range w.quote {
			if strings.HasSuffix(quote, `"`) && !strings.HasSuffix(quote, `\"`) && strings.Contains(w.text(name), bytes) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return ""
		}
		slices.Sort(names)
		name := names[r.Intn(len(names))]
		w.as[name] = as(insideQuotes(w.text(name)))
		defer delete(w.as, name)
		return w.fill(w.frame)
	}, nil}
}

var slips = []slip{
	replacing("comma dropped", ", ", " ", ",", "", ", ", "\n"),
	replacing("comma doubled", ",", ",,", ",", ", ,"),
	replacing("comma swapped", ",", ";", ",", ":", ",", ".", ",", "，", ", ", " and "),
	replacing("comma added", "}", ",}", "]", ",]", ")", ",)", "{", "{,", "[", "[,"),
	replacing("colon dropped", ":", "", ": ", " ", "=", ""),
	replacing("colon doubled", ":", "::", "=", "=="),
	replacing("colon swapped", ":", "=", ":", ",", ":", ";", ":", "=>", "=", ":", ":", "："),
	replacing("quote dropped", `"`, "", `"`, "", `'`, "", `<|"|>`, "", "<escape>", ""),
	replacing("quote doubled", `"`, `""`, `'`, `''`, `<|"|>`, `<|"|><|"|>`),
	replacing("quote swapped", `"`, `'`, `'`, `"`, `"`, "“", `"`, "`", `"`, `\"`, `<|"|>`, `"`, "<escape>", "'"),
	replacing("opener dropped", "{", "", "[", "", "(", ""),
	replacing("opener doubled", "{", "{{", "[", "[[", "(", "(("),
	replacing("opener swapped", "{", "[", "[", "{", "[", "(", "(", "[", "{", "("),
	replacing("closer dropped", "}", "", "]", "", ")", ""),
	replacing("closer doubled", "}", "}}", "]", "]]", ")", "))"),
	replacing("closer wrong", "}", "]", "]", "}", "]", ")", ")", "]", "}", ")", ")", "}"),
	replacing("closer early", ", ", "}, ", ", ", "], ", ",", "},", ", ", "), "),
	replacing("closers swapped", "]}", "}]", "}]", "]}", "})", ")}", "])", ")]"),
	replacing("one list as set", `["zq`, `{"zq`, `["zq`, `("zq`, "['zq", "{'zq"),
	replacing("comment", ", ", ", /* one */ ", ", ", ", // two\n", ",", ", # three\n", "}", " /* end */}", ": ", ": /* four */ "),
	replacing("odd blanks", " ", "\u00a0", ",", "\u3000,", ":", " :\n\t", "{", "{\u200b", "}", "\r\n}", " ", "\t"),
	replacing("literal", "true", "True", "false", "False", "null", "None", "True", "true", "False", "false", "None", "null", "null", "nil", "true", "yes"),
	everywhere("single quotes", `"`, `'`),
	everywhere("unquoted keys", `"title"`, "title", `"tags"`, "tags", `"when"`, "when", `"text"`, "text", `"count"`, "count", `"do"`, "do", `"city"`, "city", `"guests"`, "guests"),
	everywhere("semicolons", ",", ";"),
	everywhere("no commas", ", ", " ", ",", "\n"),
	everywhere("tuples", "[", "(", "]", ")"),
	edits("sets", func(_ *rand.Rand, w *written) string {
		return w.frame[:w.from] + strings.NewReplacer("[", "{", "]", "}").Replace(w.frame[w.from:])
	}),
	edits("lists as tuples", func(_ *rand.Rand, w *written) string {
		return w.frame[:w.from] + strings.NewReplacer("[", "(", "]", ")").Replace(w.frame[w.from:])
	}),
	replacing("comment with quotes", ", ", ", // was \"x\"\n", ", ", ", /* \"no\": 1, */ ", ",", ", # not \"y\"\n", ", ", ", <!-- \"z\" --> ", "{", "{ // \"a\": 1\n", "}", " // don't say \"b\"\n}"),
	replacing("member commented out", ", ", ", // \"count\": 20,\n ", ", ", ", # \"note\": \"x\",\n ", ", ", ", /* \"line\": 1, */ "),
	replacing("key's quote doubled", `, "`, `, ""`, `{"`, `{""`),
	replacing("key's quote dropped", `": `, `: `, `, "`, `, `),
	replacing("ellipsis", "]", ", ...]", "}", ", ...}"),
	replacing("list opener dropped", ": [", ": "),
	replacing("brace opener dropped", ": {", ": "),
	replacing("last closers dropped", "]}", "", "}}", "}", "]}", "]"),
	replacing("escaped brackets", "[", `\[`, "_", `\_`),
	replacing("a word in between", ", ", ", and ", ": ", ": is "),
	spelled("quotes escaped twice", `"`, func(s string) string { return strings.ReplaceAll(s, `\"`, `\\"`) }),
	spelled("backslashes single", `\`, func(s string) string { return strings.ReplaceAll(s, `\\`, `\`) }),
	spelled("apostrophes escaped", `'`, func(s string) string { return strings.ReplaceAll(s, `'`, `\'`) }),
	spelled("slashes escaped", `/`, func(s string) string { return strings.ReplaceAll(s, `/`, `\/`) }),
	spelled("tab as it is", "\t", func(s string) string { return strings.ReplaceAll(s, `\t`, "\t") }),
	mapped("Python's repr", print.Python.Value),
	mapped("doubly escaped", insideQuotes),
	several(2), several(3),
	spelled("inner quote", `"`, func(s string) string { return strings.ReplaceAll(s, `\"`, `"`) }),
	spelled("one inner quote", `"`, func(s string) string { return strings.Replace(s, `\"`, `"`, 1) }),
	spelled("inner newline", "\n", func(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }),
	mapped("in a string", schema.Quote),
	mapped("in a bad string", func(args string) string { return `"` + args + `"` }),
	mapped("in a list", func(args string) string { return "[" + args + "]" }),
	mapped("wrapped", func(args string) string { return `{"arguments": ` + args + "}" }),
	mapped("wrapped string", func(args string) string { return `{"arguments": ` + schema.Quote(args) + "}" }),
	mapped("braceless", func(args string) string { return args[1:] }),
	{"no end mark", func(_ *rand.Rand, w *written) string {
		end := strings.TrimRight(w.frame, "\n")
		if i := strings.LastIndexAny(end, "<["); i > w.from {
			return w.fill(end[:i])
		}
		return ""
	}, nil},
	{"truncated", func(r *rand.Rand, w *written) string {
		whole := w.fill(w.frame)
		return whole[:r.Intn(len(whole))]
	}, nil},
}

// several makes a few slips in one call.
func several(n int) slip {
	return slip{fmt.Sprintf("%d slips", n), func(r *rand.Rand, w *written) string {
		all := *w
		for range n {
			s := oneEdit(r)
			if frame := s.edit(r, &all); frame != "" {
				all.frame = frame
			}
		}
		return all.fill(all.frame)
	}, nil}
}

// oneEdit is a slip in the frame.
func oneEdit(r *rand.Rand) slip {
	return [...]slip{
		replacing("", ", ", " "), replacing("", `"`, ""), replacing("", "]", ""), replacing("", "}", ""), replacing("", ", ", "; "), replacing("", ": ", " "),
		replacing("", ", ", ", // \"x\": 1\n"), replacing("", "]", ",]"), replacing("", `"`, `'`), replacing("", "true", "True"), replacing("", "[", ""), replacing("", `"`, `""`),
	}[r.Intn(12)]
}

// slipClass is what came of a slip.
type slipClass int

const (
	asMeant    slipClass = iota
	noCall               // none, or one that stays open
	misfit               // other arguments, that do not fit the schema: they are told apart later
	wrongValid           // other arguments that fit
	slipClasses
)

// readSlip decodes a text and says what came of it.
func readSlip(t *testing.T, f *Format, raw, finish string, c *slipCall) (slipClass, []string) {
	t.Helper()
	var name, args string
	var got []string
	class := noCall
	for e, err := range f.Decode(golden.Source([]string{raw}, finish), Options{Tools: slipTools}) {
		must.OK(t, err)
		switch e.Kind {
		case chat.CallStart:
			name, args = e.Text, ""
		case chat.CallArgs:
			args += e.Text
		case chat.CallEnd:
			got = append(got, name+" "+args)
			one := wrongValid
			if name == c.name && sameJSON(t, args, c.meant()) {
				one = asMeant
			} else if name == c.name && !lenient.Fits(args, c.tool) {
				one = misfit
			}
			if class == noCall || one > class {
				class = one
			}
		}
	}
	return class, got
}

// slipLimits are the limits of each notation: how many damaged calls in 1,000 may be wrong and fit,
// and how many in 100 must be read as meant. Tags are damaged between their values as well, which
// the reader of tags judges.
var slipLimits = map[string]struct{ wrong, exact int }{
	"JSON":      {2, 79},
	"key:value": {3, 76},
	"Python":    {2, 54},
	"tags":      {10, 78},
}

// TestSlipsGiveNoWrongArguments makes slips in calls of every family. TOOLNORM_SLIPS is how many
// calls of a family it makes, and which seed: "400,11" is a long run on calls that nobody looked
// at.
func TestSlipsGiveNoWrongArguments(t *testing.T) {
	rounds, seed := 40, int64(5)
	if testing.Short() {
		rounds = 4
	}
	fmt.Sscanf(os.Getenv("TOOLNORM_SLIPS"), "%d,%d", &rounds, &seed)
	count := make([][slipClasses]int, len(slips))
	families := map[string]*[slipClasses]int{}
	for _, f := range All() {
		r := rand.New(rand.NewSource(seed))
		before := sum(count)
		for range rounds {
			slipOnce(t, f, r, count)
		}
		after := sum(count)
		for k := range after {
			after[k] -= before[k]
		}
		families[notationOf(f)] = add(families[notationOf(f)], after)
	}
	var table strings.Builder
	row := func(name string, n [slipClasses]int) {
		damaged := n[asMeant] + n[noCall] + n[misfit] + n[wrongValid]
		fmt.Fprintf(&table, "%-22s %7d %7d %7d %7d %6.1f %% %9.2f in 1,000\n", name, n[asMeant], n[noCall], n[misfit], n[wrongValid], 100*float64(n[asMeant])/float64(max(damaged, 1)), 1000*float64(n[wrongValid])/float64(max(damaged, 1)))
	}
	for i, s := range slips {
		row(s.name, count[i])
	}
	all := sum(count)
	for name, n := range families {
		row("in "+name, *n)
		damaged := n[asMeant] + n[noCall] + n[misfit] + n[wrongValid]
		limit := slipLimits[name]
		if 1000*n[wrongValid] > limit.wrong*damaged+1000 { // one call is no figure
			t.Errorf("%s: of %d damaged calls %d are wrong and fit, more than %d in 1,000", name, damaged, n[wrongValid], limit.wrong)
		}
		if 100*n[asMeant] < limit.exact*damaged {
			t.Errorf("%s: of %d damaged calls only %d are read as meant, less than %d in 100", name, damaged, n[asMeant], limit.exact)
		}
	}
	row("all", all)
	t.Logf("seed %d\n%-22s %7s %7s %7s %7s\n%s", seed, "slip", "meant", "none", "misfit", "wrong", table.String())
	if all[asMeant] < 2*all[noCall] {
		t.Errorf("of %d slips only %d are mended: nothing is easier than reading no call", all[asMeant]+all[noCall]+all[misfit], all[asMeant])
	}
}

func sum(count [][slipClasses]int) (all [slipClasses]int) {
	for i := range count {
		add(&all, count[i])
	}
	return all
}

func add(to *[slipClasses]int, n [slipClasses]int) *[slipClasses]int {
	if to == nil {
		to = new([slipClasses]int)
	}
	for k := range n {
		to[k] += n[k]
	}
	return to
}

// notationOf returns how a family writes the arguments of its calls.
func notationOf(f *Format) string {
	for _, p := range f.Calls {
		switch {
		case p.Index("args") >= 0:
			return "tags"
		case p.Index("python") >= 0:
			return "Python"
		case p.Index("pseudo") >= 0:
			return "key:value"
		}
	}
	return "JSON"
}

// unharmed reports whether a text is still well formed: its first value is strict JSON, and what
// stands around is as it was.
func unharmed(raw, clean string) bool {
	i := strings.IndexAny(raw, "{[")
	k := strings.IndexAny(clean, "{[")
	if i < 0 || k < 0 || raw[:i] != clean[:k] {
		return false
	}
	rest := func(text string) (string, bool) {
		d := json.NewDecoder(strings.NewReader(text))
		var v any
		err := d.Decode(&v)
		return text[d.InputOffset():], err == nil
	}
	a, ok := rest(raw[i:])
	b, _ := rest(clean[k:])
	return ok && a == b
}

// slipOnce makes each slip in one call of a family, where the family can write the call: not a text
// in a tag that ends with a newline, nor a null. A text that is still well formed is not damaged;
// one that is cut is read right where nothing runs.
func slipOnce(t *testing.T, f *Format, r *rand.Rand, count [][slipClasses]int) {
	t.Helper()
	c := randomSlipCall(r)
	w := writeSlip(f, &c)
	clean := w.fill(w.frame)
	if class, _ := readSlip(t, f, clean, chat.Stop, &c); class != asMeant {
		return
	}
	for i, s := range slips {
		raw := s.make(r, w)
		finish := []string{chat.Stop, chat.Length}[r.Intn(2)]
		cut := s.name == "truncated"
		if cut {
			finish = chat.Length // by its own end mark a model says that only closers are missing
		}
		if raw == "" || raw == clean || unharmed(raw, clean) {
			continue
		}
		class, got := readSlip(t, f, raw, finish, &c)
		if cut && class == noCall {
			class = asMeant
		}
		count[i][class]++
		if class == wrongValid && testing.Verbose() {
			t.Logf("%s, %s (%s)\nraw  %q\ngot  %q\nwant %s", f.Name, s.name, finish, raw, got, c.meant())
		}
	}
}

// FuzzSlips makes slips in calls that nobody has thought of.
func FuzzSlips(f *testing.F) {
	formats := All()
	for i := range formats {
		f.Add(int64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed int64, which uint8) {
		slipOnce(t, formats[int(which)%len(formats)], rand.New(rand.NewSource(seed)), make([][slipClasses]int, len(slips)))
	})
}
