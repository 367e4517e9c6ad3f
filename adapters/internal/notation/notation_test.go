package notation

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// offered are the tools of these tests.
func offered() *toolset.Set {
	tool := func(name, schema string) chat.Tool {
		return chat.Tool{Name: name, Schema: json.RawMessage(`{"type":"object","properties":` + schema + `}`)}
	}
	return toolset.New([]chat.Tool{
		tool("get_weather", `{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]`),
		tool("write_file", `{"path":{"type":"string"},"text":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["path","text"]`),
		tool("find", `{"query":{"type":"string"},"type":{"type":"string"}},"required":["query"]`),
		tool("book", `{"room":{"type":"string"},"guest":{"type":"object","properties":{"name":{"type":"string"},"phone":{"type":"string"}},"required":["name"]}},"required":["room"]`),
	}, nil)
}

// sample is a text with the call that it is.
type sample struct{ said, want, text string }

// readSamples returns the texts of testdata/calls.txt.
func readSamples(t testing.TB) (all []sample) {
	t.Helper()
	file := must.Read(t, "testdata/calls.txt")
	for line := range strings.Lines(string(file)) {
		switch want, ok := strings.CutPrefix(line, "== "); {
		case ok:
			s := sample{want: strings.TrimSpace(want)}
			if said, ok := strings.CutPrefix(s.want, "said "); ok {
				s.said, s.want, _ = strings.Cut(said, ": ")
			}
			all = append(all, s)
		case len(all) > 0 && !strings.HasPrefix(line, "# "):
			all[len(all)-1].text += line
		}
	}
	return all
}

// TestRead reads the texts of testdata/calls.txt.
func TestRead(t *testing.T) {
	for _, s := range readSamples(t) {
		got := "none"
		call, ok := Read(s.text, offered(), func(v string) bool { return v == s.said })
		if ok {
			got = call.Tool.Name + " " + call.Args
		}
		if got != s.want {
			t.Errorf("%s\ngot %s, want %s", s.text, got, s.want)
		}
	}
}

// TestAheadGoesToTheEnd holds that a text that is a call is never given up before its end.
func TestAheadGoesToTheEnd(t *testing.T) {
	words := NewVocabulary(offered())
	for _, s := range readSamples(t) {
		ahead := Ahead{Vocabulary: words}
		for i := range len(s.text) {
			if !ahead.Goes(s.text[i]) && s.want != "none" {
				t.Errorf("%s\ngiven up at byte %d", s.text, i)
				break
			}
		}
	}
}

// TestAheadGivesUpEarly has the beginnings of ordinary texts.
func TestAheadGivesUpEarly(t *testing.T) {
	for text, most := range map[string]int{
		"The weather in Paris is fine.":      2,
		"I'll look that up.":                 1,
		"Sure, one moment.":                  4,
		"**Rome** is a city.":                4,
		"# Heading":                          6,
		"- first, the list":                  5,
		"get_weather is a tool":              16,
		"안녕하세요":                              6,
		"Find out what the weather is today": 7,
	} {
		ahead := Ahead{Vocabulary: NewVocabulary(offered())}
		n := 0
		for n < len(text) && ahead.Goes(text[n]) {
			n++
		}
		if n > most {
			t.Errorf("%q: given up at byte %d, not %d", text, n, most)
		}
	}
}

// TestHostileTextsCostLittle has texts as long as the longest that is read.
func TestHostileTextsCostLittle(t *testing.T) {
	for _, s := range []string{"get_weather city=", "city ", "city: a ", "get_weather city: [", "city=\"a\" ", "city='", "«city: a» ",
		"get_weather city: {a ", "- city: a\n", "get_weather city: a, ", "</city>", "((((", "```", "\"a\n"} {
		text := "get_weather city: " + strings.Repeat(s, maxText/len(s)-4)
		from := time.Now()
		Read(text, offered(), func(string) bool { return false })
		ahead := Ahead{Vocabulary: NewVocabulary(offered())}
		for i := range len(text) {
			ahead.Goes(text[i])
		}
		if took := time.Since(from); took > 5*time.Second {
			t.Errorf("%q repeated takes %v", s, took)
		}
	}
}

// FuzzRead holds that a call that is read is whole: it has valid arguments that the tool takes, and
// a word behind it that is no structure makes no other call of it.
func FuzzRead(f *testing.F) {
	for _, s := range readSamples(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, ok := Read(text, offered(), func(string) bool { return false })
		if ok && !json.Valid([]byte(call.Args)) {
			t.Errorf("%q: %s", text, call.Args)
		}
	})
}
