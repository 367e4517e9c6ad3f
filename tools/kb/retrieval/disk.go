package retrieval

import (
	"cmp"
	"context"
	"slices"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// disk is what a principal may see of a base whose index of words is in the store. A search reads
// the lists of its words, and the words of the best passages.
type disk struct {
	store      *kbstore.Store
	reader     *kbstore.Reader
	filter     kbstore.Filter
	parts      []*part
	may        [][]bool // by part and document; nothing else is ever looked at
	seen       [][]bool // those that may be seen; stage 1 leaves some of them out of may
	count, all int      // documents
	rows       []spot   // of the passages that were found
	look       *lexical.Look
	place      []map[uint32]int  // by part: the query's tokens by their numbers
	numbers    map[string]uint32 // of words that were compared
	closed     bool
}

// spot is where a passage is, with its words.
type spot struct {
	part, passage int
	fields        [][]uint32
}

// newDisk runs stage 2: it applies the filter to the rights of every segment, of which there are
// few kinds, and so to every document.
func newDisk(s *kbstore.Store, r *kbstore.Reader, p *parts, f kbstore.Filter) *disk {
	d := &disk{store: s, reader: r, filter: f, parts: p.all, numbers: map[string]uint32{}}
	for _, x := range p.all {
		allowed := make([]bool, len(x.Rights))
		for i := range x.Rights {
			allowed[i] = f.Allows(&x.Rights[i])
		}
		may := make([]bool, len(x.Documents))
		for i := range x.Documents {
			if x.gone != nil && x.gone[i] {
				continue
			}
			d.all++
			if may[i] = allowed[x.Documents[i].Rights]; may[i] {
				d.count++
			}
		}
		d.may, d.seen = append(d.may, may), append(d.seen, may)
	}
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

// lists reads the lists of a query's words in every part.
func (d *disk) lists(ctx context.Context, kind int, query string) ([]map[string]lexical.List,
	error) {
	words := lexical.Words(query)
	var ids []int64
	for _, x := range d.parts {
		if x.made == nil {
			ids = append(ids, x.ID)
		}
	}
	read, err := d.reader.Lists(ctx, kind, ids, words)
	if err != nil {
		return nil, err
	}
	all := make([]map[string]lexical.List, len(d.parts))
	for i, x := range d.parts {
		all[i] = map[string]lexical.List{}
		for _, word := range words {
			data := read[x.ID][word]
			if x.made != nil && kind == kbstore.OfPassages {
				data = x.made.Passages.List(word)
			} else if x.made != nil {
				data = x.made.Summaries.List(word)
			}
			if data == nil {
				continue
			}
			if all[i][word], err = lexical.ReadList(data); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// statistics returns the statistics of the texts that may be seen, for the words whose lists were
// read. A hidden text is not counted: a score would tell what is in it. The number that a list
// begins with is taken only where nothing of the part is hidden.
func (d *disk) statistics(kind int, lists []map[string]lexical.List) (
	s lexical.Statistics, err error) {
	s.Frequency = map[string]int{}
	for i, x := range d.parts {
		whole := true
		for n, seen := range d.seen[i] {
			switch doc := &x.Documents[n]; {
			case !seen:
				whole = false
			case kind == kbstore.OfSummaries:
				s.Texts++
			default:
				s.Texts, s.Tokens = s.Texts+doc.Chunks, s.Tokens+doc.Tokens
			}
		}
		for word, list := range lists[i] {
			if whole {
				s.Frequency[word] += list.Texts
				continue
			}
			n := 0
			if kind == kbstore.OfSummaries {
				err = list.Each(len(x.Documents), func(text, _ int) {
					if d.seen[i][text] {
						n++
					}
				})
			} else {
				err = list.Each(len(x.Owners), func(text, _ int) {
					if d.seen[i][x.Owners[text]] {
						n++
					}
				})
			}
			if err != nil {
				return s, err
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
	lists, err := d.lists(ctx, kbstore.OfPassages, query)
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
			if err := list.Score(scale, t.Weight, scores, x.Lengths); err != nil {
				return nil, err
			}
		}
		if len(place) > 0 {
			d.take(&found, i, scores)
		}
	}
	found.cut()
	return d.passages(ctx, found.all, whole.Ideal(query))
}

// take puts the passages of a part among the best, as far as they may be looked at.
func (d *disk) take(found *best, i int, scores []float64) {
	may, owners, keys := d.may[i], d.parts[i].Owners, d.parts[i].Keys
	for row, score := range scores {
		if score > 0 && score >= found.least && may[owners[row]] {
			found.put(ranked{score, keys[row], i, row})
		}
	}
}

// passages reads the words of passages. Their texts are read when it is clear which are shown.
func (d *disk) passages(ctx context.Context, found []ranked, ideal float64) ([]*passage, error) {
	var places []kbstore.Place
	for _, s := range found {
		if x := d.parts[s.part]; x.made == nil {
			places = append(places, kbstore.Place{Segment: x.ID, Passage: s.passage})
		}
	}
	streams, err := d.reader.Streams(ctx, places)
	if err != nil {
		return nil, err
	}
	all := make([]*passage, 0, len(found))
	for _, s := range found {
		x := d.parts[s.part]
		var stream kbstore.Stream
		if x.made != nil {
			stream = kbstore.Stream{Chunk: x.made.Chunks[s.passage],
				Tokens: x.made.Passages.Streams[s.passage]}
		} else {
			stream, streams = streams[0], streams[1:]
		}
		fields, err := lexical.ReadStream(stream.Tokens)
		if err != nil {
			return nil, err
		}
		p := &passage{row: len(d.rows), Metadata: Metadata{Chunk: stream.Chunk,
			Document: x.Documents[x.Owners[s.passage]].ID, Sparse: value(s.score / ideal)}}
		if len(fields) > 0 {
			p.words.length = len(fields[len(fields)-1])
		}
		p.words.all = func() []uint32 { return d.numbered(p.text) }
		d.rows = append(d.rows, spot{s.part, s.passage, fields})
		all = append(all, p)
	}
	return all, nil
}

// numbered returns the words of a text as numbers: those of two parts are not numbered alike.
func (d *disk) numbered(text string) []uint32 {
	tokens := lexical.Tokens(text)
	all := make([]uint32, len(tokens))
	for i, token := range tokens {
		n, there := d.numbers[token]
		if !there {
			n = uint32(len(d.numbers))
			d.numbers[token] = n
		}
		all[i] = n
	}
	return all
}

// features looks at passages.
func (d *disk) features(_ string, all []*passage) (features []lexical.Features, err error) {
	for _, p := range all {
		row := &d.rows[p.row]
		features = append(features, d.look.Of(row.fields, d.place[row.part]))
	}
	return features, nil
}

// load reads the texts. The store asks the filter once more.
func (d *disk) load(ctx context.Context, all []*passage) ([]*passage, error) {
	ids := make([]string, len(all))
	byID := map[string]*passage{}
	for i, p := range all {
		ids[i], byID[p.Chunk] = p.Chunk, p
	}
	candidates, err := d.reader.Chunks(ctx, d.filter, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range candidates {
		p := byID[c.ID]
		p.text, p.Document, p.Index, p.Collection = c.Text, c.Document, c.Index, c.Collection
		p.Title, p.Heading = c.Title, c.Heading
		delete(byID, c.ID)
	}
	return slices.DeleteFunc(all, func(p *passage) bool { return byID[p.Chunk] != nil }), nil
}

// nearest and compare are never asked: with vectors, the base is in memory.
func (d *disk) nearest(context.Context, []float32, int) ([]*passage, error) {
	return nil, skip("no embedder")
}

func (d *disk) compare(context.Context, []*passage, []float32) error { return nil }

// narrow runs stage 1 by the words of summaries.
func (d *disk) narrow(ctx context.Context, query string, _ []float32) (int, error) {
	lists, err := d.lists(ctx, kbstore.OfSummaries, query)
	if err != nil {
		return 0, err
	}
	statistics, err := d.statistics(kbstore.OfSummaries, lists)
	if err != nil {
		return 0, err
	}
	whole := &lexical.Index{Whole: &statistics}
	shares := whole.Look(query).Shares()
	type scoredPlace struct {
		part, document int
		score          float64
	}
	var scores []scoredPlace
	best := 0.0
	for i, x := range d.parts {
		coverage := make([]float64, len(x.Documents))
		for _, t := range shares {
			list := lists[i][t.Token]
			err := list.Each(len(coverage), func(n, _ int) { coverage[n] += t.Weight })
			if err != nil {
				return 0, err
			}
		}
		for n, may := range d.may[i] {
			if c := min(1, coverage[n]); may {
				scores, best = append(scores, scoredPlace{i, n, c}), max(best, c)
			}
		}
	}
	if best < answered || len(scores) <= keptDocuments {
		return d.count, skip("no summary stands out")
	}
	slices.SortFunc(scores, func(a, b scoredPlace) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(
			d.parts[a.part].Documents[a.document].ID, d.parts[b.part].Documents[b.document].ID))
	})
	d.may = slices.Clone(d.may)
	for i := range d.may {
		d.may[i] = slices.Clone(d.may[i])
	}
	for i, s := range scores {
		if i >= keptDocuments && s.score < unlike {
			d.may[s.part][s.document] = false
			d.count--
		}
	}
	return d.count, nil
}
