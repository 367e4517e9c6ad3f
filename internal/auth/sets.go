package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Sets says which sets of tools callers may use, by who they are: the label of a key, the sub of a
// JWT or "local"; behind "role:" a role of a JWT; and "*", all who are named in no other way.
type Sets map[string][]string

// Names by which Sets knows callers beside their own.
const (
	ofRole   = "role:"
	everyone = "*"
)

// ReadSets reads the words of a setting: the sets of a caller, with commas or blanks between. check
// says what is wrong with the name of a set.
func ReadSets(words map[string]string, check func(name string) error) (Sets, error) {
	if len(words) == 0 {
		return nil, nil
	}
	all := Sets{}
	for who, text := range words {
		if strings.TrimSpace(who) == "" || who == ofRole {
			return nil, fmt.Errorf("%q names nobody; there are the label of a key, the sub of a JWT, role:NAME, local and *", who)
		}
		all[who] = []string{} // of none is no tool: an empty text must not open all
		for _, name := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
			if err := check(name); err != nil {
				return nil, fmt.Errorf("%s=%s: %w", who, text, err)
			}
			all[who] = append(all[who], name)
		}
	}
	return all, nil
}

// Of returns the sets that somebody may use; nil: all tools. They are those of the JWT's claim
// tool_sets, of the caller's own name and of each role. An administrator is bounded as others are,
// so that a setting means what it says.
func (s Sets) Of(p *Principal) []string {
	sets := p.Sets
	take := func(who string) {
		if more, ok := s[who]; ok {
			sets = append(append([]string{}, sets...), more...)
		}
	}
	// A token must not choose a role, or stand for all, by the name that it bears.
	if !strings.HasPrefix(p.Subject, ofRole) && p.Subject != everyone {
		take(p.Subject)
	}
	for _, role := range p.roles {
		take(ofRole + role)
	}
	if sets == nil {
		take(everyone)
	}
	return slices.Clone(sets)
}

// Holders lists who may use a set by the settings, in their order.
func (s Sets) Holders(set string) (who []string) {
	for name, sets := range s {
		if slices.Contains(sets, set) {
			who = append(who, name)
		}
	}
	slices.Sort(who)
	return who
}
