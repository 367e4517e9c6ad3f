package exam

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/chat"
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

func parsed(t *testing.T, text string) []Question {
	t.Helper()
	questions, err := Parse(text)
	must.OK(t, err)
	return questions
}

func TestQuestionsAreParagraphs(t *testing.T) {
	questions := parsed(t, someTools)
	if len(questions) != 4 || questions[0].Text != "What's the weather\nin Paris?" || len(questions[1].Want) != 2 || len(questions[3].Want) != 0 {
		t.Errorf("read %+v", questions)
	}
	for _, bad := range []string{"=> none", "Hello.\n\n", "Hello.\n=> f {", "Hello.\n=> f {\"a\": \"~(\"}", "Hello."} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestCallsAreMarked(t *testing.T) {
	questions := parsed(t, someTools)
	for _, c := range []struct {
		question         int
		calls            string // NAME ARGUMENTS, one a line
		tools, arguments bool
	}{
		{0, `get_weather {"city":"Paris, France"}`, true, true},
		{0, `get_weather {"days":1,"city":" paris "}`, true, true},
		{0, `get_weather {"city":"Paris","days":2}`, true, false},
		{0, `get_weather {"city":"Paris","days":"1"}`, true, false},
		{0, `get_weather {"city":"Paris","unit":"C"}`, true, false},
		{0, `get_weather {"days":1}`, true, false},
		{0, `get_weather {"city":"Pa`, true, false},
		{0, `get_time {"city":"Paris"}`, false, false},
		{0, "get_weather {\"city\":\"Paris\"}\nget_time {}", false, false},
		{0, ``, false, true},
		{1, "get_weather {\"city\":\"OSLO\"}\nget_weather {\"city\":\"Rome\"}", true, true},
		{1, "get_weather {\"city\":\"Oslo\"}\nget_weather {\"city\":\"Oslo\"}", true, false},
		{1, `get_weather {"city":"Rome"}`, false, true},
		{2, `add_note {"text":"if a < b","tags":["home"]}`, true, true},
		{2, `add_note {"text":"if a < b","tags":"home"}`, true, false},
		{2, `add_note {"text":"if a &lt; b","tags":["home"]}`, true, false},
		{3, ``, true, true},
		{3, `get_time {}`, false, false},
	} {
		var calls []chat.Call
		for line := range strings.Lines(c.calls) {
			name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			calls = append(calls, chat.Call{Name: name, Args: json.RawMessage(args)})
		}
		if tools, arguments := questions[c.question].Mark(calls); tools != c.tools || tools && arguments != c.arguments {
			t.Errorf("Mark(%s) = %v, %v, want %v, %v", c.calls, tools, arguments, c.tools, c.arguments)
		}
	}
}

// FuzzParse reads any file, and marks calls with any arguments by what it says.
func FuzzParse(f *testing.F) {
	f.Add(someTools, `{"city":"Paris"}`)
	f.Add("A?\n=> f {\"a?\": \"~(\", \"b\": [1]}\n\n# x\nB\n=> none\n", `{"a":[],"b":null}`)
	f.Fuzz(func(t *testing.T, text, args string) {
		questions, err := Parse(text)
		if err != nil {
			return
		}
		var s Score
		for _, q := range questions {
			s.Add(q, []chat.Call{{Name: "f", Args: json.RawMessage(args)}})
		}
		if s.Calls+s.Plain != len(questions) || s.Arguments > s.Tools || s.Tools > s.Calls || s.False != s.Plain {
			t.Errorf("%d questions are counted as %+v", len(questions), s)
		}
	})
}
