package vector

import (
	"cmp"
	"container/heap"
	"runtime"
	"slices"
	"sync"
)

// worthSharing is the number of rows from which several goroutines search. With fewer rows,
// starting them takes longer than they save.
const worthSharing = 8192

// nearest returns the n allowed rows with the highest scores, the highest first; rows with the same
// score are in their order. It looks at all rows, which it divides among the processors. If n is
// not positive it returns nil.
func nearest(rows, n int, allowed func(row int) bool, score func(row int) float32) []Hit {
	if n <= 0 {
		return nil
	}
	workers := 1
	if rows >= worthSharing {
		workers = runtime.GOMAXPROCS(0)
	}
	parts := make([]worstFirst, workers)
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() { parts[i] = best(rows*i/workers, rows*(i+1)/workers, n, allowed, score) })
	}
	wait.Wait()
	return first(n, slices.Concat(parts...))
}

// first sorts hits and returns the first n of them, or all if there are fewer. Hits with the same
// score are in the order of their rows, however many goroutines searched.
func first[S ~[]Hit](n int, all S) []Hit {
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return all[:min(n, len(all))]
}

// best returns the n best of the allowed rows in a range, in no order. A heap of n hits whose worst
// is replaced costs one comparison for nearly every row; sorting all rows would cost seventeen.
func best(start, end, n int, allowed func(row int) bool, score func(row int) float32) worstFirst {
	var best worstFirst
	for row := start; row < end; row++ {
		if allowed != nil && !allowed(row) {
			continue
		}
		hit := Hit{row, score(row)}
		switch {
		case len(best) < n:
			heap.Push(&best, hit)
		case hit.Score > best[0].Score:
			best[0] = hit
			heap.Fix(&best, 0)
		}
	}
	return best
}

// worstFirst is a heap of hits. The first hit is the worst one, which the next better hit replaces.
type worstFirst []Hit

// Len returns the number of hits, for package heap.
func (h worstFirst) Len() int { return len(h) }

// Less reports whether hit i is worse than hit j: it has a lower score, or the same score and a
// later row.
func (h worstFirst) Less(i, j int) bool {
	return h[i].Score < h[j].Score || h[i].Score == h[j].Score && h[i].Row > h[j].Row
}

// Swap swaps two hits, for package heap.
func (h worstFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push appends a hit, for package heap.
func (h *worstFirst) Push(x any) { *h = append(*h, x.(Hit)) }

// Pop removes and returns the last hit, for package heap.
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
