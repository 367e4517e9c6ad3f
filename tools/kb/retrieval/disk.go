package retrieval

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// disk is the view of a knowledge base by its index of words, which is in the store. A search reads
// only the lists of its words, and the words of the best passages.
type disk struct {
	reader *kbstore.Reader
	filter kbstore.Filter
	parts  []*part
	read   kbstore.Lists
	query  []string // the words of the query
	seen   []*seen  // by part: what the principal may see
	all    int      // number of documents
	count  int      // number of documents that may be searched
	// numbers of documents, passages and tokens that the principal may see
	documentsSeen, texts, tokens int

	rows  []spot         // the passages that were found
	rowOf map[string]int // index in rows, by the passage's id
	look  *lexical.Look
	// by part: index of a query's token, by the token's number in the part
	place    []map[uint32]int
	postings []lexical.Posting
	numberOf map[string]uint32 // numbers of words that were compared
	closed   bool
}

// seen says what the principal may see of a part. Its elements are 0 or 1 and not booleans, because
// they are added up for every posting of a search.
type seen struct {
	documents, passages []uint8
	may                 []uint8 // documents without those that stage 1 has left out
	whole               bool    // the principal may see the whole part
	// which classes of rights the principal has; nil: a document of the part is gone
	classes []bool
}

// spot is the position of a passage, with its words by field.
type spot struct {
	part, passage int
	fields        [][]uint32
}

// newDisk returns a view of a base's index of words, in which only the documents that the filter
// allows can be found. It applies the filter to the few kinds of rights in each segment, and so to
// every document.
func newDisk(r *kbstore.Reader, p *parts, f kbstore.Filter, query []string,
	read kbstore.Lists) *disk {
	d := &disk{reader: r, filter: f, parts: p.all, read: read, query: query,
		numberOf: map[string]uint32{}, rowOf: map[string]int{}}
	for _, x := range p.all {
		allowed := make([]bool, len(x.Rights))
		for i := range x.Rights {
			allowed[i] = f.Allows(&x.Rights[i])
		}
		v := &seen{documents: make([]uint8, len(x.Documents)),
			passages: make([]uint8, len(x.Owners)), whole: x.gone == nil}
		for i := range x.Documents {
			doc := &x.Documents[i]
			if x.gone != nil && x.gone[i] {
				continue
			}
			if d.all++; !allowed[doc.Rights] {
				v.whole = false
				continue
			}
			d.count, d.texts, d.tokens = d.count+1, d.texts+doc.Chunks, d.tokens+doc.Tokens
			v.documents[i] = 1
			for row := doc.First; row < doc.First+doc.Chunks; row++ {
				v.passages[row] = 1
			}
		}
		if v.may = v.documents; x.gone == nil {
			v.classes = allowed
		}
		d.seen = append(d.seen, v)
	}
	d.documentsSeen = d.count
	return d
}

// close implements the interface view. It closes the reader; passages that were found stay valid.
func (d *disk) close() {
	if !d.closed {
		d.closed = true
		d.reader.Close()
	}
}

// documents implements the interface view. It returns how many documents may be searched, and how
// many there are.
func (d *disk) documents() (allowed, all int) { return d.count, d.all }

// damaged converts an error in a part of the index. If the part is stored, it returns a
// *kbstore.Damaged, so that the segment is made again. If the part is in memory, it returns the
// error itself. It returns nil for nil.
func (d *disk) damaged(part int, err error) error {
	if err != nil && d.parts[part].made == nil {
		return &kbstore.Damaged{Segment: d.parts[part].ID}
	}
	return err
}

// lists returns the lists of the query's words in every part. kind is kbstore.OfPassages or
// kbstore.OfSummaries. It returns an error if a list is damaged.
func (d *disk) lists(kind int) ([]map[string]lexical.List, error) {
	all := make([]map[string]lexical.List, len(d.parts))
	for i, x := range d.parts {
		all[i] = map[string]lexical.List{}
		for _, word := range d.query {
			var data []byte
			switch {
			case x.made == nil:
				data = d.read.Of(kind, x.ID, word)
			case kind == kbstore.OfPassages:
				data = x.made.Passages.List(word)
			default:
				data = x.made.Summaries.List(word)
			}
			if data == nil {
				continue
			}
			list, err := lexical.ReadList(data)
			if err != nil {
				return nil, d.damaged(i, err)
			}
			all[i][word] = list
		}
	}
	return all, nil
}

// decode returns the postings in an encoded list: which texts have the word, and how often. They
// are valid until the next call. It returns an error if the list is damaged.
func (d *disk) decode(part, texts int, list lexical.List) ([]lexical.Posting, error) {
	postings, err := list.Read(d.postings, texts)
	if err == nil {
		d.postings = postings
	}
	return postings, d.damaged(part, err)
}

// statistics returns the statistics of the texts that the principal may see, for the words in
// lists. Hidden texts are not counted, since a score would reveal what is in them. A list begins
// with counts, for all texts or for each class of rights. They are used where they suffice;
// otherwise the list's postings are counted. It returns an error if a list is damaged.
func (d *disk) statistics(kind int, lists []map[string]lexical.List) (lexical.Statistics, error) {
	s := lexical.Statistics{Texts: d.documentsSeen, Frequency: map[string]int{}}
	if kind == kbstore.OfPassages {
		s.Texts, s.Tokens = d.texts, d.tokens
	}
	for i, v := range d.seen {
		shown := v.documents
		if kind == kbstore.OfPassages {
			shown = v.passages
		}
		for word, list := range lists[i] {
			if v.whole {
				s.Frequency[word] += list.Texts
				continue
			}
			if n := len(list.Counts); n > 0 && n <= len(v.classes) {
				for class, n := range list.Counts {
					if v.classes[class] {
						s.Frequency[word] += n
					}
				}
				continue
			}
			postings, err := d.decode(i, len(shown), list)
			if err != nil {
				return s, err
			}
			n := 0
			for _, p := range postings {
				n += int(shown[p.Text])
			}
			s.Frequency[word] += n
		}
	}
	return s, nil
}

// best collects passages and keeps the best n. It may contain more than n for a while, because the
// others are removed only when there are many.
type best struct {
	n     int
	all   []ranked
	least float64 // a passage with a lower score is not among the best n
}

// ranked is a passage with its score by words.
type ranked struct {
	score         float64
	key           uint64 // decides between equal scores: the smaller key is better
	part, passage int
}

// put adds a passage.
func (b *best) put(r ranked) {
	if b.all = append(b.all, r); len(b.all) >= 4*b.n+1000 {
		b.cut()
	}
}

// cut sorts the passages, the best first, and removes all but the best n.
func (b *best) cut() {
	slices.SortFunc(b.all, func(a, b ranked) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(a.key, b.key)
	})
	if len(b.all) >= b.n && b.n > 0 {
		b.all = b.all[:b.n]
		b.least = b.all[b.n-1].score
	}
}

// words implements the interface view. It scores all passages that may be searched, part by part,
// and returns the best n. It returns an error if the index is damaged or the database fails.
func (d *disk) words(ctx context.Context, query string, n int) ([]*passage, error) {
	lists, err := d.lists(kbstore.OfPassages)
	if err != nil {
		return nil, err
	}
	statistics, err := d.statistics(kbstore.OfPassages, lists)
	if err != nil {
		return nil, err
	}
	whole := &lexical.Index{Whole: &statistics}
	terms, scale := whole.Terms(query), whole.Scale()
	d.look = whole.Look(query, fieldWeights...)
	found := best{n: n}
	var scores []float64
	for i, x := range d.parts {
		place := map[uint32]int{}
		d.place = append(d.place, place)
		scores = slices.Grow(scores[:0], len(x.Lengths))[:len(x.Lengths)]
		clear(scores)
		for k, t := range terms {
			list, there := lists[i][t.Token]
			if !there {
				continue
			}
			place[list.Number] = k
			postings, err := d.decode(i, len(scores), list)
			if err != nil {
				return nil, err
			}
			scale.Score(postings, t.Weight, scores, x.Lengths)
		}
		if len(place) > 0 {
			d.gather(&found, i, scores)
		}
	}
	found.cut()
	cut := map[uint32]int{} // of passages that take cuts
	for k, t := range terms {
		cut[d.number(t.Token)] = k
	}
	d.place = append(d.place, cut)
	return d.passages(ctx, found.all, whole.Ideal(query))
}

// gather adds to found the passages of one part of the index that may be searched and have a score.
// The parameter i is the index of the part.
func (d *disk) gather(found *best, i int, scores []float64) {
	may, owners, keys := d.seen[i].may, d.parts[i].Owners, d.parts[i].Keys
	for row, score := range scores {
		if score >= found.least && score > 0 && may[owners[row]] == 1 {
			found.put(ranked{score, keys[row], i, row})
		}
	}
}

// numbers iterates over the words of a text, as numbers. The same word has the same number in all
// parts of the index.
func (d *disk) numbers(text string) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for token := range lexical.Each(text) {
			if !yield(d.number(token)) {
				return
			}
		}
	}
}

// number returns the number of a word, and assigns one if the word has none.
func (d *disk) number(token string) uint32 {
	n, there := d.numberOf[token]
	if !there {
		n = uint32(len(d.numberOf))
		d.numberOf[token] = n
	}
	return n
}

// features implements the interface view. It never returns an error.
func (d *disk) features(_ string, all []*passage) (features []lexical.Features, err error) {
	for _, p := range all {
		row := &d.rows[p.row]
		features = append(features, d.look.Of(row.fields, d.place[row.part]))
	}
	return features, nil
}

// nearest implements the interface view. It always returns a skip error (see skip), because this
// view has no vectors.
func (d *disk) nearest(context.Context, []float32, int) ([]*passage, error) {
	return nil, skip("no embedder")
}

func (d *disk) compare(context.Context, []*passage, []float32) error { return nil }
