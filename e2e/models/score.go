package models

import (
	"slices"

	"toolnorm/internal/exam"
)

// Score counts one row of the report.
type Score struct {
	Calls     int     // prompts that want calls
	Tools     int     // of them, those with just the right tools called
	Arguments int     // of them, those with the right arguments besides
	Plain     int     // prompts that want none
	False     int     // of them, those that drew a call
	Errors    int     // prompts that ended in an error
	Median    float64 // seconds a reply took
}

// ScoreOf compares answers with what was wanted, in the same order.
func ScoreOf(prompts []exam.Question, answers []Answer) (s Score) {
	var seconds []float64
	for i, p := range prompts[:min(len(prompts), len(answers))] {
		a := answers[i]
		seconds = append(seconds, a.Seconds)
		if a.Error != "" {
			s.Errors++
		}
		if len(p.Want) == 0 {
			s.Plain++
			s.False += count(len(a.Calls) > 0)
			continue
		}
		s.Calls++
		tools, arguments := p.Mark(a.calls())
		s.Tools += count(tools)
		s.Arguments += count(tools && arguments)
	}
	slices.Sort(seconds)
	if len(seconds) > 0 {
		s.Median = seconds[len(seconds)/2]
	}
	return s
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
