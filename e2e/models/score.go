package models

import (
	"slices"

	"toolnorm/internal/exam"
)

// Score counts one row of the report.
type Score struct {
	exam.Score
	Errors int     // prompts that ended in an error
	Median float64 // seconds a reply took
}

// ScoreOf compares answers with what was wanted, in the same order.
// The median is that of all replies: one that hung does not hide the rest, as it would in a mean.
func ScoreOf(prompts []exam.Question, answers []Answer) (s Score) {
	var seconds []float64
	for i, p := range prompts[:min(len(prompts), len(answers))] {
		a := answers[i]
		seconds = append(seconds, a.Seconds)
		if a.Error != "" {
			s.Errors++
		}
		s.Add(p, a.calls())
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
