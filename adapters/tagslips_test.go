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
	"unicode/utf8"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// A call in tags with one slip in its tags is read as it was meant, or not at all. The kinds of
// slips are those that models make: a tag left out, doubled, damaged at any character, in another
// case, with a blank, in the place of another.

// tagSlipTools have required and optional parameters of every kind.
var tagSlipTools = []chat.Tool{
	{Name: "save_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
	{Name: "send_message", Schema: json.RawMessage(`{"type":"object","properties":{"channel":{"type":"string"},"text":{"type":"string"},"thread":{"type":"string"},"urgent":{"type":"boolean"}},"required":["channel","text"]}`)},
	{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"},"end_line":{"type":"integer"}},"required":["path"]}`)},
	{Name: "convert", Schema: json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"},"from":{"type":"string"},"to":{"type":"string"}},"required":["amount","from","to"]}`)},
	{Name: "create_ticket", Schema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"body":{"type":"string"},"priority":{"type":"string","enum":["low","high"]},"labels":{"type":"array","items":{"type":"string"}}},"required":["title"]}`)},
	{Name: "search_web", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
}

// tagSlipTexts are values of every kind.
var tagSlipTexts = []string{
	"main.go", "src/app/index.html", "#dev", "UTC", "ok", "USD", "C:\\Users\\ann\\x.txt", "https://a.b/c?d=e&f=g#h", "42", "true", "it's \"here\"", "a < b && c > d",
	"package main\n\nfunc main() {\n\tprintln(\"hi\")\n}", "def f(x):\n    return {\"k\": [x, '}']}", "# Title\n\n- one\n- two\n\n```go\nx := 1\n```", `{"a": [1, {"b": "}"}]}`, "SELECT * FROM t WHERE a <> 'b';",
	"<!doctype html>\n<div class=\"a\">{items.map(i => <Item key={i} />)}</div>", "<config>\n  <item name=\"x\">1</item>\n</config>", "서울 날씨 어때?", "東京の天気は？", "Привет, мир", "مرحبا بالعالم", "नमस्ते दुनिया", "שלום עולם",
	"Use the <b>bold</b> tag", "line one\nline two\n\nline four", "x = 1; y = 2 # note", "50% of $100", "- bug\n+ fix\n@@ -1,2 +1,3 @@",
	"Close a value with </parameter> or </arg_value>, please", "the <tool_call> mark and the </tool_call> mark",
	"<parameters>\n  <parameter name=\"x\">1</parameter>\n  <parameter name=\"y\">2</parameter>\n</parameters>",
}

// randomTagCall is a call with values of every kind.
func randomTagCall(r *rand.Rand) (chat.Call, *schema.Type) {
	tool := tagSlipTools[r.Intn(len(tagSlipTools))]
	typ := schema.Compile(tool.Schema)
	var members []string
	for _, key := range typ.Members() {
		required := strings.Contains(string(tool.Schema[strings.Index(string(tool.Schema), `"required"`):]), `"`+key+`"`)
		if !required && r.Intn(2) == 0 {
			continue
		}
		t := typ.Prop(key)
		value := schema.Quote(tagSlipTexts[r.Intn(len(tagSlipTexts))])
		switch {
		case t.Only(schema.Integer):
			value = fmt.Sprint(r.Intn(500))
		case !t.Allows(schema.String) && t.Allows(schema.Number) && !t.Allows(schema.Array|schema.Object|schema.Boolean):
			value = fmt.Sprintf("%d.5", r.Intn(500))
		case t.Only(schema.Boolean):
			value = fmt.Sprint(r.Intn(2) == 0)
		case t.Only(schema.Array):
			value = `["bug","ui"]`
		case t.Enum() != nil:
			value = `"low"`
		}
		members = append(members, fmt.Sprintf("%q:%s", key, value))
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return chat.Call{Name: tool.Name, Args: json.RawMessage("{" + strings.Join(members, ",") + "}")}, typ
}

// tagSpan is a tag of a call as it is printed.
type tagSpan struct {
	from, to int
	closes   bool
}

// callTags are the tags of a printed call behind its head, those of its values left out.
func callTags(raw string, name string, values []string) (all []tagSpan) {
	hidden := []byte(raw)
	at := strings.Index(raw, name) + len(name)
	for _, v := range values {
		if i := strings.Index(string(hidden[at:]), v); i >= 0 && v != "" && strings.ContainsAny(v, "<>") {
			for k := range v {
				hidden[at+i+k] = '.'
			}
		}
	}
	for _, m := range regexp.MustCompile(`<[^<>]*>`).FindAllIndex(hidden[at:], -1) {
		all = append(all, tagSpan{at + m[0], at + m[1], raw[at+m[0]+1] == '/'})
	}
	return all
}

// tagSlip makes a slip in one tag of a call; "" where there is no place for it.
type tagSlip struct {
	name string
	make func(r *rand.Rand, raw string, tags []tagSpan) string
}

// inTag makes a slip inside one tag of a kind.
func inTag(name string, closes bool, change func(r *rand.Rand, tag string) string) tagSlip {
	return tagSlip{name, func(r *rand.Rand, raw string, tags []tagSpan) string {
		var of []tagSpan
		for _, t := range tags {
			if t.closes == closes {
				of = append(of, t)
			}
		}
		if len(of) == 0 {
			return ""
		}
		t := of[r.Intn(len(of))]
		return raw[:t.from] + change(r, raw[t.from:t.to]) + raw[t.to:]
	}}
}

// dropRune leaves out one character, at a place that is drawn.
func dropRune(r *rand.Rand, tag string) string {
	runes := []rune(tag)
	k := r.Intn(len(runes))
	return string(runes[:k]) + string(runes[k+1:])
}

// doubleRune writes one character twice.
func doubleRune(r *rand.Rand, tag string) string {
	runes := []rune(tag)
	k := r.Intn(len(runes))
	return string(runes[:k+1]) + string(runes[k:])
}

// blankIn puts a blank inside.
func blankIn(r *rand.Rand, tag string) string {
	k := 1 + r.Intn(len(tag)-1)
	for !utf8.RuneStart(tag[k]) {
		k--
	}
	return tag[:k] + " " + tag[k:]
}

// wellFormed finds what is no slip to a reader: a value that begins with a sign that the tag in
// front ended with.
var wellFormed = regexp.MustCompile(`(parameter[^<>]*|<arg_value)>>|<</`)

var tagSlips = []tagSlip{
	inTag("closer left out", true, func(*rand.Rand, string) string { return "" }),
	inTag("closer doubled", true, func(_ *rand.Rand, tag string) string { return tag + tag }),
	inTag("closer doubled on a line", true, func(_ *rand.Rand, tag string) string { return tag + "\n" + tag }),
	inTag("closer without <", true, func(_ *rand.Rand, tag string) string { return tag[1:] }),
	inTag("closer without /", true, func(_ *rand.Rand, tag string) string { return strings.Replace(tag, "/", "", 1) }),
	inTag("closer without >", true, func(_ *rand.Rand, tag string) string { return tag[:len(tag)-1] }),
	inTag("closer in upper case", true, func(_ *rand.Rand, tag string) string { return strings.ToUpper(tag) }),
	inTag("closer with a blank", true, blankIn),
	inTag("closer, one character missing", true, dropRune),
	inTag("closer, one character twice", true, doubleRune),
	inTag("opener doubled", false, func(_ *rand.Rand, tag string) string { return tag + tag }),
	inTag("opener doubled on a line", false, func(_ *rand.Rand, tag string) string { return tag + "\n" + tag }),
	inTag("opener left out", false, func(*rand.Rand, string) string { return "" }),
	inTag("opener without >", false, func(_ *rand.Rand, tag string) string { return tag[:len(tag)-1] }),
	inTag("opener without <", false, func(_ *rand.Rand, tag string) string { return tag[1:] }),
	inTag("opener in upper case", false, func(_ *rand.Rand, tag string) string {
		if i := strings.IndexAny(tag, "= "); i > 0 {
			return strings.ToUpper(tag[:i]) + tag[i:]
		}
		return strings.ToUpper(tag)
	}),
	inTag("opener, one character missing", false, dropRune),
	inTag("opener, one character twice", false, doubleRune),
	{"closers swapped", func(r *rand.Rand, raw string, tags []tagSpan) string {
		for k := len(tags) - 1; k > 0; k-- {
			a, b := tags[k-1], tags[k]
			if a.closes && b.closes && raw[a.from:a.to] != raw[b.from:b.to] && r.Intn(2) == 0 {
				return raw[:a.from] + raw[b.from:b.to] + raw[a.to:b.from] + raw[a.from:a.to] + raw[b.to:]
			}
		}
		return ""
	}},
	{"cut in a value", func(r *rand.Rand, raw string, tags []tagSpan) string {
		for k := len(tags) - 1; k > 0; k-- {
			if a, b := tags[k-1], tags[k]; !a.closes && b.closes && b.from-a.to > 8 && r.Intn(2) == 0 {
				cut := a.to + 2 + r.Intn(b.from-a.to-6)
				for !utf8.RuneStart(raw[cut]) {
					cut--
				}
				return raw[:cut]
			}
		}
		return ""
	}},
}

func TestOneSlipInATag(t *testing.T) {
	r := rand.New(rand.NewSource(int64(number("TAG_SEED", 3))))
	rounds := number("TAG_ROUNDS", 12)
	count := map[string]*[slipClasses]int{}
	at := func(name string) *[slipClasses]int {
		if count[name] == nil {
			count[name] = new([slipClasses]int)
		}
		return count[name]
	}
	for _, name := range []string{"qwen3-coder", "glm4", "minimax-m2", "deepseek-dsml", "seed-oss", "anthropic"} {
		f := Named(name)
		for _, s := range tagSlips {
			for range rounds {
				call, typ := randomTagCall(r)
				raw := string(f.Append(nil, call))
				var values []string
				var args map[string]any
				_ = json.Unmarshal(call.Args, &args)
				for _, v := range args {
					if text, ok := v.(string); ok {
						values = append(values, text)
					}
				}
				bad := s.make(r, raw, callTags(raw, call.Name, values))
				if bad == "" || bad == raw || wellFormed.MatchString(bad) && (name != "qwen3-coder" || strings.Contains(bad, "<</")) {
					continue
				}
				class := tagSlipOf(t, f, bad, call, typ)
				if s.name == "cut in a value" && class == asMeant {
					class = wrongValid
				}
				at(name)[class]++
				at(s.name)[class]++
				at("all")[class]++
				if class == wrongValid || class == noCall && os.Getenv("TAG_NONE") == s.name {
					t.Logf("%s, %s\nraw  %q\nwant %s", name, s.name, bad, call.Args)
				}
			}
		}
	}
	for name, n := range count {
		t.Logf("%-30s %5d meant %5d no call %5d misfit %5d wrong", name, n[asMeant], n[noCall], n[misfit], n[wrongValid])
	}
	all, cut := at("all"), at("cut in a value")
	sum := all[asMeant] + all[noCall] + all[misfit] + all[wrongValid]
	if 1000*all[wrongValid] > sum {
		t.Errorf("of %d slips %d gave other arguments that fit", sum, all[wrongValid])
	}
	if whole := sum - cut[noCall]; 100*all[asMeant] < 85*whole {
		t.Errorf("of %d slips %d were mended", whole, all[asMeant])
	}
}

// tagSlipOf says what comes of a reply.
func tagSlipOf(t *testing.T, f *Format, raw string, call chat.Call, typ *schema.Type) slipClass {
	t.Helper()
	class := noCall
	var got chat.Call
	for e, err := range f.Decode(golden.Source([]string{raw}, chat.Stop), Options{Tools: tagSlipTools}) {
		must.OK(t, err)
		switch e.Kind {
		case chat.CallStart:
			got = chat.Call{Name: e.Text}
		case chat.CallArgs:
			got.Args = append(got.Args, e.Text...)
		case chat.CallEnd:
			switch {
			case class != noCall:
				class = wrongValid
			case got.Name == call.Name && sameJSON(t, string(got.Args), string(call.Args)):
				class = asMeant
			case got.Name == call.Name && !lenient.Fits(string(got.Args), typ):
				class = misfit
			default:
				class = wrongValid
			}
			if class == wrongValid {
				t.Logf("got %s %s", got.Name, got.Args)
			}
		}
	}
	return class
}

// TestALongTextIsNoSlip reads clean calls with a text in quotes, which is longer than what is kept
// of a value: a value that looks odd counts as it stands there, however long it is.
func TestALongTextIsNoSlip(t *testing.T) {
	tools := testTools(t)
	for _, f := range All() {
		for _, size := range []int{16, 100 << 10} {
			quoted := strings.Repeat("\"a line\"\n", size/9+1)
			args, _ := json.Marshal(map[string]string{"content": quoted + `"`, "path": `"a.txt"`})
			c := chat.Call{Name: "write_file", Args: args}
			if len(f.Args) == 0 || f.Args[0].Keyed() || !canPrint(f, c) {
				continue
			}
			var pieces []string // what was read of a value is dropped as it streams
			for piece := range slices.Chunk(f.Append(nil, c), 1<<10) {
				pieces = append(pieces, string(piece))
			}
			got, err := transcript(f, pieces, chat.Stop, Options{Tools: tools})
			if err != nil || strings.Count(got, "call 0 write_file") != 1 {
				t.Errorf("%s: a text of %d bytes: %v %.300s", f.Name, len(quoted), err, got)
			}
		}
	}
}
