package retrieval

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// disk is the view of a knowledge base by its index of words, which is in the store. A search reads
// only the lists of its words, and the words of the best passages.
type disk struct {
	reader *kbstore.Reader
	filter kbstore.Filter
	parts  []*part
	large  bool // see parts
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
	numberOf map[string]uint32 // numbers of words that were compared
	closed   bool
}

// seen says what the principal may see of a part of the index. In documents and may, a document
// that may be seen has 1 and any other 0. These are numbers and not booleans, because they are
// added up for every posting of a search.
type seen struct {
	documents []uint8
	may       []uint8 // documents without those that stage 1 has left out
	whole     bool    // the principal may see the whole part
	// which classes of rights the principal has; nil: a document of the part is gone
	classes []bool
	// numbers of documents that are there, and of documents, passages and tokens to be seen
	all, count, texts, tokens int
}

// spot is the position of a passage: a part of the index, and the passage's number in that part. It
// also has the passage's words, by field.
type spot struct {
	part, passage int
	fields        [][]uint32
}

// newDisk returns a view of a base's index of words, in which only the documents that the filter
// allows can be found. It applies the filter to the few kinds of rights in each segment, and so to
// every document.
func newDisk(r *kbstore.Reader, p *parts, f kbstore.Filter, query []string,
	read kbstore.Lists) *disk {
	d := &disk{reader: r, filter: f, parts: p.all, large: p.large, read: read, query: query,
		numberOf: map[string]uint32{}, rowOf: map[string]int{}, seen: make([]*seen, len(p.all))}
	_ = share(len(p.all), p.large, func(parts iter.Seq[int]) error { // never fails
		for i := range parts {
			d.seen[i] = p.all[i].seenBy(f)
		}
		return nil
	})
	for _, v := range d.seen {
		d.all, d.count = d.all+v.all, d.count+v.count
		d.texts, d.tokens = d.texts+v.texts, d.tokens+v.tokens
	}
	d.documentsSeen = d.count
	return d
}

// seenBy returns what a principal with the filter f may see of the part.
func (p *part) seenBy(f kbstore.Filter) *seen {
	allowed := make([]bool, len(p.Rights))
	for i := range p.Rights {
		allowed[i] = f.Allows(&p.Rights[i])
	}
	v := &seen{documents: make([]uint8, len(p.Documents)), whole: p.gone == nil}
	for i := range p.Documents {
		doc := &p.Documents[i]
		if p.gone != nil && p.gone[i] {
			continue
		}
		if v.all++; !allowed[doc.Rights] {
			v.whole = false
			continue
		}
		v.count, v.texts, v.tokens = v.count+1, v.texts+doc.Chunks, v.tokens+doc.Tokens
		v.documents[i] = 1
	}
	if v.may = v.documents; p.gone == nil {
		v.classes = allowed
	}
	return v
}

// close closes the reader of the index, after which the view must not be used. Passages that it has
// found stay valid.
func (d *disk) close() {
	if !d.closed {
		d.closed = true
		d.reader.Close()
	}
}

// documents returns how many documents may be searched, and how many the base has.
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

// lists returns, for each part of the index, the encoded lists that say where the query's words
// occur. It also returns how often these words occur in the texts that the principal may see. The
// parameter kind is kbstore.OfPassages or kbstore.OfSummaries. It returns an error if a list is
// damaged.
func (d *disk) lists(kind int) (all []map[string]lexical.List, s lexical.Statistics, err error) {
	s = lexical.Statistics{Texts: d.documentsSeen, Frequency: map[string]int{}}
	if kind == kbstore.OfPassages {
		s.Texts, s.Tokens = d.texts, d.tokens
	}
	all = make([]map[string]lexical.List, len(d.parts))
	var mu sync.Mutex
	err = share(len(d.parts), d.large, func(parts iter.Seq[int]) (err error) {
		var postings []lexical.Posting
		counted := map[string]int{}
		for i := range parts {
			if all[i], err = d.listsOf(kind, i); err != nil {
				return err
			}
			for word, list := range all[i] {
				n, err := d.frequency(kind, i, list, &postings)
				if err != nil {
					return err
				}
				counted[word] += n
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for word, n := range counted {
			s.Frequency[word] += n
		}
		return nil
	})
	return all, s, err
}

// listsOf returns the lists of the query's words in a part. It returns an error if a list is
// damaged.
func (d *disk) listsOf(kind, part int) (map[string]lexical.List, error) {
	all, x := map[string]lexical.List{}, d.parts[part]
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
			return nil, d.damaged(part, err)
		}
		all[word] = list
	}
	return all, nil
}

// frequency returns how many of the texts that contain a word may be seen by the caller. Hidden
// texts are not counted, since a score would reveal what is in them. The parameter list has the
// word's texts in one part of the index; kind says whether these are passages or summaries. Counts
// for each class of rights are added up if list has them. Otherwise the texts are decoded, into the
// memory of postings, and counted. frequency returns an error if list is damaged.
func (d *disk) frequency(kind, part int, list lexical.List, postings *[]lexical.Posting) (
	n int, err error) {
	v, owners := d.seen[part], d.parts[part].Owners
	if v.whole {
		return list.Texts, nil
	}
	if k := len(list.Counts); k > 0 && k <= len(v.classes) {
		for class, count := range list.Counts {
			if v.classes[class] {
				n += count
			}
		}
		return n, nil
	}
	if kind == kbstore.OfSummaries {
		err = d.decode(postings, part, len(v.documents), list)
		for _, p := range *postings {
			n += int(v.documents[p.Text])
		}
		return n, err
	}
	err = d.decode(postings, part, len(owners), list)
	for _, p := range *postings {
		n += int(v.documents[owners[p.Text]])
	}
	return n, err
}

// decode decodes a list into postings, whose memory is used again. They say which texts have the
// word, and how often. The list belongs to a part of the index that has the given number of texts.
// decode returns an error if the list is damaged.
func (d *disk) decode(postings *[]lexical.Posting, part, texts int, list lexical.List) (err error) {
	*postings, err = list.Read(*postings, texts)
	return d.damaged(part, err)
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

// put adds a passage to those from which the best are kept.
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
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.part, b.part),
			cmp.Compare(a.passage, b.passage))
	})
	if len(b.all) >= b.n && b.n > 0 {
		b.all = b.all[:b.n]
		b.least = b.all[b.n-1].score
	}
}

// words scores all passages that may be searched by the query's words, and returns the best n. It
// returns an error if the index is damaged or the database fails.
func (d *disk) words(ctx context.Context, query string, n int) ([]*passage, error) {
	lists, statistics, err := d.lists(kbstore.OfPassages)
	if err != nil {
		return nil, err
	}
	whole := &lexical.Index{Whole: &statistics}
	terms := whole.Terms(query)
	d.look = whole.Look(query, fieldWeights...)
	for i := range d.parts {
		place := map[uint32]int{}
		for k, t := range terms {
			if list, there := lists[i][t.Token]; there {
				place[list.Number] = k
			}
		}
		d.place = append(d.place, place)
	}
	cut := map[uint32]int{} // of passages that take cuts
	for k, t := range terms {
		cut[d.number(t.Token)] = k
	}
	d.place = append(d.place, cut)
	found, err := d.rank(lists, terms, whole.Scale(), n)
	if err != nil {
		return nil, err
	}
	return d.passages(ctx, found, whole.Ideal(query))
}

// rank returns the n passages with the best scores, the best first, among those that may be
// searched. The processors divide the parts of the index among them. It returns an error if a list
// is damaged.
func (d *disk) rank(lists []map[string]lexical.List, terms []lexical.Term, scale *lexical.Scale,
	n int) ([]ranked, error) {
	var mu sync.Mutex
	found := best{n: n}
	err := share(len(d.parts), d.large, func(parts iter.Seq[int]) error {
		var scores []float64
		var postings []lexical.Posting
		mine := best{n: n}
		for i := range parts {
			if len(lists[i]) == 0 {
				continue
			}
			lengths := d.parts[i].Lengths
			scores = slices.Grow(scores[:0], len(lengths))[:len(lengths)]
			clear(scores)
			for _, t := range terms {
				list, there := lists[i][t.Token]
				if !there {
					continue
				}
				if err := d.decode(&postings, i, len(scores), list); err != nil {
					return err
				}
				scale.Score(postings, t.Weight, scores, lengths)
			}
			d.gather(&mine, i, scores)
		}
		mu.Lock()
		defer mu.Unlock()
		found.all = append(found.all, mine.all...)
		return nil
	})
	found.cut()
	return found.all, err
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

// features returns, for each passage, how the query's words occur in it. It never returns an error.
func (d *disk) features(_ string, all []*passage) (features []lexical.Features, err error) {
	for _, p := range all {
		row := &d.rows[p.row]
		features = append(features, d.look.Of(row.fields, d.place[row.part]))
	}
	return features, nil
}

// nearest always returns an error of type skip, which says that the stage cannot run, because this
// view has no vectors.
func (d *disk) nearest(context.Context, []float32, int) ([]*passage, error) {
	return nil, skip("no embedder")
}

func (d *disk) compare(context.Context, []*passage, []float32) error { return nil }
