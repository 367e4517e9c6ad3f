package lexical

import (
	"cmp"
	"slices"
)

// rank is the constant 60 of reciprocal rank fusion, which limits the influence of the first ranks.
const rank = 60

// Fuse merges rankings of rows and returns the n best rows by the sum of 1/(60+rank). Ranks can be
// added where scores cannot: a cosine and BM25 have no common scale.
func Fuse(n int, rankings ...[]int) []int {
	var rows []int
	for _, hit := range FuseScores(rankings...) {
		rows = append(rows, hit.Row)
	}
	return rows[:min(n, len(rows))]
}

// FuseScores merges rankings as Fuse does, and returns all rows with their sums, the best first.
// The sums are divided by the largest possible one, so a row that is first in every ranking has 1.
// Otherwise two rankings would give at most .0328, which looks like a bad match.
func FuseScores(rankings ...[]int) []Hit { return Join(rank, nil, rankings...) }

// Join merges rankings of rows, and returns all rows with scores, the best first. A score is the
// sum of weight/(constant+rank) over the rankings, divided by the largest possible sum. With nil
// weights all rankings count equally.
func Join(constant int, weights []float64, rankings ...[]int) []Hit {
	scores, most := map[int]float64{}, 0.0
	for r, ranking := range rankings {
		weight := 1.0
		if weights != nil {
			weight = weights[r]
		}
		most += weight / float64(constant+1)
		for i, row := range ranking {
			scores[row] += weight / float64(constant+i+1)
		}
	}
	hits := make([]Hit, 0, len(scores))
	for row, sum := range scores {
		hits = append(hits, Hit{row, sum / most})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return hits
}
