package lexical

import (
	"cmp"
	"slices"
)

// rank is the constant 60 of reciprocal rank fusion, which limits the influence of the first ranks.
const rank = 60

// Fuse merges rankings of rows by the sum of 1/(60+rank), the best first. Ranks can be added where
// scores cannot: a cosine and BM25 have no common scale.
func Fuse(n int, rankings ...[]int) []int {
	var rows []int
	for _, hit := range FuseScores(rankings...) {
		rows = append(rows, hit.Row)
	}
	return rows[:min(n, len(rows))]
}

// FuseScores is like Fuse, and returns the sums divided by the largest one possible: a row that is
// first everywhere has 1. Undivided, two rankings give .0328 at most, which reads like a bad match.
func FuseScores(rankings ...[]int) []Hit {
	scores := map[int]float64{}
	for _, ranking := range rankings {
		for i, row := range ranking {
			scores[row] += 1 / float64(rank+i+1)
		}
	}
	hits := make([]Hit, 0, len(scores))
	for row, sum := range scores {
		hits = append(hits, Hit{row, sum * (rank + 1) / float64(len(rankings))})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return hits
}
