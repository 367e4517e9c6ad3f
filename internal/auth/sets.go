package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Sets maps callers to the sets of tools that they may use. A key of the map is the label of an API
// key, the sub of a JWT, or "local". It may also be "role:" followed by a role of a JWT, or "*" for
// all callers that are not named otherwise.
type Sets map[string][]string

// The keys in Sets that do not name a single caller: a prefix, and a whole key.
const (
	ofRole   = "role:"
	everyone = "*"
)

// ReadSets parses a setting that maps callers to the names of their sets, separated by commas or
// blanks. It returns nil without an error if the setting is empty. It fails if the name of a caller
// is invalid or check returns an error for the name of a set.
func ReadSets(words map[string]string, check func(name string) error) (Sets, error) {
	if len(words) == 0 {
		return nil, nil
	}
	all := Sets{}
	for who, text := range words {
		if strings.TrimSpace(who) == "" || who == ofRole {
			return nil, fmt.Errorf(
				"%q names nobody; there are the label of a key, the sub of a JWT, role:NAME, local and *", who)
		}
		all[who] = []string{} // an empty list allows no tool: an empty text must not allow all
		for _, name := range strings.FieldsFunc(text, func(c rune) bool {
			return c == ',' || c == ' '
		}) {
			if err := check(name); err != nil {
				return nil, fmt.Errorf("%s=%s: %w", who, text, err)
			}
			all[who] = append(all[who], name)
		}
	}
	return all, nil
}

// Of returns the sets that a caller may use, or nil for all tools. They are the sets in the JWT's
// claim tool_sets, and those for the caller's own name and for each role. They bind administrators
// as well, so that a setting means what it says.
func (s Sets) Of(p *Principal) []string {
	sets := p.Sets
	take := func(who string) {
		if more, ok := s[who]; ok {
			sets = append(append([]string{}, sets...), more...)
		}
	}
	// A token must not get a role, or the sets of "*", by the choice of its subject.
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
