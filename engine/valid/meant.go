package valid

import (
	"slices"

	"toolnorm/chat/schema"
	"toolnorm/internal/jsontree"
)

// Renamed returns the arguments with misspelt members renamed to required members that are missing.
// For example, if content is required, the member contents in {"path": "a", "contents": "b"} is
// renamed. A member can be renamed if the schema does not list it and its name is similar to the
// missing one. Renamed returns false if there is not exactly one such member for a missing one, or
// if the result does not fit the schema.
func (v *Validator) Renamed(args []byte) (renamed []byte, ok bool) {
	for range mostProblems {
		problems := v.Check(args)
		at := slices.IndexFunc(problems, func(p Problem) bool { return p.Keyword == "required" })
		if at < 0 {
			return args, len(problems) == 0
		}
		if args, ok = v.withName(args, problems[at].Path); !ok {
			return nil, false
		}
	}
	return nil, false
}

// withName returns the arguments args with one misspelt member renamed. The last element of path is
// the correct name, and the elements before it lead to the object with the member. withName returns
// false if no member of the object is similar to that name, or if several are.
func (v *Validator) withName(args []byte, path []string) ([]byte, bool) {
	doc, _, _ := v.judge(args, true)
	if doc == nil || len(path) == 0 {
		return nil, false
	}
	parent, name := path[:len(path)-1], path[len(path)-1]
	var near []*node
	for _, one := range doc.at(parent).inside {
		if misspelt(one.name, name) && !v.lists(parent, one.name) {
			near = append(near, one)
		}
	}
	if len(near) != 1 {
		return nil, false
	}
	from := near[0].from
	return slices.Concat(args[:from], []byte(schema.Quote(name)),
		args[from+jsontree.StringEnd(args[from:]):]), true
}

// lists reports whether the schema lists a member with the given name for the object at parent.
func (v *Validator) lists(parent []string, name string) bool {
	for _, s := range v.at(parent) {
		if s.Properties[name] != nil {
			return true
		}
	}
	return false
}

// WithoutWrong returns arguments without the optional members whose values do not fit. It returns
// false if the rest does not fit. If a wrong member is required, it tries to remove the object
// around that member instead.
func (v *Validator) WithoutWrong(args []byte) (left []byte, ok bool) {
	for range mostProblems {
		problems := v.Check(args)
		if len(problems) == 0 {
			return args, true
		}
		if args, ok = v.withoutOne(args, problems); !ok {
			return nil, false
		}
	}
	return args, len(v.Check(args)) == 0
}

// withoutOne returns the arguments without the member in which the first problem is. If removing
// that member causes another problem, withoutOne removes instead the innermost member around it
// whose removal causes none. It returns false if there is no such member.
func (v *Validator) withoutOne(args []byte, problems []Problem) ([]byte, bool) {
	path := problems[0].Path
	for n := len(path); n > 0; n-- {
		doc, _, _ := v.judge(args, true)
		if doc == nil {
			return nil, false
		}
		if around := doc.at(path[:n-1]); around.Value == nil || around.Raw[0] != '{' ||
			doc.at(path[:n]).Value == nil {
			continue
		}
		doc.spread([]mark{{path: path[:n], what: surplus}}, 0)
		without := doc.edited(nil)
		if !slices.ContainsFunc(v.Check(without), func(p Problem) bool {
			return isNew(p, problems)
		}) {
			return without, true
		}
	}
	return nil, false
}

// isNew reports whether the problem p, found after a member was removed, shows that the removal was
// wrong. The list before has the problems before the removal, which was to solve the first of them.
// So isNew returns true if p is this first problem, or is not in the list.
func isNew(p Problem, before []Problem) bool {
	at := slices.IndexFunc(before, func(b Problem) bool { return b.Text == p.Text })
	return at <= 0
}
