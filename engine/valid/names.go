package valid

import (
	"maps"
	"slices"
	"strconv"
)

// placeOfName is the place of a name that is not allowed. The library may give that of a neighbour; then the first object at
// the same depth that has such a member is meant.
func placeOfName(v any, path []string, name string) []string {
	at := v
	for _, step := range path {
		at = member(at, step)
	}
	if o, ok := at.(map[string]any); ok {
		if _, ok := o[name]; ok {
			return path
		}
	}
	if found := firstHolder(v, nil, len(path), name); found != nil {
		return found
	}
	return path
}

// firstHolder finds an object that has the member, exactly so many levels down.
func firstHolder(v any, path []string, depth int, name string) []string {
	if o, ok := v.(map[string]any); ok && depth == 0 {
		if _, ok := o[name]; ok {
			return append([]string{}, path...)
		}
	}
	if depth == 0 {
		return nil
	}
	for _, step := range steps(v) {
		if found := firstHolder(member(v, step), append(path, step), depth-1, name); found != nil {
			return found
		}
	}
	return nil
}

// steps are the names of a value's members, or the numbers of its elements.
func steps(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		return slices.Sorted(maps.Keys(v))
	case []any:
		for i := range v {
			all = append(all, strconv.Itoa(i))
		}
	}
	return all
}

// member is one step into a value; nil when there is none.
func member(v any, step string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}
