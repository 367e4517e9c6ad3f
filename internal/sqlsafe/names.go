package sqlsafe

import (
	"embed"
	"strings"
	"sync"
)

//go:embed *.txt
var lists embed.FS

// lines returns the lines of the embedded list with the given name. It leaves out comments, which
// begin with # and explain why something is, or is not, in the list.
func lines(name string) (all []string) {
	text, _ := lists.ReadFile(name) // embedded, so this cannot fail
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// names returns the set of words in the embedded list with the given name.
func names(name string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines(name) {
		for word := range strings.FieldsSeq(line) {
			set[word] = true
		}
	}
	return set
}

// The embedded lists. Each is read at its first use.
var (
	postgresFunctions = sync.OnceValue(func() map[string]bool {
		return names("postgres_functions.txt")
	})
	postgresCatalogs = sync.OnceValue(func() map[string]bool {
		return names("postgres_catalogs.txt")
	})
	postgresGrammar = sync.OnceValue(grammar)
	sqliteFunctions = sync.OnceValue(func() map[string]bool {
		return names("sqlite_functions.txt")
	})
)

// members maps the name of each member that a kind of node may have to the kind of the member's
// value. That kind is "" if the parser's tree itself names it, or if the value is plain, such as a
// number.
type members map[string]string

// grammar returns the allowed members of each kind of node that a SELECT may consist of. Each line
// of the embedded list has a kind and its members, "SelectStmt targetList fromClause …". A member
// is followed by =Kind if its value is a node whose kind the parser's tree does not name.
func grammar() map[string]members {
	all := map[string]members{}
	for _, line := range lines("postgres_grammar.txt") {
		words := strings.Fields(line)
		m := members{}
		for _, word := range words[1:] {
			member, kind, _ := strings.Cut(word, "=")
			m[member] = kind
		}
		all[words[0]] = m
	}
	return all
}
