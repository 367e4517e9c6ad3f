// Package spelling finds the names that a misspelt one may stand for.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// maxCompared bounds the bytes of a name that is compared: comparing takes the product of two
// lengths, and a wrong name may be a whole reply.
const maxCompared = 256

// Near returns up to most of the names that word may stand for, the likeliest first: those of which
// at most a third differs from it, or one letter, and those that it is a part of, or the other way
// round. Letter case does not count. A name is also compared by its short form, unless short is
// nil.
func Near(word string, names []string, most int, short func(name string) string) []string {
	far := map[string]int{}
	for _, name := range names {
		forms := []string{name}
		if short != nil {
			forms = append(forms, short(name))
		}
		for _, form := range forms {
			n, near := apart(strings.ToLower(word), strings.ToLower(form))
			if before, found := far[name]; near && (!found || n < before) {
				far[name] = n
			}
		}
	}
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := far[name]
		return !ok
	})
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(far[a], far[b]) })
	return near[:min(most, len(near))]
}

// apart returns how far two names are from each other, and whether that is near.
func apart(a, b string) (n int, near bool) {
	if len(a) > len(b) {
		a, b = b, a
	}
	switch {
	case len(b) > maxCompared || a == "":
		return 0, false
	case len(a) > 2 && strings.HasPrefix(b, a):
		return min(len(b)-len(a), 1), true
	case len(a) > 2 && strings.Contains(b, a):
		return 2, true
	}
	n = Distance(a, b)
	return n, n <= max(len(b)/3, 1) && n < len(b)
}

// Distance returns how many bytes must be put in, left out or changed to make a into b. Two
// neighbours that changed places count as one (the optimal string alignment distance).
func Distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
