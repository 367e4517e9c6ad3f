package retrieval

import (
	"math"
	"slices"

	"toolnorm/internal/lexical"
)

// fieldWeights are the weights of title, heading and text in BM25F. A heading counts more, because
// it says what the passage below is about.
var fieldWeights = []float64{1, 2, 1}

// order returns the value by which passages are ordered if only words were compared. To the
// passage's BM25 score it adds a little for the share of the query's words in the passage, and for
// the longest sequence of them. This decides between passages that BM25 scores alike.
func order(p *passage, f lexical.Features) float64 {
	sum := f.Ideal + .1*f.Coverage + .1*f.Longest
	if p.Sparse != nil {
		sum += *p.Sparse
	}
	return sum
}

// The numbers from which a score is calculated. None of them depends on a language or a model.
const (
	one     = iota
	byOrder // how well the words of the passage match
	// the square root of how much better they match than those of the passages after the best, in
	// rare words: as a share of the query, one word by chance is half of a short one
	byWords
	byWhole     // whether the query is a word or two that the best passage has
	unknown     // how much of the query no passage covers
	byBehind    // how far, by words, a passage is after the best, from -1 to 0
	byCosine    // how far the cosine exceeds those of the next passages
	byNearer    // how far the cosine is ahead of the best of the others, or behind it
	mostNumbers // how many numbers there are
)

// numbers has the numbers from which the score of one passage is calculated, such as how well its
// words match.
type numbers [mostNumbers]float64

// weights has one weight for each of the numbers of a passage. The weighted sum is the logarithm of
// the odds that the passage answers the query.
type weights [mostNumbers]float64

// The weights that TestPublicSets has fitted, for words alone and for words and vectors.
var (
	ofWords = weights{one: -.62, byOrder: 2.06, byWords: 1.38, byWhole: 1, unknown: .91,
		byBehind: 2.5}
	ofVectors = weights{one: -3.68, byWords: 2.07, byWhole: 3.47, byCosine: .76, byNearer: 2.18}
)

// odds returns the logarithm of the odds that a passage answers the query: the weighted sum of the
// passage's numbers n.
func (w *weights) odds(n *numbers) (sum float64) {
	for i := range n {
		sum += w[i] * n[i]
	}
	return sum
}

// probability converts the logarithm of odds to a probability.
func probability(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// behind is how many of the best passages are compared to see how far one stands out. sisters is
// how many passages of the best one's own document are skipped for that, because they share its
// title and much of its content.
const (
	behind  = 10
	sisters = 5
)

// rivals returns the passages with which the best passage has to be compared. The parameter all has
// the passages, the best first, and must not be empty. Copies of a passage are left out, since they
// answer the query just as well.
func rivals(all []*passage) (others []*passage) {
	best, near := all[0], all[1:min(len(all), 5*behind)]
	copies, family := map[*passage]bool{}, map[string]bool{best.Document: true}
	for _, p := range near {
		if best.words.alike(&p.words) {
			copies[p], family[p.Document] = true, true
		}
	}
	var looked []*words
	passed := 0
	for _, p := range near {
		switch {
		case len(others) == behind-1:
			return others
		case copies[p] || slices.ContainsFunc(looked, p.words.alike):
			continue
		case family[p.Document] && passed < sisters:
			passed++
		default:
			others = append(others, p)
		}
		looked = append(looked, &p.words)
	}
	return others
}

// count computes, for each passage, the numbers from which its score is calculated later. The
// passages must be ordered by how well their words match. The parameter near describes the cosines
// of passages that have nothing to do with the query.
func count(all []*passage, near background) {
	if len(all) == 0 {
		return
	}
	best, rest := all[0], 0.0
	others := rivals(all)
	for _, p := range others {
		rest += p.key / float64(len(others))
	}
	f := best.features
	whole := f.Coverage * f.Coverage * f.Coverage * f.Coverage
	for _, p := range all {
		p.numbers = numbers{
			one: 1, byOrder: math.Log(max(p.key, .02)),
			byWords: math.Sqrt(max(0, p.key-rest) * f.Worth),
			byWhole: whole / max(1, f.Worth), unknown: 1 - f.Known,
		}
		if best.key > 0 {
			p.numbers[byBehind] = p.key/best.key - 1
		}
		p.numbers[byCosine], p.numbers[byNearer] = near.above(p)
	}
}

// background describes the cosines of passages that have nothing to do with the query. For
// different models and queries these cosines differ by tenths. So each search has its own unit: the
// difference between about the tenth and the fiftieth passage. Nothing has to be stored for a
// model, and nothing depends on passages that may not be seen.
type background struct {
	at, unit      float64
	first, second float64           // cosines of the nearest passage and the next, without copies
	closest       map[*passage]bool // the nearest passage and its copies
}

// backgroundOf returns the background of a search, with which cosines are compared. The parameter
// near has the nearest passages, the nearest first. If all of them are copies of one passage, there
// is nothing to compare: backgroundOf returns the zero value, for which background.above returns
// zeros.
func backgroundOf(near []*passage) (b background) {
	b.closest = map[*passage]bool{}
	var others []*passage
	for i, p := range near[:min(len(near), 10*behind)] {
		if i > 0 && !near[0].words.alike(&p.words) {
			others = append(others, p)
		} else {
			b.closest[p] = true
		}
	}
	n := len(others) + 1
	if n < 2 {
		return background{}
	}
	first, last := others[min(behind, max(1, n/4))-1], others[min(5*behind, n-1)-1]
	b.at, b.first, b.second = *first.Dense, *near[0].Dense, *others[0].Dense
	b.unit = max(b.at-*last.Dense, .004)
	if n < behind { // too few to tell
		b.unit = max(b.unit, .05)
	}
	return b
}

// above compares the cosine of a passage with those of passages that have nothing to do with the
// query. The result next says how far the cosine exceeds their level, from -2 to 8. The result
// nearest says how far it exceeds the cosine of the nearest other passage, from -4 to 4. Both are
// in units of the background, and 0 for a passage without a vector.
func (b *background) above(p *passage) (next, nearest float64) {
	if b.unit == 0 || p.Dense == nil {
		return 0, 0
	}
	other := b.first
	if b.closest[p] {
		other = b.second
	}
	return min(8, max(-2, (*p.Dense-b.at)/b.unit)), min(4, max(-4, (*p.Dense-other)/b.unit))
}
