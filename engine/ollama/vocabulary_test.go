package ollama

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/engine/wait"
	"toolnorm/internal/test/must"
)

// TestControlsAreReadInAnyOrder has vocabularies in all forms that a description may have.
func TestControlsAreReadInAnyOrder(t *testing.T) {
	const tokens, types = `"tokenizer.ggml.tokens":["a","<t>","<|\"|>","</t>"]`, `"tokenizer.ggml.token_type":[1,3,3,4]`
	for text, want := range map[string]string{
		`{"model_info":{` + tokens + `,` + types + `}}`: `<t> <|"|>`,
		`{"license":"x","model_info":{"tokenizer.ggml.merges":[["a","b"],{}],` + types + `,"n":1,` + tokens + `},"tensors":[{"shape":[1]}]}`: `<t> <|"|>`,
		`{"model_info":{` + tokens + `}}`:                                                      ``,
		`{"model_info":{"tokenizer.ggml.token_type":[1,3],` + tokens + `}}`:                    `<t>`,
		`{"model_info":{"tokenizer.ggml.tokens":null,"tokenizer.ggml.token_type":null}}`:       ``,
		`{"model_info":{"tokenizer.ggml.tokens":"<t>","tokenizer.ggml.token_type":{"0":[3]}}}`: ``,
		`{"model_info":null}`: ``,
		`{}`:                  ``,
		`[]`:                  ``,
		`{"model_info":{"tokenizer.ggml.tokens":[["a"]]}}`: ``,
		`{"model_info":{"tokenizer.ggml.tokens":["a"`:      `!`,
		``: `!`,
	} {
		got, err := readControls(strings.NewReader(text), []string{"<t>", "</t>", `<|"|>`, "<none>"})
		if s := strings.Join(got, " "); s != want && (want != "!" || err == nil) || err != nil && want != "!" {
			t.Errorf("%s\ngot %q, %v, want %q", text, s, err, want)
		}
	}
}

// TestAVocabularyThatBreaksOffIsAskedForAgain has a server that drops the connection in the middle
// of its first answer.
func TestAVocabularyThatBreaksOffIsAskedForAgain(t *testing.T) {
	const whole = `{"model_info":{"tokenizer.ggml.tokens":["a","<t>"],"tokenizer.ggml.token_type":[1,3]}}`
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := whole
		if asked++; asked == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
			text = whole[:40]
		}
		_, _ = io.WriteString(w, text)
	}))
	defer s.Close()
	client, err := New(s.URL, nil)
	must.OK(t, err)
	ctx, pulse := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	defer pulse.Stop()
	if got, err := client.Controls(ctx, pulse, "m", []string{"<t>"}); err != nil || !slices.Equal(got, []string{"<t>"}) || asked != 2 {
		t.Errorf("%q, %v, asked %d times", got, err, asked)
	}
}

// FuzzControls reads what is no vocabulary without harm: only marks that were asked for come out.
func FuzzControls(f *testing.F) {
	f.Add(`{"model_info":{"tokenizer.ggml.tokens":["<t>"],"tokenizer.ggml.token_type":[3]}}`)
	f.Add(`{"model_info":{"a":[[[{}]]],"tokenizer.ggml.token_type":[3e0,-1,"x"]}}`)
	marks := []string{"<t>", "a"}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readControls(strings.NewReader(text), marks)
		if err != nil && got != nil {
			t.Errorf("%q gives %q and %v", text, got, err)
		}
		for _, mark := range got {
			if !slices.Contains(marks, mark) {
				t.Errorf("%q gives %q", text, mark)
			}
		}
	})
}
