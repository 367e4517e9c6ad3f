package ollama

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// shown is how a server sends a text whose tokens end at the given places: the tokens of a split
// character with the bytes that they are, in one record, with the content that it made of them.
func shown(text string, cuts []int, content func(string) string) []string {
	var records, tokens []string
	from, begun := 0, 0
	for _, to := range append(cuts, len(text)) {
		token, _ := json.Marshal(text[from:to]) // a part of a character becomes U+FFFD
		list, _ := json.Marshal(numbers(text[from:to]))
		tokens = append(tokens, fmt.Sprintf(`{"token":%s,"logprob":-1,"bytes":%s}`, token, list))
		from = to
		if part := text[begun:to]; utf8.ValidString(part) {
			said, _ := json.Marshal(content(part))
			records = append(records, fmt.Sprintf(`{"message":{"role":"assistant","content":%s},"done":false,"logprobs":[%s]}`, said, strings.Join(tokens, ",")))
			tokens, begun = nil, to
		}
	}
	return records
}

// numbers are the bytes of a text.
func numbers(text string) (all []int) {
	for _, b := range []byte(text) {
		all = append(all, int(b))
	}
	return all
}

// withCall is the last record with a call that the server found.
func withCall(records []string, name string, args any) []string {
	call, _ := json.Marshal(map[string]any{"name": name, "arguments": args})
	last := &records[len(records)-1]
	*last = strings.Replace(*last, `"content":""`, `"content":"","tool_calls":[{"id":"call_x","function":`+string(call)+`}]`, 1)
	return records
}

// theTap reads records by way of the tap.
func theTap(t testing.TB, records []string) string {
	text := strings.Join(records, "\n") + "\n" + `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n"
	return ask(t, fake(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, text) }), "tap")
}

// withheld is the content of text that the server keeps.
func withheld(string) string { return "" }

// TestSplitCharactersComeOutExact has a call that the server withholds, and text that it does not,
// with the characters split.
func TestSplitCharactersComeOutExact(t *testing.T) {
	const text = `{"name": "write", "arguments": {"path": "노트/일기.txt", "content": "첫째 줄: \"안녕\"\n日本語 🌍🚀 naïve"}}`
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		cuts := manyCuts(rnd, len(text))
		want := fmt.Sprintf("text 0 %q\nfinish 0 \"stop\"\n", text)
		for name, records := range map[string][]string{
			"withheld": withCall(shown(text, cuts, withheld), "write", map[string]string{"path": "x"}),
			"visible":  shown(text, cuts, func(s string) string { return s }),
		} {
			if got := theTap(t, records); got != want {
				t.Fatalf("%s, cut at %v:\n%swant:\n%s", name, cuts, got, want)
			}
		}
	}
}

// manyCuts are ascending places below n, one to five bytes apart.
func manyCuts(rnd *rand.Rand, n int) []int {
	var cuts []int
	for at := 1 + rnd.IntN(5); at < n; at += 1 + rnd.IntN(5) {
		cuts = append(cuts, at)
	}
	return cuts
}

// TestWhatTheServerSaysBesideTokens is how ends, errors and servers without tokens come out.
func TestWhatTheServerSaysBesideTokens(t *testing.T) {
	const token = `{"message":{"content":""},"logprobs":[{"token":"<a>"}]}`
	const spoilt = `{"message":{"content":""},"logprobs":[{"token":"\ufffd"},{"token":"\ufffd\ufffd"}]}`
	const call = `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}`
	for _, row := range []struct {
		name    string
		records []string
		want    string
	}{
		{"a token without bytes", []string{token}, "text 0 \"<a>\"\nfinish 0 \"stop\"\n"},
		{"a call beside tokens", []string{token, call + `,"logprobs":[{"token":"x","bytes":[98]}]}`}, "text 0 \"<a>b\"\nfinish 0 \"stop\"\n"},
		{"a call without tokens behind others", []string{token, call + "}"}, "text 0 \"<a>\"\nfinish 0 \"stop\"\n"},
		{"a server without tokens", []string{`{"message":{"content":"hi"}}`, call + "}"}, "text 0 \"hi\"\ncall 0 \"f\"\nargs 0 \"{\\\"a\\\":1}\"\nend 0\nfinish 0 \"stop\"\n"},
		{"a parser that failed", []string{token, `{"error":"failed to parse JSON"}`}, "text 0 \"<a>\"\nfinish 0 \"abandoned\" cause=failed to parse JSON\n"},
		{"a parser that failed at once", []string{`{"error":"EOF"}`}, "error 502 upstream_error: the model server says: EOF\n"},
		{"what looks like damage and is none", []string{`{"message":{"content":"\ufffd!"},"logprobs":[{"token":"\ufffd!"}]}`}, "text 0 \"\uFFFD!\"\nfinish 0 \"stop\"\n"},
		{"damage that nothing tells", []string{token, spoilt}, "text 0 \"<a>\"\nerror 502 upstream_error: the model server spoilt characters"},
		{"damage and a call that does not tell", []string{spoilt, call + "}"}, "error 502 upstream_error: the model server spoilt characters"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := theTap(t, row.records)
			if strings.Contains(row.want, "error") {
				got = got[:min(len(got), len(row.want))]
			}
			if got != row.want {
				t.Errorf("events:\n%swant:\n%s", got, row.want)
			}
		})
	}
}

// TestThinkingAtTheTap has thinking that the prompt opened: it is passed on as the server tells it,
// up to its mark.
func TestThinkingAtTheTap(t *testing.T) {
	record := func(thinking, content string, tokens ...string) string {
		var list []string
		for _, token := range tokens {
			list = append(list, fmt.Sprintf(`{"token":%q}`, token))
		}
		return fmt.Sprintf(`{"message":{"thinking":%q,"content":%q},"logprobs":[%s]}`, thinking, content, strings.Join(list, ","))
	}
	const want = "reasoning 0 \"So be it.\"\ntext 0 \"<tool_call>{}\"\nfinish 0 \"stop\"\n"
	for name, records := range map[string][]string{
		"a mark in one token":             {record("So be", "", "So be"), record(" it.", "", " it."), record("", "", "</think>"), record("", "", "\n\n"), record("", "", "<tool_call>{}")},
		"a mark over tokens":              {record("So be it.", "", "So be it.", "</th"), record("", "", "ink"), record("", "", ">\n<tool_"), record("", "", "call>{}")},
		"all in one token":                {record("So be it.", "", "So be it.</think>\n\n<tool_call>{}")},
		"white space that waits":          {record("So", "", "So"), record("", "", " "), record(" be it.", "", "be it."), record("", "", "</think>\n<tool_call>{}")},
		"a mark of which a token is lost": {record("So be it.", "", "So be it.", "</th"), record("", "", "k>\n\n<tool"), record("", "", "_call>{}")},
	} {
		if got := theTap(t, records); got != want {
			t.Errorf("%s:\n%swant:\n%s", name, got, want)
		}
	}
	answer := theTap(t, []string{record("So be it.", "", "So be it."), record("", "", "</think>\n"), record("", "Well", "\nWell"), record("", ".", ".")})
	if want := "reasoning 0 \"So be it.\"\ntext 0 \"Well.\"\nfinish 0 \"stop\"\n"; answer != want {
		t.Errorf("an answer behind thinking:\n%swant:\n%s", answer, want)
	}
	opened := theTap(t, []string{record("", "", "<think>"), record("So", "", "So"), record("", "", "</think>"), record("", "Well", "Well")})
	if want := "text 0 \"<think>So</think>Well\"\nfinish 0 \"stop\"\n"; opened != want {
		t.Errorf("a mark that the model wrote:\n%swant:\n%s", opened, want)
	}
}

// FuzzTap holds the tap to the text, however its tokens are cut.
func FuzzTap(f *testing.F) {
	f.Add(`{"a": "안녕 🌍"}`, []byte{3, 1, 2, 1})
	f.Add("日本語\n\\n\"x\"", []byte{1})
	f.Fuzz(func(t *testing.T, text string, lengths []byte) {
		if !utf8.ValidString(text) || strings.Contains(text, damagedText) || strings.TrimSpace(text) == "" || len(text) > 1<<12 {
			t.Skip()
		}
		var cuts []int
		for at, i := 0, 0; i < len(lengths); i++ {
			if at += int(lengths[i])%7 + 1; at >= len(text) {
				break
			}
			cuts = append(cuts, at)
		}
		want := fmt.Sprintf("text 0 %q\nfinish 0 \"stop\"\n", text)
		if got := theTap(t, shown(text, cuts, func(s string) string { return s })); got != want {
			t.Errorf("shown text:\n%swant:\n%s", got, want)
		}
		first := tap{marks: marksOfTest, tokens: []byte(text[:append(cuts, len(text))[0]])}
		if first.eaten(nil) != nil {
			return // a server withholds what begins in the middle of a mark only when it has eaten its beginning
		}
		if got := theTap(t, withCall(shown(text, cuts, withheld), "f", map[string]string{"text": text})); got != want {
			t.Errorf("a call:\n%swant:\n%s", got, want)
		}
	})
}
