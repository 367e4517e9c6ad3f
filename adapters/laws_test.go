package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// words are values that are hard to write and to read again.
var words = []string{
	"Paris", "", " ", "two words", "it's", `say "hi"`, `back\slash`, `C:\temp\new`, "line\nbreak", "tab\there", "한국어", "日本語", "🙂🚀", "a < b && c > d",
	"</p>", "<b>bold</b>", "{", "}", "[1,2]", `{"a":1}`, "null", "true", "42", "007", "1e5", "x=1, y=2", "# comment", "// comment", "`code`", "é", "\u00a0", "'", `"`,
}

func randomWord(r *rand.Rand) string {
	s := words[r.Intn(len(words))]
	if r.Intn(3) == 0 {
		s += " " + words[r.Intn(len(words))]
	}
	return s
}

// randomCall is a call of one of the test tools.
func randomCall(r *rand.Rand) chat.Call {
	text := func() string { b, _ := json.Marshal(randomWord(r)); return string(b) }
	switch r.Intn(5) {
	case 0:
		return chat.Call{Name: "get_weather", Args: json.RawMessage(fmt.Sprintf(`{"city":%s,"days":%d}`, text(), r.Intn(100)-50))}
	case 1:
		return chat.Call{Name: "get_time", Args: json.RawMessage(`{}`)}
	case 2:
		return chat.Call{Name: "write_file", Args: json.RawMessage(fmt.Sprintf(`{"path":%s,"content":%s}`, text(), text()))}
	case 3:
		return chat.Call{Name: "search", Args: json.RawMessage(fmt.Sprintf(`{"query":%s}`, text()))}
	}
	return chat.Call{Name: "make_order", Args: json.RawMessage(fmt.Sprintf(
		`{"id":%d,"items":[{"sku":%s,"qty":%d}],"rush":%v,"weight":%d.5,"tags":[%s,%s]}`, r.Int63(), text(), r.Intn(9), r.Intn(2) == 0, r.Intn(90), text(), text()))}
}

// canPrint says whether a family can express a value: raw tags cannot keep a newline or a blank at
// the edge that belongs to the mark, and Gemma's delimiter cannot stand in a string.
func canPrint(f *Format, c chat.Call) bool {
	if len(f.Args) == 0 {
		return true
	}
	for _, m := range scan.Fields(string(c.Args)) {
		if text := scan.Unquote([]byte(m.Value)); strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n") {
			return false
		}
	}
	return true
}

func TestPrintedCallsAreReadAgain(t *testing.T) {
	tools := testTools(t)
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewSource(7))
			for i := range 1000 {
				if skipped(i) {
					continue
				}
				var calls []chat.Call
				for range 1 + r.Intn(3) {
					if c := randomCall(r); canPrint(f, c) && !slices.ContainsFunc(calls, c.Same) { // equal calls are one
						calls = append(calls, c)
					}
				}
				raw := string(f.Append(nil, calls...))
				got := decodeCalls(t, f, golden.Random(raw, r), Options{Tools: tools})
				if len(got) != len(calls) {
					t.Fatalf("%q\n%d calls read, %d printed", raw, len(got), len(calls))
				}
				for i := range calls {
					if got[i].Name != calls[i].Name || !sameJSON(t, string(got[i].Args), string(calls[i].Args)) {
						t.Fatalf("%q\ngot  %s %s\nwant %s %s", raw, got[i].Name, got[i].Args, calls[i].Name, calls[i].Args)
					}
				}
			}
		})
	}
}

// decodeCalls reads the finished calls of a reply.
func decodeCalls(t *testing.T, f *Format, cut []string, o Options) []chat.Call {
	t.Helper()
	return replyOf(t, f, cut, o).Calls
}

// soup shuffles marks, names and junk of all families.
func soup(r *rand.Rand) string {
	var marks []string
	for _, f := range All() {
		for _, list := range [][]*declaration.Pattern{f.Think, f.Plain, f.Sections, f.Calls, f.Args} {
			for _, p := range list {
				for _, part := range p.Parts {
					if part.Placeholder == "" {
						marks = append(marks, part.Lit.Text)
					}
				}
			}
		}
		marks = append(append(marks, f.Drop...), f.Ends...)
	}
	marks = append(marks, "get_weather", "get_time", "city", "Paris", `{"name": "get_weather", "arguments": {"city": "Oslo"}}`, `{"city":"Rome"}`, `{"name":"`, `"arguments":`,
		"{", "}", "[", "]", "(", ")", `"`, "'", ",", ":", "=", "\n", "\n\n", " ", "<", ">", "</", "`", "```", "```json\n", "\\", "3", "true", "None", "한", "🙂", "\xff", "\x00",
		"get_weather(city=\"Bonn\")", " to=functions.get_time", "<|start|>assistant", "Sure: ", "hello")
	var b strings.Builder
	for range 1 + r.Intn(30) {
		b.WriteString(marks[r.Intn(len(marks))])
	}
	return b.String()
}

func TestSoupNeverBreaksAnything(t *testing.T) {
	tools := testTools(t)
	n := 150
	if testing.Short() {
		n = 60
	}
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewSource(11))
			for i := range n {
				raw := soup(r)
				checkDecode(t, f, raw, []string{chat.Stop, chat.Length}[i%2], Options{Tools: tools, Hold: []int{HoldNone, HoldShort, HoldCall}[i%3]})
			}
		})
	}
}

// pieces of a reply, as damage moves them: marks, words, signs, white space.
var pieces = regexp.MustCompile(`<[^<>\s]{1,30}>|</|\n+| +|[\w-]+|.`)

// damage takes away, doubles, swaps or adds one or two pieces of a reply, and may cut it: what
// models do to their own marks.
func damage(r *rand.Rand, raw string) string {
	added := []string{"\n", " ", "}", "{", `"`, "'", "]", "[", ",", ":", "=", "(", ")", "\\", "/*", "//", "#", "```", "```json\n", "\u00a0", "true", "-->", "<!--", "</parameter>", "<tool_call>", ". ", "Sure: "}
	p := pieces.FindAllString(raw, -1)
	for range 1 + r.Intn(2) {
		i := r.Intn(len(p))
		switch add := added[r.Intn(len(added))]; r.Intn(5) {
		case 0:
			p[i] = ""
		case 1:
			p[i] += p[i]
		case 2:
			p[i] += add
		case 3:
			p[i] = add + p[i]
		case 4:
			p[i], p[max(i-1, 0)] = p[max(i-1, 0)], p[i]
		}
	}
	text := strings.Join(p, "")
	if r.Intn(3) == 0 {
		text = text[:r.Intn(len(text)+1)]
	}
	return text
}

func TestDamagedCasesBreakNothing(t *testing.T) {
	o := Options{Tools: testTools(t)}
	rounds := 10
	if testing.Short() {
		rounds = 1
	}
	r := rand.New(rand.NewSource(17))
	for _, g := range goldens(t) {
		for i := range rounds {
			if len(g.Raw) == 0 || len(g.Raw) > 1000 {
				continue
			}
			o.Hold = []int{HoldNone, HoldShort, HoldCall}[r.Intn(3)]
			checkDecode(t, Named(g.format), damage(r, g.Raw), []string{chat.Stop, chat.Length}[i%2], o)
		}
	}
}

// checkDecode holds every law that any input must obey.
func checkDecode(t *testing.T, f *Format, raw, finish string, o Options) {
	t.Helper()
	whole, err := transcript(f, []string{raw}, finish, o)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	if got, err := transcript(f, golden.Bytes(raw), finish, o); got != whole || err != nil {
		t.Fatalf("hold %d, finish %s\nraw   %q\nbytes %s\nwhole %s\nerr %v", o.Hold, finish, raw, got, whole, err)
	}
	checkEvents(t, f, raw, finish, o)
}

// checkEvents checks the grammar of the events: indexes, one start and end a call, arguments that
// are one JSON object, no fragment between calls, no text made up.
func checkEvents(t *testing.T, f *Format, raw, finish string, o Options) {
	t.Helper()
	next, open, args := 0, false, ""
	plain, ended := "", ""
	for e, err := range f.Decode(golden.Source([]string{raw}, finish), o) {
		must.OK(t, err)
		switch e.Kind {
		case chat.Text, chat.Reasoning:
			if open {
				t.Fatalf("%q: text inside a call", raw)
			}
			plain += e.Text
		case chat.CallStart:
			if open || e.Index != next || e.Text == "" {
				t.Fatalf("%q: start %+v, want index %d", raw, e, next)
			}
			open, args, next = true, "", next+1
		case chat.CallArgs:
			args += e.Text
		case chat.CallEnd:
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(args), &object) != nil || object == nil {
				t.Fatalf("%q: arguments %q are no object", raw, args)
			}
			open = false
		case chat.Finish:
			ended = e.Text
			if open && e.Text != chat.Length {
				t.Fatalf("%q: an open call and finish %s", raw, e.Text)
			}
		}
	}
	if !subsequence(plain, raw) {
		t.Fatalf("%q: text %q is not in the input", raw, plain)
	}
	// Where the prompt has opened a mark, what is left of it may look like a word: "all\n". So do
	// some marks of reasoning.
	if f.set == Builtin() && len(f.PromptMarks) == 0 && !saysThought(f, raw) && next == 0 && !strings.ContainsAny(raw, "<[◁") && ended == chat.Stop && plain != raw {
		t.Fatalf("%q: no call and no mark, but the text is %q", raw, plain)
	}
}

// saysThought says whether a text holds one of the family's own marks of reasoning, which may be
// words, "Thought:", with any white space between them.
func saysThought(f *Format, raw string) bool {
	oneBlank := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	raw = oneBlank(raw)
	for _, p := range f.Think {
		for _, part := range p.Parts {
			if mark := oneBlank(part.Lit.Text); mark != "" && strings.Contains(raw, mark) {
				return true
			}
		}
	}
	return false
}

// subsequence says whether the bytes of s stand in of in that order.
func subsequence(s, of string) bool {
	i := 0
	for k := 0; k < len(of) && i < len(s); k++ {
		if of[k] == s[i] {
			i++
		}
	}
	return i == len(s)
}

// FuzzDecode holds the laws for any text, in every format.
func FuzzDecode(f *testing.F) {
	tools := testTools(f)
	formats := All()
	for _, g := range goldens(f) {
		f.Add(g.Raw, uint8(0))
	}
	r := rand.New(rand.NewSource(3))
	for i := range 50 {
		f.Add(soup(r), uint8(i))
	}
	f.Fuzz(func(t *testing.T, raw string, how uint8) {
		if len(raw) > 2000 {
			return
		}
		o := Options{Tools: tools, Hold: []int{HoldNone, HoldShort, HoldCall}[int(how>>1)%3]}
		if how&64 != 0 {
			o.Prompt = "<think>\n"
		}
		checkDecode(t, formats[int(how)%len(formats)], raw, []string{chat.Stop, chat.Length}[how&1], o)
	})
}

// FuzzParse reads any declaration without a panic, and whatever it accepts can print and decode.
func FuzzParse(f *testing.F) {
	paths := []string{"families/hermes.txt", "families/harmony.txt", "families/gemma4.txt", "families/glm4.txt"}
	for _, p := range paths {
		if src, err := embedded.ReadFile(p); err == nil {
			head, _, _ := strings.Cut(string(src), "\n-- ")
			f.Add(head)
		}
	}
	tools := testTools(f)
	f.Fuzz(func(t *testing.T, src string) {
		format, err := Builtin().Parse([]byte(src))
		if err != nil {
			return
		}
		raw := string(format.Append(nil, chat.Call{Name: "get_weather", Args: json.RawMessage(`{"city":"Paris"}`)}))
		if len(raw) < 2000 {
			checkDecode(t, format, raw, chat.Stop, Options{Tools: tools})
		}
	})
}

// TestHostileTextIsReadToItsEnd repeats pieces that once made the decoder read the same bytes again
// and again. A reader that is quadratic here takes minutes; the benchmarks measure the slope.
func TestHostileTextIsReadToItsEnd(t *testing.T) {
	tools := testTools(t)
	starts := []string{"", "Sure:\n", "<think>\n", "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"", "<tool_call>\n<function=write_file>\n<parameter=path>\n", "<|tool_call_start|>[write_file(path='a"}
	units := []string{"<", "{", "\"+\"", "\" + ", "\", \"", "\" \"", "\"]]", "''", "' '", "{\"name\":\"", "{\"arguments\":{\"a\":\"", ".\nwrite_file(path=\"", "<tool_call>\n{\"name\": \"write_file\", \"x\": \"", "```json\n{", "\n</parameter>\n<parameter=", "<|start|>", "\n", "`"}
	size := 32 << 10
	if testing.Short() {
		size = 8 << 10
	}
	for _, start := range starts {
		for _, unit := range units {
			raw := start + strings.Repeat(unit, size/len(unit))
			checkEvents(t, Named("generic"), raw, chat.Stop, Options{Tools: tools})
		}
	}
}

// closedTwice are replies whose calls are closed where they stand, and which what comes behind the
// closer makes text, or no call: cut right behind it, they are calls.
var closedTwice = []string{
	"hermes/arguments behind an object that was closed too early", "lfm2/an argument behind a parenthesis that came too early", "inkling/an empty invoke is no call",
	"qwen3-coder/text glued between two calls", "poolside/a text that ends one call, holds one in JSON and begins another",
}

// TestAReplyCutAnywhereHoldsNoHalfCall cuts every golden reply at every third byte, by its length,
// and by a source that fails: a call that is finished then is one of the whole reply's, and nothing
// is both shown as text and part of a call.
func TestAReplyCutAnywhereHoldsNoHalfCall(t *testing.T) {
	tools := testTools(t)
	for i, g := range goldens(t) {
		if g.Finish != chat.Stop || skipped(i) || slices.Contains(closedTwice, g.format+"/"+g.Name) {
			continue
		}
		o := Options{Tools: tools, Prompt: g.Prompt, Hold: HoldCall}
		whole, _ := transcript(Named(g.format), []string{g.Raw}, chat.Stop, o)
		for at := i % 3; at < len(g.Raw); at += 3 {
			ending := chat.Length
			if at%4 == 0 { // the failing source at every fourth of them
				ending = ""
			}
			cut := g.Raw[:at]
			got, err := transcript(Named(g.format), []string{cut}, ending, o)
			if (err != nil) != (ending == "") {
				t.Fatalf("%s/%s: %q cut by %q: error %v", g.format, g.Name, cut, ending, err)
			}
			for _, line := range strings.Split(got, "\n") {
				if strings.HasPrefix(line, "call ") && !strings.Contains(whole, line) || strings.HasPrefix(line, "open ") {
					t.Errorf("%s/%s\ncut  %q\ngot  %s\nwhole %s", g.format, g.Name, cut, got, whole)
				}
			}
		}
	}
}
