package chat

import (
	"encoding/json"
	"testing"

	"toolnorm/internal/test/must"
)

func TestHalvesOfCharactersAreMended(t *testing.T) {
	for text, want := range map[string]string{
		`"plain"`: `"plain"`, ``: ``, `\`: `\`, `"\u`: `"\u`, `"\ud8`: `"\ud8`,
		`"a\ud800b"`: `"a\ufffdb"`, `"\uDFFF"`: `"\ufffd"`, `"\ud83d\ude00"`: `"\ud83d\ude00"`, `"\uD83D\uDE00\uDE00"`: `"\uD83D\uDE00\ufffd"`,
		`"\ud800A"`: `"\ufffdA"`, `"\ud800\u0041"`: `"\ufffd\u0041"`, `"\ud800\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`, `"\ud800\n\udc00"`: `"\ufffd\n\ufffd"`,
		`"\\ud800"`: `"\\ud800"`, `"\\\ud800"`: `"\\\ufffd"`, `"\ud7ff\ue000"`: `"\ud7ff\ue000"`, `"\ud80"`: `"\ud80"`, `"\udzzz"`: `"\udzzz"`,
	} {
		b := []byte(text)
		if MendSurrogates(b); string(b) != want {
			t.Errorf("%s became %s, want %s", text, b, want)
		}
	}
}

func FuzzMendedTextReadsTheSame(f *testing.F) {
	f.Add([]byte(`{"\ud800":["\udc00\\ud800\ud83d\ude00"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		var before, after any
		first := json.Unmarshal(text, &before) // valid, and still no number that Go has
		MendSurrogates(text)
		if err := json.Unmarshal(text, &after); (err == nil) != (first == nil) || string(encode(t, before)) != string(encode(t, after)) {
			t.Errorf("%v became %v, %v", before, after, err)
		}
	})
}

func encode(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	must.OK(t, err)
	return b
}
