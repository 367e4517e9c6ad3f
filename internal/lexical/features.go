package lexical

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// Features say how a text matches a query, beyond the sum that Search orders by: what a second, closer
// look can add to the first. Each is in [0,1].
type Features struct {
	Ideal    float64 // BM25F of the text, where titles count more, divided by that of the query as a text of its own
	Coverage float64 // of what the query asks for, how much is anywhere in the text
	Longest  float64 // how much of it stands there in one piece
}

// Look prepares a query for Features. Weights are those of the fields in BM25F; the last field is the
// body, whose length counts.
type Look struct {
	x       *Index
	weights []float64
	terms   []term
	place   map[uint32]int // of a token, in terms
	asked   []float64      // what each term asks for: its IDF, less for particles
	total   float64        // of asked
	order   []int          // the query's tokens, as places in terms
	ideal   float64
}

// Look prepares a query. It is made once for all candidates of a search: a query is cut and weighed once,
// and a hundred texts are looked at.
func (x *Index) Look(query string, weights ...float64) *Look {
	tokens := Tokens(Content(query))
	l := &Look{x: x, weights: weights, terms: x.terms(tokens), place: map[uint32]int{}, ideal: x.Ideal(query)}
	at := map[string]int{}
	for _, token := range tokens {
		if _, there := at[token]; !there {
			i := len(at)
			at[token] = i
			t := l.terms[i]
			if t.known {
				l.place[t.number] = i
			}
			// What no text has counts as what one text has: that nobody wrote of it says no more.
			l.asked = append(l.asked, x.idfOf(max(1, x.frequency(token)))*share(token))
			l.total += l.asked[i]
		}
		l.order = append(l.order, at[token])
	}
	if l.total == 0 { // nothing but particles: then they are what is asked for
		for i, t := range l.terms {
			l.asked[i] = t.idf
			l.total += t.idf
		}
	}
	return l
}

// Features looks at one text. The cost is that of its length, since its tokens are kept in their order:
// nothing is cut again.
func (l *Look) Features(at int) (f Features) {
	r := l.x.rows[at]
	found := make([]float64, len(l.terms))
	for i, field := range r.fields {
		share := l.weight(i)
		if i == len(r.fields)-1 {
			share /= 1 - b + b*float64(len(field))/l.x.average()
		}
		for _, number := range field {
			if place, asked := l.place[number]; asked {
				found[place] += share
			}
		}
		f.Longest = max(f.Longest, l.longest(field))
	}
	if l.total == 0 {
		return f
	}
	for i, t := range l.terms {
		if found[i] > 0 {
			f.Ideal += t.idf * found[i] * (k1 + 1) / (found[i] + k1)
			f.Coverage += l.asked[i] / l.total
		}
	}
	f.Ideal, f.Coverage, f.Longest = min(1, f.Ideal/l.ideal), min(1, f.Coverage), min(1, f.Longest/l.total)
	return f
}

// weight is that of a field; 1 where none was given. Short fields have no length to be held against: a
// title of ten words is no worse than one of two.
func (l *Look) weight(field int) float64 {
	if field < len(l.weights) {
		return l.weights[field]
	}
	return 1
}

// longest returns the most that one piece of the text has of the query, in the query's order: the longest
// common run, each token worth what it asks for.
func (l *Look) longest(field []uint32) (best float64) {
	before, now := make([]float64, len(l.order)), make([]float64, len(l.order))
	for _, number := range field {
		place, asked := l.place[number]
		if !asked {
			clear(before)
			continue
		}
		for i, term := range l.order {
			now[i] = 0
			if term == place {
				now[i] = l.asked[term]
				if i > 0 {
					now[i] += before[i-1]
				}
				best = max(best, now[i])
			}
		}
		before, now = now, before
	}
	return best
}

// share says how much of a token's IDF is about the matter: nothing of English stop words and of hiragana
// alone, a quarter of a bigram that is half a particle, as 当の in 手当の and 당은 in 수당은: another particle in
// the text is no other matter.
func share(token string) float64 {
	runes := []rune(token)
	switch {
	case english.IsStopWord(token) || questionWords[token]:
		return 0
	case len(runes) > 2 || runes[0] < 0x80:
		return 1
	}
	kana := 0
	for _, r := range runes {
		if unicode.Is(unicode.Hiragana, r) {
			kana++
		}
	}
	switch {
	case kana == len(runes):
		return 0
	case kana > 0 || len(runes) == 2 && strings.ContainsRune("은는이가을를의에로도만과와요", runes[1]):
		return .25
	}
	return 1
}

// Content returns a query without the phrases that only say it is a question. What they hold counts as words
// that the text does not have: リモートワーク手当について教えて was covered by half.
func Content(query string) string { return asking.Replace(query) }

// Matter returns a query without the words that say nothing of what is asked: phrases of questions, and the stop words of English. Where
// nothing else is left it is the query itself.
func Matter(query string) string {
	var kept []string
	for _, w := range strings.Fields(Content(query)) {
		if all := Tokens(w); len(all) != 1 || share(all[0]) > 0 {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return query
	}
	return strings.Join(kept, " ")
}

// asking are phrases and words of questions; the longer ones come first, since the first that fits is
// taken. Words that ask for a number or a time are among them: the answer has the number.
var asking = strings.NewReplacer(phrases(
	"について教えてください", "について教えて", "についておしえて", "に関して教えて", "を教えてください", "を教えて", "教えてください", "教えて", "について",
	"に関して", "とは何ですか", "は何ですか", "何ですか", "ですか", "ますか", "でしょうか", "どうすればいい", "どうすれば", "どのように",
	"何時から何時まで", "何時から", "何時", "何日以上", "何日まで", "何日", "何回", "何歳から", "何歳", "何パーセント", "何か月", "何年",
	"いくら", "いつまでに", "いつまで", "いつ", "どこから", "どこで", "どこ", "誰",
	"에 대해 알려주세요", "에 대해 알려줘", "에 대해서", "에 대해", "알려 주세요", "알려주세요", "알려줘", "무엇인가요", "무엇입니까", "뭐예요", "뭔가요",
	"어떻게 되나요", "어떻게 하나요", "어떻게 해야 하나요", "어떻게", "얼마인가요", "얼마예요", "얼마를", "얼마나", "얼마", "언제까지", "언제",
	"며칠까지", "며칠에", "며칠", "몇 시부터", "몇 시까지", "몇 시간까지", "몇 살부터", "몇 주", "몇 번", "어디로", "어디에", "어디서", "어디",
	"무엇을", "무엇", "필요한가요", "가능한가요", "할 수 있나요", "해야 하나요", "인가요", "입니까", "하나요", "되나요", "있나요", "합니까", "됩니까", "까지예요", "예요", "나요",
)...)

// questionWords are the stems of English words that only ask, besides those that Snowball's list of stop
// words has.
var questionWords = map[string]bool{"much": true, "mani": true, "long": true, "tell": true, "get": true, "need": true, "pleas": true, "happen": true}

// phrases pairs each phrase with the blank that takes its place.
func phrases(all ...string) (pairs []string) {
	for _, phrase := range all {
		pairs = append(pairs, phrase, " ")
	}
	return pairs
}
