package vector

import (
	"cmp"
	"container/heap"
	"runtime"
	"slices"
	"sync"
)

// worthSharing is from how many rows on several goroutines search: below, starting them takes
// longer than they save.
const worthSharing = 8192

// nearest returns the n rows with the highest scores, the highest first; of equals the first. It
// looks at all rows, in one piece for each processor.
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

// first puts hits in order, and gives n of them at most. Of equals the lower row comes first,
// however many goroutines searched.
func first[S ~[]Hit](n int, all S) []Hit {
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return all[:min(n, len(all))]
}

// best returns the n best. A heap of n, whose worst is replaced, costs one comparison for nearly
// every row; sorting all would cost seventeen. They are of the rows from start to end, in no order.
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

// worstFirst is a heap of hits whose first is the one to be replaced.
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
