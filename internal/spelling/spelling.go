// Package spelling finds the names that a misspelt one may stand for.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// maxCompared is the largest length in bytes of a name that is compared. A comparison takes time
// proportional to the product of both lengths, and a wrong name may be a whole reply.
const maxCompared = 256

// Near returns those names that resemble word, without regard to letter case. The most similar come
// first, and there are no more than the argument most. A name resembles word if at most a third of
// it, or one letter, differs, or if one of the two contains the other. If the function short is not
// nil, the short form that it returns for each name is compared as well. If no name is similar the
// result is empty.
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

// apart returns whether two names are similar and, in n, a number by which similar names can be
// ordered: the smaller, the more similar. If near is false, n has no meaning.
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

// Distance returns how many bytes must be inserted, deleted or replaced to turn a into b. Swapping
// two neighbours counts as one change (the optimal string alignment distance).
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
