package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// breaches returns an error if there were more wrong readings, crashes and the like than limits.txt
// allows, or if that file is wrong. Otherwise it returns nil.
func (f *figures) breaches() error {
	share := map[string]float64{}
	for n, t := range f.seen.sums() {
		share["wrong "+n] = 1000 * float64(t[wrong]) / float64(max(t.sum(), 1))
		share["lost "+n] = 1000 * float64(t[lost]) / float64(max(t.sum(), 1))
		share["not exact "+n] = 1000 * float64(t.sum()-t[exact]) / float64(max(t.sum(), 1))
	}
	share["crashes"] = float64(f.crashed)
	share["cuts differ"] = float64(f.seen.differ)
	for k, t := range f.cuts {
		share["cut by "+k[1]] += float64(t.partial)
	}
	for form, n := range f.invented {
		if isControl(form) {
			share["controls lost"] += float64(n[0] + n[1] + n[3])
		} else {
			share["invented run"] += float64(n[2] + n[3])
		}
	}
	for _, t := range f.trips {
		share["files changed"] += float64(t.other)
	}
	var all []string
	for n, line := range strings.Split(file("limits.txt"), "\n") {
		what, most, ok := strings.Cut(line, "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		limit, err := strconv.ParseFloat(most, 64)
		if err != nil {
			return fmt.Errorf("limits.txt:%d: %w", n+1, err)
		}
		if share[what] > limit {
			all = append(all, fmt.Sprintf("%s: %.1f, the limit is %.1f", what, share[what], limit))
		}
	}
	if len(all) > 0 {
		return errors.New("\n  " + strings.Join(all, "\n  "))
	}
	return nil
}
