package doctor

import (
	"cmp"
	"slices"
	"strings"
)

// mostNear is how many names are suggested for one that does not exist.
const mostNear = 3

// near are the names that may have been meant, the likeliest first: those that hold the wanted one or are held by it, and
// those with few letters changed.
func near(wanted string, names []string) []string {
	type scored struct {
		name string
		far  int
	}
	var all []scored
	want := strings.ToLower(wanted)
	for _, name := range names {
		have := strings.ToLower(name)
		base, _, _ := strings.Cut(have, ":")
		far := distance(want, have)
		if !strings.Contains(want, ":") {
			far = min(far, distance(want, base))
		}
		switch {
		case strings.HasPrefix(have, want), strings.HasPrefix(want, base):
			far = min(far, 1)
		case len(want) > 2 && strings.Contains(have, want):
			far = min(far, 2)
		}
		if far <= max(len(want)/3, 2) {
			all = append(all, scored{name, far})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, s := range all[:min(len(all), mostNear)] {
		out = append(out, s.name)
	}
	return out
}

// distance is how many bytes must be put in, left out or changed to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
