package retrieval

import (
	"math"

	"toolnorm/internal/lexical"
)

// fieldWeights are those of title, heading and text in BM25F: a word in a heading says what the passage
// below is about.
var fieldWeights = []float64{1, 2, 1}

// weights are those of a passage's worth, fitted to the questions of the evaluation, those without an
// answer among them (logistic regression; make eval fits them anew and prints what comes out). Fitted
// without any one of the three languages, coverage, which decides, stays between 5.6 and 6.7. They do not
// depend on how large a collection is, as BM25 itself does.
var weights = struct{ none, coverage, ideal, lead float64 }{-6.1, 6.1, .7, 1.9}

// worth is what a match of words is worth: how likely a passage with these features answers the query.
// lead is its coverage by that of the best passage: half a question is much where no passage has more of
// it, and little behind one that has all.
//
// BM25 by itself has no scale. Divided by what the query would score as a passage of its own it stays
// below .5 for most right answers, since questions hold words that no answer has and answers are longer
// than questions: the threshold of .6 would hide them. sparse_score and bm25_score are that share; score
// is this.
func worth(f lexical.Features, lead float64) float64 {
	return 1 / (1 + math.Exp(-(weights.none + weights.coverage*f.Coverage + weights.ideal*f.Ideal + weights.lead*lead)))
}

// leads are each passage's coverage by that of the best. They are taken over all candidates, before any is
// cut off, so that a passage's worth does not change with their number.
func leads(features []lexical.Features) []float64 {
	best, all := 0.0, make([]float64, len(features))
	for _, f := range features {
		best = max(best, f.Coverage)
	}
	for i, f := range features {
		if best > 0 {
			all[i] = f.Coverage / best
		}
	}
	return all
}

// order is what stage 5 orders passages by. Coverage and the longest piece decide between passages that
// BM25 holds to be alike.
func order(p *passage, f lexical.Features) float64 {
	sum := f.Ideal + .1*f.Coverage + .1*f.Longest
	if p.Sparse != nil {
		sum += *p.Sparse
	}
	return sum
}
