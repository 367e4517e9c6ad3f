package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// compare returns an error that lists the differences between two files of counts, or nil if there
// are none. The parameter names has the names of both files with a comma between them. compare also
// returns an error if a file cannot be read.
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

// readCounts returns the values in a JSON file that contains counts, each by the path that leads to
// it in the document. It returns an error if the file cannot be read or is not JSON.
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

// leaves adds all simple values inside v to the map all, by their paths. The parameter path is the
// path of v.
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

// unequal returns a line for each value that differs between the two maps, or that only one of them
// has, in the order of their paths.
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
