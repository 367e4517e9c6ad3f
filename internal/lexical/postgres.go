package lexical

import (
	"fmt"
	"slices"
	"strings"
)

// PostgreSQL refuses a lexeme of more than 2,046 bytes, and keeps at most 256 positions of a
// lexeme, none above 16,383.
const (
	longestLexeme = 2046
	mostPlaces    = 256
	lastPlace     = 16383
)

// Lexemes returns a text as PostgreSQL's tsvector, to be given as $n::tsvector: 'リモ':1 'モー':2.
// PostgreSQL's own parser would cut texts in another way than Tokens, and its configurations have
// no bigrams. Tokens contain only letters, digits and =-_. so nothing has to be escaped inside the
// quotes.
func Lexemes(text string) string {
	places := map[string][]string{}
	for i, token := range Tokens(text) {
		if len(token) <= longestLexeme && len(places[token]) < mostPlaces {
			places[token] = append(places[token], fmt.Sprint(min(i+1, lastPlace)))
		}
	}
	all := make([]string, 0, len(places))
	for token, at := range places {
		all = append(all, "'"+token+"':"+strings.Join(at, ","))
	}
	slices.Sort(all) // the same text gives the same value
	return strings.Join(all, " ")
}

// Query returns a query as PostgreSQL's tsquery: texts that have any of its tokens. It is empty if
// there is no token; as a tsquery that finds nothing.
func Query(text string) string {
	var all []string
	for _, token := range Distinct(text) {
		all = append(all, "'"+token+"'")
	}
	return strings.Join(all, " | ")
}

// Distinct returns the tokens of a text, each once. They are for a statement that asks how many
// texts have each of them. They are in the text's order, without those that PostgreSQL cannot
// store.
func Distinct(text string) (all []string) {
	seen := map[string]bool{}
	for _, token := range Tokens(text) {
		if !seen[token] && len(token) <= longestLexeme {
			seen[token] = true
			all = append(all, token)
		}
	}
	return all
}
