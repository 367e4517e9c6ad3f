package adapters

import "testing"

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
