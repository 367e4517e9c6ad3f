package adapters

import (
	"strings"
	"testing"
)

// TestDegreesOfWhichTextRuns reads replies in every degree: how many calls come of each.
func TestDegreesOfWhichTextRuns(t *testing.T) {
	const fenced = "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```"
	for _, row := range []struct {
		family, text          string
		normal, eager, strict int
	}{
		{"hermes", "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>", 1, 1, 1},
		{"hermes", "Here's how you can do it:\n\n" + fenced + "\n\nExplanation:\n- it asks for the weather", 0, 1, 0},
		{"hermes", "Let me check.\n" + fenced, 1, 1, 0},
		{"hermes", fenced, 1, 1, 0},
		{"hermes", "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Oslo\"}", 1, 1, 0},
		{"hermes", "A call is written {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}, as everybody knows.", 0, 1, 0},
		{"hermes", "Write `<tool_call>{\"name\": \"get_time\", \"arguments\": {}}</tool_call>` there.", 0, 0, 0},
		{"hermes", "You can run\n\n```json\n{\"name\": \"no_such_tool\", \"arguments\": {\"city\": \"Oslo\"}}\n```\nor not.", 0, 0, 0},
		{"hermes", "You can run\n\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"days\": 2}}\n```\nor not.", 0, 0, 0},
		{"agent", "Let me check.\n" + fenced, 1, 1, 1},
		{"llama3", "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}", 1, 1, 1},
		{"llama4", "[get_weather(city=\"Oslo\")]", 1, 1, 1},
		{"hermes", "The file has```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```\nin it.", 0, 0, 0},
		{"mistral-small3.2", "Never write [TOOL_CALLS]get_weather[ARGS]{\"city\": \"Oslo\"} in an answer.", 0, 1, 0},
	} {
		for which, want := range map[Which]int{Normal: row.normal, Eager: row.eager, Strict: row.strict} {
			o := Options{Tools: testTools(t), Which: which}
			if got := len(decodeCalls(t, Named(row.family), []string{row.text}, o)); got != want {
				t.Errorf("%s, %s: %d calls, want %d: %q", row.family, whichNames[which], got, want, row.text)
			}
			checkDecode(t, Named(row.family), row.text, "stop", o)
		}
	}
}

func TestParseWhich(t *testing.T) {
	for i, name := range whichNames {
		if got, err := ParseWhich(name); got != Which(i) || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ParseWhich("often"); err == nil {
		t.Error("often is no degree")
	}
}

// mentions are texts about a call: what stands in front of it and behind it, whether the marks are
// those of the model itself, and whether it is a call all the same.
var mentions = []struct {
	front, behind string
	own, other    bool
}{
	{"The header is ", " and it ends there.", false, false},
	{"Nobody should write ", " in a document.", false, false},
	{"The raw reply was\n\n", "\n\nbut the gateway refused it.", true, false},
	{"What the client got was\n", "\nwhich it could not read.", true, false},
	{"Line 2190 of the log is the culprit: ", "", false, false},
	{"The second message of that file reads: ", "", false, false},
	{"Nobody should write `", "` in a document.", false, false},
	{"The file has\n\n> ", "\n\nand that is an old line.", false, false},
	{"The raw reply was\n\n", "", true, true},
	{"Let me check: ", "", true, true},
	{"I'll look it up.\n", "\nThen I will report.", true, true},
}

// TestMentionedMarksStayText mentions the call of each family to a model of the family and to one
// of another: marks at the start of a line are the model's own word alone, and a colon or a
// sentence that goes on shows what it is about.
func TestMentionedMarksStayText(t *testing.T) {
	o := Options{Tools: testTools(t)}
	mark := func(f *Format) string {
		call := strings.Trim(string(f.Append(nil, oneCall[0])), "\n")
		if strings.HasPrefix(call, " to=") {
			return "<|start|>assistant" + call // the prompt has the mark
		}
		return call
	}
	for _, f := range All() {
		call := mark(f)
		if call[0] != '<' && !strings.HasPrefix(call, "[TOOL_CALLS]") {
			continue // words, fences, and calls without marks
		}
		for _, m := range mentions {
			for _, reader := range []*Format{f, Named("llama3"), Named("hermes"), Named("mistral")} {
				opener := mark(reader)[:len("<tool_call>")]
				own := strings.HasPrefix(call, opener) || f == reader
				want := own && m.own || !own && m.other
				if got := decodeCalls(t, reader, []string{m.front + call + m.behind}, o); len(got) > 0 != want {
					t.Errorf("%s told %s: %d calls: %q", f.Name, reader.Name, len(got), m.front+call+m.behind)
				}
			}
		}
	}
}
