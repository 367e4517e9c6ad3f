package models

import (
	"slices"

	"toolnorm/internal/exam"
)

// Score has the numbers of right and wrong answers in one row of the report, which is about one
// model.
type Score struct {
	exam.Score
	Errors int     // prompts that ended in an error
	Median float64 // seconds a reply took
}

// ScoreOf compares each answer with the calls that its prompt should lead to, and returns the
// counts. Both lists have the same order. Score.Median is the median time of all replies; a mean
// would be distorted by one reply that hung.
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
