package retrieval

import (
	"cmp"
	"context"
	"slices"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// disk is what a principal may see of a base by its index of words, which is in the store. A search
// reads the lists of its words, and the words of the best passages.
type disk struct {
	reader *kbstore.Reader
	filter kbstore.Filter
	parts  []*part
	read   kbstore.Lists
	query  []string // its words
	seen   []*seen  // by part
	all    int      // documents
	count  int      // of them, those that may be looked at
	// of all that may be seen
	documentsSeen, texts, tokens int

	rows     []spot         // of the passages that were found
	rowOf    map[string]int // in rows, by the passage's id
	look     *lexical.Look
	place    []map[uint32]int // by part: the query's tokens by their numbers
	postings []lexical.Posting
	numbers  map[string]uint32 // of words that were compared
	closed   bool
}

// seen is what may be seen of a part. Ones and zeros, and not true and false: they are added up for
// every posting of a search.
type seen struct {
	documents, passages []uint8
	may                 []uint8 // documents without those that stage 1 left out
	whole               bool    // it is all of the part
	classes             []bool  // which classes of rights it is; nil: something of the part is gone
}

// spot is where a passage is, with its words.
type spot struct {
	part, passage int
	fields        [][]uint32
}

// newDisk runs stage 2: it applies the filter to the rights of every segment, of which there are
// few kinds, and so to every document.
func newDisk(r *kbstore.Reader, p *parts, f kbstore.Filter, query []string,
	read kbstore.Lists) *disk {
	d := &disk{reader: r, filter: f, parts: p.all, read: read, query: query,
		numbers: map[string]uint32{}, rowOf: map[string]int{}}
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

// close ends the reading. The passages that were found stay.
func (d *disk) close() {
	if !d.closed {
		d.closed = true
		d.reader.Close()
	}
}

// documents counts them.
func (d *disk) documents() (allowed, all int) { return d.count, d.all }

// damaged returns an error of a part: that of its segment, which is made anew then.
func (d *disk) damaged(part int, err error) error {
	if err != nil && d.parts[part].made == nil {
		return &kbstore.Damaged{Segment: d.parts[part].ID}
	}
	return err
}

// lists returns the lists of a query's words in every part.
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

// decode returns the postings of a list, until the next call.
func (d *disk) decode(part, texts int, list lexical.List) ([]lexical.Posting, error) {
	postings, err := list.Read(d.postings, texts)
	if err == nil {
		d.postings = postings
	}
	return postings, d.damaged(part, err)
}

// statistics returns the statistics of the texts that may be seen, for the words whose lists were
// read. A hidden text is not counted: a score would tell what is in it. The numbers that a list
// begins with are taken where nothing of the part is hidden, or whole classes of rights are.
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

// best are the best n passages, among others that are not, as the last of them are only taken out
// when there are many.
type best struct {
	n     int
	all   []ranked
	least float64 // a passage that scores less is not among the best n
}

// ranked is a passage with its score by words.
type ranked struct {
	score         float64
	key           uint64 // of equals the one with the smaller id is the better one
	part, passage int
}

// put puts a passage in.
func (b *best) put(r ranked) {
	if b.all = append(b.all, r); len(b.all) >= 4*b.n+1000 {
		b.cut()
	}
}

// cut takes out all but the best n, and sorts them, the best first.
func (b *best) cut() {
	slices.SortFunc(b.all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.key, b.key))
	})
	if len(b.all) >= b.n && b.n > 0 {
		b.all = b.all[:b.n]
		b.least = b.all[b.n-1].score
	}
}

// words finds by words: it scores all passages that may be seen, part by part.
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

// gather puts the passages of a part among the best, as far as they may be looked at.
func (d *disk) gather(found *best, i int, scores []float64) {
	may, owners, keys := d.seen[i].may, d.parts[i].Owners, d.parts[i].Keys
	for row, score := range scores {
		if score >= found.least && score > 0 && may[owners[row]] == 1 {
			found.put(ranked{score, keys[row], i, row})
		}
	}
}

// numbered returns the words of a text as numbers: those of two parts are not numbered alike.
func (d *disk) numbered(text string) []uint32 {
	tokens := lexical.Tokens(text)
	all := make([]uint32, len(tokens))
	for i, token := range tokens {
		all[i] = d.number(token)
	}
	return all
}

// number returns the number of a word.
func (d *disk) number(token string) uint32 {
	n, there := d.numbers[token]
	if !there {
		n = uint32(len(d.numbers))
		d.numbers[token] = n
	}
	return n
}

// features looks at passages.
func (d *disk) features(_ string, all []*passage) (features []lexical.Features, err error) {
	for _, p := range all {
		row := &d.rows[p.row]
		features = append(features, d.look.Of(row.fields, d.place[row.part]))
	}
	return features, nil
}

// nearest and compare are never asked: who has vectors has other ones.
func (d *disk) nearest(context.Context, []float32, int) ([]*passage, error) {
	return nil, skip("no embedder")
}

func (d *disk) compare(context.Context, []*passage, []float32) error { return nil }
