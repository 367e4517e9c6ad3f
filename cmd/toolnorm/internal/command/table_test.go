package command

import (
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// TestTablesFitTheTerminal counts wide letters as two columns.
func TestTablesFitTheTerminal(t *testing.T) {
	rows := [][]string{
		{"NAME", "MARKS", "MODELS"},
		{"deepseek-dsml", strings.Repeat("<｜DSML｜tool_calls> ", 4), "deepseek-v3.2* deepseek-v4*"},
		{"지식베이스", "한국어 설명이 여기에 있습니다, 아주 길게 쓰여 있습니다", "모델"},
	}
	for most := 60; most <= 120; most += 7 {
		var b strings.Builder
		must.OK(t, table(&b, most, rows))
		for line := range strings.Lines(b.String()) {
			if n := columns(strings.TrimSuffix(line, "\n")); n > most {
				t.Errorf("%d columns of %d: %s", n, most, line)
			}
		}
	}
	for most, want := range map[int]string{5: "가나…", 4: "가…", 6: "가나다"} {
		if got := cut("가나다", most); got != want {
			t.Errorf("cut to %d: %q, want %q", most, got, want)
		}
	}
}

// TestRemainingTimeIsThatOfTheWhole holds that no time is told before there is something to tell it
// by.
func TestRemainingTimeIsThatOfTheWhole(t *testing.T) {
	for _, tt := range []struct {
		took  time.Duration
		share float64
		want  string
	}{
		{100 * time.Millisecond, 0.5, ""},
		{10 * time.Second, 0, ""},
		{10 * time.Second, 1, ""},
		{10 * time.Second, 0.25, ", 30s left,"},
	} {
		if got := remaining(tt.took, tt.share); got != tt.want {
			t.Errorf("%v of %v: %q, want %q", tt.took, tt.share, got, tt.want)
		}
	}
}
