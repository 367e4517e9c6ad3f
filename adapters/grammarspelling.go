package adapters

import (
	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat/schema"
)

// spelling is how the values in a body are written: where Append has a function that writes them, this is its image.
type spelling struct {
	name                           string
	open, comma, close             string
	listOpen, listComma, listClose string
	key                            func(key string) string   // a member's name and what stands in front of its value
	end                            func(key string) string   // what stands behind it; nil: nothing
	value                          func(value string) string // a JSON value as it is printed
	yes, no, null                  string
	quotes                         []string // what a string may stand in; none: it is raw
	avoid                          []string // what ends a raw string, so that it cannot stand in one
	word                           bool     // names that no schema has are identifiers
	sorted                         bool     // members are printed by name
	fixed                          bool     // only names that a schema has, and no null
}

var jsonSpelling = &spelling{
	name: "json", open: "{", comma: ", ", close: "}", listOpen: "[", listComma: ", ", listClose: "]", quotes: []string{`"`},
	key:   func(key string) string { return schema.Quote(key) + ": " },
	value: func(value string) string { return string(appendSpaced(nil, value)) },
	yes:   "true", no: "false", null: "null",
}

var pythonSpelling = &spelling{
	name: "python", open: "{", comma: ", ", close: "}", listOpen: "[", listComma: ", ", listClose: "]", quotes: []string{`'`, `"`},
	key:   func(key string) string { return string(appendReprString(nil, key)) + ": " },
	value: func(value string) string { return string(appendRepr(nil, value)) },
	yes:   "True", no: "False", null: "None",
}

// pseudoSpelling has bare names, and a delimiter of the family's own around strings.
func pseudoSpelling(quote string) *spelling {
	return &spelling{
		name: "pseudo", open: "{", comma: ",", close: "}", listOpen: "[", listComma: ",", listClose: "]",
		quotes: []string{quote}, avoid: []string{quote}, word: true, sorted: true,
		key:   func(key string) string { return key + ":" },
		value: func(value string) string { return string(appendPseudo(nil, value, quote)) },
		yes:   "true", no: "false", null: "None",
	}
}

// treeSpelling has tags that are named like the members, and nest.
func treeSpelling(p *declaration.Pattern) *spelling {
	return &spelling{
		name: "tree", listOpen: p.OpenTag(itemKey), listComma: p.CloseTag(itemKey) + p.OpenTag(itemKey), listClose: p.CloseTag(itemKey),
		avoid: p.ValueEnds(), fixed: true,
		key: p.OpenTag, end: p.CloseTag,
		value: func(value string) string { return string(appendTree(p, nil, value)) },
		yes:   "true", no: "false",
	}
}

// id matches the id of a call, a string.
func (s *spelling) id() string { return seq(lit(s.quotes[0]), "[a-zA-Z0-9_-]{1,40}", lit(s.quotes[0])) }
