package sqlsafe

import (
	"embed"
	"strings"
	"sync"
)

//go:embed *.txt
var lists embed.FS

// lines returns the lines of an embedded list without its remarks. Lines that begin with # are
// remarks why something is on a list, or is not.
func lines(name string) (all []string) {
	text, _ := lists.ReadFile(name) // embedded, so this cannot fail
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// names returns the set of words in a list.
func names(name string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines(name) {
		for word := range strings.FieldsSeq(line) {
			set[word] = true
		}
	}
	return set
}

// The lists. Each is read when it is first needed.
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

// members maps the members that a kind of node may have to their kinds. The kind is empty if the
// tree names it, or if the member is a plain value.
type members map[string]string

// grammar reads the list of what a SELECT may consist of. A line has a kind and its members,
// "SelectStmt targetList fromClause …", with =Kind after a member whose node does not name its
// kind.
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
