package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// gemma is a server whose model writes Gemma 4's marks as control tokens.
func gemma(text string) *fakeOllama {
	return &fakeOllama{
		caps: []model.Capability{model.CapabilityCompletion, model.CapabilityTools}, prompt: "<|turn>model\n", text: text,
		show:    api.ShowResponse{Parser: "gemma4", Renderer: "gemma4"},
		control: []string{"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", `<|"|>`},
	}
}

// aboutWeather offers one tool.
func aboutWeather(text string) *chat.Request {
	r := user(text)
	r.Tools = []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)}}
	return r
}

const gemmaCall = "<|channel>thought\nI need it.\n<channel|>" + `<|tool_call>call:get_weather{city:<|"|>Lugano<|"|>,days:3}<tool_call|>`

// inShort is a reply in one line: its reasoning, text, calls and strategy.
func inShort(t *testing.T, e chat.Model, r *chat.Request) string {
	t.Helper()
	var b strings.Builder
	for ev, err := range e.Stream(t.Context(), r) {
		if err != nil {
			return b.String() + " error " + err.Error()
		}
		switch ev.Kind {
		case chat.Reasoning:
			b.WriteString(strings.ToUpper(ev.Text))
		case chat.CallStart:
			b.WriteString("[" + ev.Text + " ")
		case chat.CallEnd:
			b.WriteString("]")
		case chat.Finish:
			fmt.Fprintf(&b, " %s by %s", ev.Text, ev.Meta.Strategy)
		default:
			b.WriteString(ev.Text)
		}
	}
	return b.String()
}

// TestControlTokensChooseTheStrategy has marks of the model's family as control tokens, or not, in
// servers that can show them in one way or another.
func TestControlTokensChooseTheStrategy(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*fakeOllama, *chat.Request)
		want   string
		asked  string
	}{
		"a reader of its own": {func(*fakeOllama, *chat.Request) {},
			`I NEED IT.[get_weather {"city":"Lugano","days":3}] stop by tokens`, "tags show render vocabulary version render generate"},
		"no tools": {func(_ *fakeOllama, r *chat.Request) { r.Tools = nil },
			`I NEED IT.<|tool_call>call:get_weather{city:<|"|>Lugano<|"|>,days:3}<tool_call|> stop by tokens`, ""},
		"no control tokens": {func(f *fakeOllama, _ *chat.Request) { f.control = nil },
			`I NEED IT.[get_weather {"city":"Lugano","days":3}] stop by raw`, "tags show render vocabulary version render generate"},
		"others' control tokens": {func(f *fakeOllama, _ *chat.Request) {
			f.control, f.text = []string{"[TOOL_CALLS]", "<turn|>"}, "Hi.<turn|>"
		},
			"Hi. stop by raw", ""},
		"an older server": {func(f *fakeOllama, _ *chat.Request) { f.version, f.control = "0.24.0", []string{"<|think|>x"} },
			`I NEED IT.[get_weather {"city":"Lugano","days":3}] stop by raw`, ""},
		"a reader that reads nothing": {func(f *fakeOllama, _ *chat.Request) { f.show.Parser = "passthrough" },
			"thought\nI need it.[get_weather {\"city\":\"Lugano\",\"days\":3}] stop by raw", ""},
		"messages of the model's own": {func(f *fakeOllama, _ *chat.Request) { f.show.Messages = []api.Message{{Role: "user", Content: "x"}} },
			`I NEED IT.[get_weather {"city":"Lugano","days":3}] stop by tap`, ""},
		"a quoted call, by tap": {func(f *fakeOllama, _ *chat.Request) {
			f.show.Messages = []api.Message{{Role: "user", Content: "x"}}
			f.text = "See `" + gemmaCall[strings.Index(gemmaCall, "<|tool_call>"):] + "`"
		}, "See `[get_weather {\"city\":\"Lugano\",\"days\":3}]", ""},
		"a template that names the mark": {func(f *fakeOllama, _ *chat.Request) {
			f.show = api.ShowResponse{Template: `{{ if .ToolCalls }}{{ range .ToolCalls }}<|tool_call>call{{ end }}{{ end }}`}
		}, `I NEED IT.[get_weather {"city":"Lugano","days":3}] stop by tap`, ""},
		"a template of llama-server's": {func(f *fakeOllama, _ *chat.Request) { f.show = api.ShowResponse{Template: `{% for m in messages %}`} },
			`I NEED IT.[get_weather {"city":"Lugano","days":3}] stop by native`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, r := gemma(gemmaCall), aboutWeather("Lugano?")
			row.change(f, r)
			e := f.start(t, Config{Format: map[string]string{"*": "gemma4"}})
			if got := inShort(t, e, r); !strings.HasPrefix(got, row.want) {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if asked := f.paths(); row.asked != "" && asked != row.asked {
				t.Errorf("asked %s, want %s", asked, row.asked)
			}
			inShort(t, e, r)
			if asked := f.paths(); strings.Contains(asked, "vocabulary") || strings.Contains(asked, "version") {
				t.Errorf("the second request asked %s", asked)
			}
		})
	}
}

// TestTheVocabularyIsAskedForOnceADigest replaces the model.
func TestTheVocabularyIsAskedForOnceADigest(t *testing.T) {
	f := gemma(gemmaCall)
	e := f.start(t, Config{Format: map[string]string{"*": "gemma4"}})
	for range 3 {
		inShort(t, e, aboutWeather("Lugano?"))
	}
	if n := strings.Count(f.paths(), "vocabulary"); n != 1 {
		t.Errorf("the vocabulary was asked for %d times in three requests", n)
	}
	f.digest, f.control = "sha:2", nil
	e.servers[0].backend.(*ollama.Backend).ListAge = 1
	if got := inShort(t, e, aboutWeather("Lugano?")); !strings.HasSuffix(got, "by raw") || strings.Count(f.paths(), "vocabulary") != 1 {
		t.Errorf("with another digest: %s", got)
	}
}

// TestWhatTokensSends looks at the request, and at what is sent where the reply is forced.
func TestWhatTokensSends(t *testing.T) {
	f := gemma(gemmaCall)
	e := f.start(t, Config{Format: map[string]string{"*": "gemma4"}})
	r := aboutWeather("Lugano?")
	r.MaxTokens = 50
	inShort(t, e, r)
	q := f.generes[0]
	if q.Raw || q.Template != "{{ .Prompt }}" || !q.Logprobs || q.Think == nil || *q.Think || q.Truncate || q.Prompt != f.prompt || string(q.Options["num_predict"]) != "50" {
		t.Errorf("sent %+v", q)
	}
	f.text = `{"name":"get_weather","arguments":{"city":"Lugano"}}`
	r.Required = true
	if got := inShort(t, e, r); !strings.HasPrefix(got, `[get_weather {"city":"Lugano"}]`) {
		t.Errorf("forced: %s", got)
	}
	if q := f.generes[1]; q.Format == nil || q.Prompt != f.prompt+"<|tool_call>" {
		t.Errorf("forced: sent %+v", q)
	}
}

// TestTheRestIsRaw has the server's own reading fail at several places.
func TestTheRestIsRaw(t *testing.T) {
	const call = `<|tool_call>call:get_weather{city:<|"|>Lugano<|"|>,days:3}`
	for name, row := range map[string]struct {
		text, breaks, rest string
		want               string
		raw                bool // is asked for
	}{
		"in front of the closing mark": {call + "<tool_call|>", "<tool_call|>", "", `[get_weather {"city":"Lugano","days":3}] stop by tokens`, false},
		"behind the call":              {call + "<tool_call|>!", "!", "", `[get_weather {"city":"Lugano","days":3}] stop by tokens`, false},
		"inside the arguments":         {call + "<tool_call|>", "days", "days:3}", `[get_weather {"city":"Lugano","days":3}] stop by tokens`, true},
		"inside the text":              {"It is fine today.", "fine", "fine today.", "It is fine today. stop by tokens", true},
		"at the first token":           {"It is fine.", "It", "It is fine.", "It is fine. stop by tokens", true},
		"in front of what is no call":  {"Yes.<|tool_call>call:other{}<tool_call|>", "<tool_call|>", "", "Yes.<|tool_call>call:other{} stop by tokens", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := gemma(row.text)
			f.breaks = row.breaks
			var raw []ollama.GenerateRequest
			f.then = func(q ollama.GenerateRequest, _ int) string {
				if q.Raw {
					raw = append(raw, q)
					return row.rest
				}
				return row.text
			}
			r := aboutWeather("Lugano?")
			r.MaxTokens = 500
			if got := inShort(t, f.start(t, Config{Format: map[string]string{"*": "gemma4"}}), r); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			before, _, _ := strings.Cut(row.text, row.breaks)
			switch {
			case row.raw != (len(raw) == 1):
				t.Errorf("raw was asked for %d times", len(raw))
			case row.raw && (raw[0].Prompt != f.prompt+before || raw[0].Template != "" || raw[0].Logprobs):
				t.Errorf("raw was asked to go on with %+v", raw[0])
			case row.raw && before != "" && string(raw[0].Options["num_predict"]) == "500":
				t.Error("the rest may have all the tokens once more")
			}
		})
	}
}

// TestNoRest has a server that refuses the rest as well: its reason for the first is told, unless a
// call stands.
func TestNoRest(t *testing.T) {
	f := gemma("Well, " + gemmaCall)
	f.breaks = "Lugano"
	e := f.start(t, Config{Format: map[string]string{"*": "gemma4"}, Strategy: map[string]string{"*": Tokens}})
	f.noRaw = true
	if got := inShort(t, e, aboutWeather("Lugano?")); !strings.Contains(got, "the parser failed") {
		t.Errorf("got %s", got)
	}
}

// TestTokensBySetting has a server without logprobs: nothing of what it reads itself is taken.
func TestTokensBySetting(t *testing.T) {
	f := gemma("Hello.")
	f.control, f.noTap = nil, true
	e := f.start(t, Config{Strategy: map[string]string{"*": Tokens}})
	if got := inShort(t, e, user("hi")); !strings.Contains(got, "shows no tokens") {
		t.Errorf("got %s", got)
	}
}

// TestTheConversationIsEvidence has half a sentence that says nothing of doing: the call behind it
// is meant if the user asked for it.
func TestTheConversationIsEvidence(t *testing.T) {
	const text = "The weather in Lugano:\n\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Lugano\"}}\n```"
	for asked, runs := range map[string]bool{"What is the weather in Lugano?": true, "What is this?": false} {
		f := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion, model.CapabilityTools}, text: text}
		got := inShort(t, f.start(t, Config{Format: map[string]string{"*": "llama3"}}), aboutWeather(asked))
		if strings.Contains(got, "[get_weather ") != runs {
			t.Errorf("%s: %s", asked, got)
		}
	}
}
