package lexical

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// Features describe how well a text matches a query, in more detail than the score of Search. All
// values are between 0 and 1, except Worth.
type Features struct {
	// the BM25F score of the text, divided by the score that the query itself would have as a text
	Ideal    float64
	Coverage float64 // how much of the query occurs anywhere in the text
	Longest  float64 // how much of the query occurs in one piece of the text
	Known    float64 // how much of the query occurs in any text
	// the weight of the query, without the beginnings of words, as a multiple of the weight of a
	// word that only one text contains
	Worth float64
}

// Look is a query that was prepared to compute Features. It has the weights of the fields in BM25F.
// The last field of a text is its body. Only in the body does a token get less weight if the field
// is long.
type Look struct {
	x       *Index
	weights []float64
	terms   []term
	place   map[uint32]int // the index in terms of each token number
	asked   []float64      // the weight of each term: its IDF, reduced for grammar
	total   float64        // the sum of asked
	order   []int          // the query's tokens, as indexes in terms
	known   float64        // how much of total occurs in any text
	worth   float64        // see Features
	ideal   float64
}

// Look prepares a query for computing the Features of texts. The argument weights has the weights
// of the fields by index; a missing one is 1. Call Look once for all candidates of a search, so
// that the query is not tokenized and weighted again for each of a hundred texts.
func (x *Index) Look(query string, weights ...float64) *Look {
	pieces := x.asked(query)
	l := &Look{x: x, weights: weights, terms: x.terms(pieces), place: map[uint32]int{},
		ideal: x.Ideal(query)}
	at := map[string]int{}
	for _, p := range pieces {
		if _, there := at[p.token]; !there {
			i := len(at)
			at[p.token] = i
			if t := l.terms[i]; t.known {
				l.place[t.number] = i
			}
			// A token that no text has counts like one that a single text has.
			n := x.frequency(p.token)
			l.asked = append(l.asked, x.idfOf(max(1, n))*p.share)
			l.total += l.asked[i]
			if n > 0 {
				l.known += l.asked[i]
			}
			if p.token[0] != '~' { // the word itself is asked for as well
				l.worth += l.asked[i] / x.idfOf(1)
			}
		}
		l.order = append(l.order, at[p.token])
	}
	return l
}

// Shares returns the distinct tokens of the query. The weight of each is its share in the weight of
// the whole query, so all weights together are 1. Features.Coverage adds up the weights of the
// tokens that a text has.
func (l *Look) Shares() (all []Term) {
	for i, t := range l.terms {
		if l.total > 0 {
			all = append(all, Term{t.token, l.asked[i] / l.total})
		}
	}
	return all
}

// Features returns the features of the text in the row with the number at. The time is proportional
// to the text's length; the text is not tokenized again, since the index has its tokens in order.
func (l *Look) Features(at int) Features { return l.Of(l.x.rows[at].fields, l.place) }

// Of returns the features of a text. The parameter fields has the numbers of the text's tokens,
// field by field. The map place gives the index in the query's Terms for the number of each token
// of the query.
func (l *Look) Of(fields [][]uint32, place map[uint32]int) (f Features) {
	found, runs := make([]float64, len(l.terms)), run{look: l}
	var some [4]uint64 // few tokens of a text are the query's; this tells most others from them
	for number := range place {
		some[number>>6&3] |= 1 << (number & 63)
	}
	for i, field := range fields {
		share := l.weight(i)
		if i == len(fields)-1 {
			share /= 1 - b + b*float64(len(field))/l.x.average()
		}
		runs.end()
		for at, number := range field {
			if some[number>>6&3]&(1<<(number&63)) == 0 {
				continue
			}
			if term, asked := place[number]; asked {
				found[term] += share
				runs.add(at, term)
			}
		}
	}
	f.Longest = runs.best
	if l.total == 0 {
		return f
	}
	for i, t := range l.terms {
		if found[i] > 0 {
			f.Ideal += t.idf * found[i] * (k1 + 1) / (found[i] + k1)
			f.Coverage += l.asked[i] / l.total
		}
	}
	f.Ideal, f.Coverage, f.Longest = min(1, f.Ideal/l.ideal), min(1, f.Coverage),
		min(1, f.Longest/l.total)
	f.Known, f.Worth = l.known/l.total, l.worth
	return f
}

// weight returns the weight of the field with the given index, or 1 if the query has none for it.
func (l *Look) weight(field int) float64 {
	if field < len(l.weights) {
		return l.weights[field]
	}
	return 1
}

// run finds the longest sequence of tokens that a field of a text and the query have in common, in
// the same order and without others between them. The length is the sum of the tokens' weights.
type run struct {
	look        *Look
	best        float64
	next        int       // the place in the field after the last of the query's tokens
	before, now []float64 // by the query's tokens: the weight of the run that ends with it
}

// end ends all runs of tokens, because a run does not continue in the next field.
func (r *run) end() {
	r.next = 0
	clear(r.before)
}

// add adds a token of the query that occurs in the field. The parameter at is the token's index in
// the field, and term is its index among the distinct tokens of the query.
func (r *run) add(at, term int) {
	if r.before == nil {
		r.before, r.now = make([]float64, len(r.look.order)), make([]float64, len(r.look.order))
	}
	if at != r.next {
		clear(r.before)
	}
	for i, other := range r.look.order {
		r.now[i] = 0
		if other == term {
			r.now[i] = r.look.asked[term]
			if i > 0 {
				r.now[i] += r.before[i-1]
			}
			r.best = max(r.best, r.now[i])
		}
	}
	r.before, r.now, r.next = r.now, r.before, at+1
}

// Matter returns a query without the English words that say nothing about its subject. If it has
// only such words, it is returned unchanged.
func Matter(query string) string {
	var kept []string
	for _, w := range strings.Fields(query) {
		if all := Tokens(w); len(all) == 0 || !english.IsStopWord(all[0]) &&
			!questionWords[all[0]] {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return query
	}
	return strings.Join(kept, " ")
}

// questionWords are the stems of English words that only form questions, besides Snowball's stop
// words.
var questionWords = map[string]bool{"much": true, "mani": true, "long": true, "tell": true,
	"get": true, "need": true, "pleas": true, "happen": true}
