package retrieval

import (
	"math"
	"slices"

	"toolnorm/internal/lexical"
)

// fieldWeights are the weights of title, heading and text in BM25F. A heading counts more, because
// it says what the passage below is about.
var fieldWeights = []float64{1, 2, 1}

// order returns the value by which stage 5 orders passages if only words were compared. Coverage
// and the longest matching piece decide between passages that BM25 scores alike.
func order(p *passage, f lexical.Features) float64 {
	sum := f.Ideal + .1*f.Coverage + .1*f.Longest
	if p.Sparse != nil {
		sum += *p.Sparse
	}
	return sum
}

// The numbers from which a score is calculated. None of them depends on a language or a model.
const (
	one      = iota
	byOrder  // how well the words of the passage match
	byMargin // how much better they match than those of the passages after the best
	// the square root of the same in rare words instead of as a share of the query, of which one
	// word by chance is half if it is short
	byWords
	covered // how much of the query the best passage covers
	// the same to the fourth power, since the coverage of a single word is all or nothing
	coveredAll
	byWhole // whether the query is a word or two that the best passage has
	unknown // how much of the query no passage covers
	// by words, how far the best is ahead of the second, or how far another passage is after the
	// best
	byLead
	byBehind    // how far a passage is after the best, from -1 to 0
	byCosine    // how far the cosine exceeds those of the next passages
	byNearer    // how far the nearest passage is ahead of the second
	mostNumbers // how many numbers there are
)

// numbers are the numbers of one passage.
type numbers [mostNumbers]float64

// weights convert numbers into the logarithm of the odds that a passage answers the query.
type weights [mostNumbers]float64

// The weights that TestPublicSets has fitted, for words alone and for words and vectors.
var (
	ofWords = weights{one: -.62, byOrder: 2.06, byWords: 1.38, byWhole: 1, unknown: .91,
		byBehind: 2.5}
	ofVectors = weights{one: -2, byOrder: .91, byMargin: 2.09, covered: -1.94, coveredAll: .43,
		unknown: -.12, byLead: 3.17, byCosine: 1.76, byNearer: .16}
)

// odds returns the logarithm of the odds that a passage with the numbers n answers the query.
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

// rivals returns the passages after the best one with which it has to be compared, without copies,
// since what two documents say answers as well as what one says. closest contains the best passage
// and those of its copies that come before the first rival. all must not be empty.
func rivals(all []*passage) (others []*passage, closest map[*passage]bool) {
	best, near := all[0], all[1:min(len(all), 5*behind)]
	closest = map[*passage]bool{best: true}
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
			return others, closest
		case copies[p]:
			closest[p] = len(others) == 0
			continue
		case slices.ContainsFunc(looked, p.words.alike):
			continue
		case family[p.Document] && passed < sisters:
			passed++
		default:
			others = append(others, p)
		}
		looked = append(looked, &p.words)
	}
	return others, closest
}

// count calculates the numbers of all passages (see numbers), which must be in their order by
// words. near is the background of the search.
func count(all []*passage, near background) {
	if len(all) == 0 {
		return
	}
	best, rest := all[0], 0.0
	others, closest := rivals(all)
	for _, p := range others {
		rest += p.key / float64(len(others))
	}
	next := 0.0 // the best of those that the best has to stand out of
	if len(others) > 0 {
		next = others[0].key
	}
	f := best.features
	whole := f.Coverage * f.Coverage * f.Coverage * f.Coverage
	for _, p := range all {
		p.numbers = numbers{
			one: 1, byOrder: math.Log(max(p.key, .02)), byMargin: p.key - rest,
			byWords: math.Sqrt(max(0, p.key-rest) * f.Worth),
			covered: f.Coverage, coveredAll: whole,
			byWhole: whole / max(1, f.Worth), unknown: 1 - f.Known,
		}
		if best.key > 0 {
			behind := p.key/best.key - 1
			p.numbers[byBehind], p.numbers[byLead] = behind, behind
			if closest[p] {
				p.numbers[byLead] = (p.key - next) / best.key
			}
		}
		if p.Dense != nil {
			p.numbers[byCosine], p.numbers[byNearer] = near.above(*p.Dense), near.lead
		}
	}
}

// background describes the cosines of passages that have nothing to do with the query. Models and
// queries differ by tenths in where those lie. So for each search the difference between about the
// tenth and the fiftieth passage is the unit. Nothing has to be stored for a model, and nothing
// depends on passages that may not be seen.
type background struct{ at, unit, lead float64 }

// backgroundOf returns the background of a search. near has the nearest passages, the nearest
// first. With fewer than two passages, above always returns 0.
func backgroundOf(near []*passage) (b background) {
	near = near[:min(len(near), 10*behind)]
	if len(near) > 0 {
		near = slices.Concat(near[:1], slices.DeleteFunc(slices.Clone(near[1:]),
			func(p *passage) bool { return near[0].words.alike(&p.words) }))
	}
	n := len(near)
	if n < 2 {
		return background{unit: math.Inf(1)}
	}
	first, last := near[min(behind, max(1, n/4))], near[min(5*behind, n-1)]
	b.at = *first.Dense
	b.unit = max(b.at-*last.Dense, .004)
	if n < behind { // too few to tell
		b.unit = max(b.unit, .05)
	}
	b.lead = b.above(*near[0].Dense) - b.above(*near[1].Dense)
	return b
}

// above returns how far a cosine exceeds the background, in units of its spread, from -2 to 8.
func (b background) above(cosine float64) float64 {
	if math.IsInf(b.unit, 1) {
		return 0
	}
	return min(8, max(-2, (cosine-b.at)/b.unit))
}
