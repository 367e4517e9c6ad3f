package models

import (
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// TestTasksAreMarked holds what counts as right.
func TestTasksAreMarked(t *testing.T) {
	c := must.Have(ReadCompany("../../tools/company/seed"))(t)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	all := c.Tasks(now)
	byText := map[string]Task{}
	held := 0
	for _, task := range all {
		byText[task.Text] = task
		if task.Held {
			held++
		}
	}
	if len(all) != 50 || len(byText) != 50 || held != 25 {
		t.Fatalf("%d tasks, %d different, %d held out", len(all), len(byText), held)
	}
	for _, tt := range []struct {
		question, answer string
		want             string
	}{
		{"How many vacation days has employee EMP001 left in 2025?", "EMP001 has 14.5 days left.", ""},
		{"How many vacation days has employee EMP001 left in 2025?", "EMP001 has 4.5 days left.", "wrong"},
		{"How many vacation days has employee EMP001 left in 2025?", "114.5", "wrong"},
		{"How many vacation days has employee EMP001 left in 2025?", " \n", Blank},
		{"How many vacation days has employee EMP001 left in 2025?", "```json\n{\"name\": \"x\"}\n```", Bare},
		{"How many vacation days has employee EMP001 left in 2025?", "Use calculate_vacation_days for the 14.5 days.", "advice to use a tool"},
		{"How many vacation days did EMP004 get in total for 2026?", "20.", ""},
		{"How many vacation days did EMP004 get in total for 2026?", "In 2026", "wrong"},
		{"When was EMP007 hired?", "On February 18, 2019.", ""},
		{"When was EMP007 hired?", "2019-02-18", ""},
		{"When was EMP007 hired?", "On February 8, 2019.", "wrong"},
		{"How many days has EMP013 been employed here?", "For 3,521 days.", ""},
		{"How many days has EMP013 been employed here?", "For 13521 days.", "wrong"},
		{"Who was hired earlier, EMP001 or EMP002?", "EMP001 was hired earlier than EMP002.", ""},
		{"Who was hired earlier, EMP001 or EMP002?", "EMP002 was hired earlier than EMP001.", "wrong"},
		{"Who was hired earlier, EMP001 or EMP002?", "Both on one day: EMP001, EMP002.", "wrong"},
		{"Answer yes or no: does EMP001 have more than 10 vacation days left in 2025?", "Yes, it has 14.5.", ""},
		{"Answer yes or no: does EMP001 have more than 10 vacation days left in 2025?", "No.", "wrong"},
		{"In which department does Ivan Novák work?", "In Engineering.", ""},
		{"Hi there!", "Hello!", ""},
	} {
		task, ok := byText[tt.question]
		if got := task.Mark(Answer{Text: tt.answer}).Why; !ok || got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.question, tt.answer, got, tt.want)
		}
	}
	hello := byText["Hi there!"]
	if got := hello.Mark(Answer{Text: "Hello!", Reasoning: "\n[local.get_all_employees {}]\n[1 ms: {}]\n"}); got.Why == "" || len(got.Ran) != 1 {
		t.Errorf("%+v", got)
	}
}
