package models

import (
	"strings"
	"testing"

	"toolnorm/internal/exam"
	"toolnorm/internal/test/must"
)

const someTools = `
# a comment
What's the weather
in Paris?
=> get_weather {"city": "~^paris", "days?": 1}

Two?
=> get_weather {"city": "Rome"}
=> get_weather {"city": "Oslo"}

Note it.
=> add_note {"text": "~a < b", "tags": ["Home"]}

Hello.
=> none
`

func parsed(t *testing.T, text string) []exam.Question {
	t.Helper()
	return must.Have(exam.Parse(text))(t)
}

// TestThePromptsFile holds the file to what the report promises.
func TestThePromptsFile(t *testing.T) {
	text := must.Read(t, "prompts.txt")
	plain := 0
	prompts := parsed(t, string(text))
	for _, p := range prompts {
		plain += count(len(p.Want) == 0)
	}
	if len(prompts) < 40 || plain < 10 || len(prompts)-plain < 30 {
		t.Errorf("%d prompts, %d of them want no call; want 40 and 10 at least", len(prompts), plain)
	}
}

func TestScoreCounts(t *testing.T) {
	prompts := parsed(t, someTools)
	paris := Call{Name: "get_weather", Args: `{"city":"Paris"}`}
	got := ScoreOf(prompts, []Answer{
		{Calls: []Call{paris}, Seconds: 3}, {Calls: []Call{paris}, Seconds: 1}, {Error: "gone", Seconds: 9}, {Calls: []Call{paris}, Seconds: 2},
	})
	want := Score{exam.Score{Calls: 3, Tools: 1, Arguments: 1, Plain: 1, False: 1}, 1, 3}
	if got != want {
		t.Errorf("ScoreOf = %+v, want %+v", got, want)
	}
}

func TestStreamsArePutTogetherGenerously(t *testing.T) {
	for name, c := range map[string]struct{ stream, calls, text, fails string }{
		"fragments": {stream: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}
data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}}]}
data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}
data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}
data: [DONE]`, calls: `f{"x":1}`},
		"two calls with one index, in the last chunk": {stream: `data: {"choices":[{"delta":{"content":"Hi","tool_calls":[` +
			`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			calls: `f{}g{}`, text: "Hi"},
		"cut":   {stream: `data: {"choices":[{"delta":{"content":"Hi"}}]}`, text: "Hi", fails: "without a finish_reason"},
		"error": {stream: `data: {"error":{"message":"gone"}}`, fails: "gone"},
	} {
		var a Answer
		err := a.read(strings.NewReader(c.stream))
		calls := ""
		for _, call := range a.Calls {
			calls += call.Name + call.Args
		}
		if calls != c.calls || a.Text != c.text || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: calls %q, text %q, error %v", name, calls, a.Text, err)
		}
	}
}

func TestRowsAreKeptForTheSamePrompts(t *testing.T) {
	dir := t.TempDir()
	prompts := parsed(t, "A?\n=> none")
	row := Row{Setup: "S", Way: "Ollama's `/v1`", Answers: []Answer{{Prompt: "A?", Text: "no"}}}
	if more := parsed(t, "A?\n=> none\nC?\n=> none"); !row.Whole(prompts) || row.Whole(more) {
		t.Errorf("a row of one answer: whole with one prompt %v, with two %v", row.Whole(prompts), row.Whole(more))
	}
	must.OK(t, row.Save(dir))
	empty := Row{Setup: row.Setup, Way: row.Way}
	if got, err := empty.Saved(dir, prompts); err != nil || len(got.Answers) != 1 || got.Answers[0].Text != "no" {
		t.Errorf("Saved = %+v, %v", got, err)
	}
	if got, err := empty.Saved(dir, parsed(t, "B?\n=> none")); err != nil || len(got.Answers) != 0 {
		t.Errorf("Saved for other prompts = %+v, %v", got, err)
	}
	if got, err := empty.Saved(t.TempDir(), prompts); err != nil || len(got.Answers) != 0 {
		t.Errorf("Saved where there is nothing = %+v, %v", got, err)
	}
}

func TestReportShowsScoresAndMisses(t *testing.T) {
	r := Report{Machine: "M", Versions: "V", Prompts: parsed(t, someTools), Rows: []Row{
		{Setup: "S", Way: "toolnorm", Load: 2, Revision: "abc", Answers: []Answer{
			{Calls: []Call{{Name: "get_weather", Args: `{"city":"Paris"}`}}, Strategy: "raw", Seconds: 1.25},
			{Text: "I can't\nuse `f`."}, {Text: "I can't\nuse `f`."}, {Text: "Hello!"},
		}},
	}}
	var b strings.Builder
	r.Write(&b)
	for _, want := range []string{
		"3 prompts want a call, 1 want none", "| toolnorm (raw) | 1 of 3 | 1 of 3 | 0 of 1 | 0 | 0.0 |",
		"- Two? · Note it.\n  `` I can't⏎use `f`. ``\n", "Revision: abc.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "Hello!") {
		t.Errorf("the report shows a right reply as a miss:\n%s", b.String())
	}
}
