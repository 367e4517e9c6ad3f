package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// compare returns an error that lists the differences between two files of counts, or nil if there
// are none. names has both files with a comma between them.
func compare(names string) error {
	a, b, ok := strings.Cut(names, ",")
	if !ok {
		return fmt.Errorf("-compare wants two files with a comma between them, not %q", names)
	}
	one, err := readCounts(a)
	if err != nil {
		return err
	}
	other, err := readCounts(b)
	if err != nil {
		return err
	}
	if all := unequal(one, other); len(all) > 0 {
		return fmt.Errorf("%d counts differ\n  %s", len(all), strings.Join(all, "\n  "))
	}
	fmt.Printf("%d counts, all alike\n", len(one))
	return nil
}

// readCounts reads a file of counts: each value by its path.
func readCounts(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all := map[string]string{}
	leaves("", doc, all)
	return all, nil
}

// leaves adds the values inside of a value, by their paths.
func leaves(path string, v any, all map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			leaves(path+"/"+k, x, all)
		}
	case []any:
		for i, x := range v {
			leaves(fmt.Sprintf("%s/%d", path, i), x, all)
		}
	default:
		all[path] = fmt.Sprint(v)
	}
}

// unequal lists the values that are not alike, in the order of their paths.
func unequal(one, other map[string]string) (all []string) {
	for path, v := range one {
		if w, ok := other[path]; !ok {
			all = append(all, path+": "+v+", then absent")
		} else if v != w {
			all = append(all, path+": "+v+", then "+w)
		}
	}
	for path, w := range other {
		if _, ok := one[path]; !ok {
			all = append(all, path+": absent, then "+w)
		}
	}
	slices.Sort(all)
	return all
}
