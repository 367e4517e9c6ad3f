package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/lexical"
	"toolnorm/internal/vector"
	"toolnorm/tools/kb/kbstore"
)

// indexes contains the indexes of the knowledge bases that were searched.
type indexes struct {
	mu     sync.Mutex
	byBase map[string]*index
}

// index is a knowledge base in memory. A passage has the same row number among the words and among
// the vectors. The index must not change while a search has it locked. If the row of a passage were
// given to another one in between, that one would be shown with the rights of the first.
type index struct {
	mu        sync.RWMutex
	version   int64
	text      lexical.Index
	summaries lexical.Index
	chunks    []kbstore.Chunk // by row; one without an id: the row is free
	owner     []int           // the document of each row
	byNumber  []document
	number    map[string]int // of a document, by its id
	free      []int          // numbers of documents that are gone
	rows      map[string]int // rows of passages by their ids, if only the database has the texts
	vectors   vectors
	store     *kbstore.Store
	base      string
	created   time.Time // when the base was created
}

// document is a document with the rows of its passages.
type document struct {
	kbstore.Document
	rows    []int
	tokens  int // of all its passages
	summary int // its row in index.summaries
	there   bool
}

// get returns the current index of a knowledge base, locked for reading. It does not keep all
// indexes locked while it updates one, since reading a large base takes seconds in which the others
// can be searched. It returns an error if updating fails or ctx ends; the update then continues.
func (x *indexes) get(ctx context.Context, l *Local, base kbstore.Base, words bool) (
	*index, error) {
	x.mu.Lock()
	if x.byBase == nil {
		x.byBase = map[string]*index{}
	}
	i := x.byBase[base.ID]
	// another base has the id now, and counts from 1 again
	if i == nil || !i.created.Equal(base.Created) {
		i = l.index(base)
		x.byBase[base.ID] = i
	}
	x.mu.Unlock()
	for {
		i.mu.RLock()
		if i.version >= base.Version {
			return i, nil
		}
		i.mu.RUnlock()
		// A search whose time is over leaves the index to the next one: a large base takes longer
		// than a search may.
		updated := make(chan error, 1)
		l.beside.Go(context.WithoutCancel(ctx), func(ctx context.Context) {
			updated <- i.update(ctx, base, words)
		})
		select {
		case err := <-updated:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// drop forgets the index of a knowledge base that is gone.
func (x *indexes) drop(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.byBase, id)
}

// index returns an empty index for a knowledge base.
func (l *Local) index(base kbstore.Base) *index {
	return &index{
		number: map[string]int{}, rows: map[string]int{}, store: l.Store, base: base.ID,
		created: base.Created,
		vectors: vectors{model: l.Model, limit: cmp.Or(l.Small, standardSmall),
			exact: vector.New(nil), others: map[string]int{}},
	}
}

// update makes those changes in the index that the base has had since the last update. A changed
// document is removed before it is added again, so that no passage is ever there with old rights.
// If the parameter words is false, only vectors are indexed. It returns an error if the store fails
// or has an older version than base.
func (i *index) update(ctx context.Context, base kbstore.Base, words bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.version >= base.Version {
		return nil // another search did
	}
	changes, err := i.store.Changes(ctx, base.ID, i.version)
	if err != nil {
		return err
	}
	if changes.Version < base.Version {
		return fmt.Errorf("the store went back from version %d to %d", base.Version,
			changes.Version)
	}
	for _, id := range changes.Removed {
		i.remove(id)
	}
	for _, d := range changes.Documents {
		i.remove(d.ID)
		i.put(document{Document: d, summary: i.summaries.Add(d.ID, d.Title+"\n"+d.Summary),
			there: true})
	}
	i.vectors.expect(changes.Chunks)
	for _, c := range changes.Chunks {
		i.add(c, words)
	}
	i.version = changes.Version
	return nil
}

// put adds a document to the index, without its passages. It uses the numbers of removed documents
// again, so that a folder that is imported every night does not make the index grow.
func (i *index) put(d document) {
	n := len(i.byNumber)
	if last := len(i.free) - 1; last >= 0 {
		n, i.free = i.free[last], i.free[:last]
		i.byNumber[n] = d
	} else {
		i.byNumber = append(i.byNumber, d)
	}
	i.number[d.ID] = n
}

// add adds a passage. Its document must have been added. If words is false, only the vector is
// indexed.
func (i *index) add(c kbstore.Chunk, words bool) {
	n := i.number[c.Document]
	d := &i.byNumber[n]
	var row int
	if words {
		row = i.text.Add(c.ID, d.Title, c.Heading, c.Text)
	} else { // the database has them
		c.Heading, c.Text = "", ""
		row = i.text.Add(c.ID)
		i.rows[c.ID] = row
	}
	for row >= len(i.chunks) {
		i.chunks, i.owner = append(i.chunks, kbstore.Chunk{}), append(i.owner, 0)
	}
	i.vectors.set(row, c.Embedding)
	c.Vector = nil // the index has it
	i.chunks[row], i.owner[row] = c, n
	d.rows, d.tokens = append(d.rows, row), d.tokens+i.text.Length(row)
}

// remove removes a document with its passages, whose rows are then free. It does nothing if there
// is no such document. No search sees the state in between, since a search locks the index.
func (i *index) remove(id string) {
	n, there := i.number[id]
	if !there {
		return
	}
	d := &i.byNumber[n]
	for _, row := range d.rows {
		delete(i.rows, i.chunks[row].ID)
		i.text.Remove(row)
		i.vectors.remove(row, i.chunks[row].Model)
		i.chunks[row] = kbstore.Chunk{}
	}
	i.summaries.Remove(d.summary)
	delete(i.number, id)
	i.free = append(i.free, n)
	*d = document{}
}

// memory is the view of a knowledge base by an index in memory. The index is locked until close.
type memory struct {
	*index
	may   []bool // by the document's number: it may be searched; nothing else is ever looked at
	count int    // number of documents that may be searched
	seen  []bool // documents that may be seen; stage 1 leaves some of them out of may
	all   bool   // every document may be seen
	// the words of the passages that may be seen; nil: not made yet
	part   *lexical.Index
	closed bool
}

// open returns a view of the index. It first applies the filter to every document, which decides
// what may be seen before anything is scored. Rights that change later do not affect this view.
func (i *index) open(f kbstore.Filter) *memory {
	m := &memory{index: i, may: make([]bool, len(i.byNumber))}
	for n := range i.byNumber {
		if d := &i.byNumber[n]; d.there && f.Allows(&d.Access) {
			m.may[n] = true
			m.count++
		}
	}
	m.seen, m.all = slices.Clone(m.may), m.count == len(m.number)
	return m
}

// close unlocks the index. The view must not be used afterwards, but its passages stay valid.
func (m *memory) close() {
	if !m.closed {
		m.closed = true
		m.mu.RUnlock()
	}
}

// documents returns the numbers of documents that may be searched, and of all that are not removed.
func (m *memory) documents() (allowed, all int) { return m.count, len(m.number) }

// allowed reports whether a passage may be searched. Every search by words or vectors calls it
// before it scores a passage.
func (m *memory) allowed(row int) bool { return m.chunks[row].ID != "" && m.may[m.owner[row]] }

// hasVector reports whether a passage may be searched and has a vector. A row without a vector has
// zeros, which would be as near to everything as an unrelated passage.
func (m *memory) hasVector(row int) bool {
	return row < len(m.chunks) && m.vectors.has[row] && m.allowed(row)
}

// words returns the n passages that match the query's words best, by their BM25 scores. A score's
// share of the ideal score is only shown as metadata. It never returns an error.
func (m *memory) words(_ context.Context, query string, n int) (all []*passage, err error) {
	text := m.visible(query)
	ideal := text.Ideal(query)
	for _, hit := range text.Search(query, n, m.allowed) {
		p := m.passage(hit.Row)
		p.Sparse = value(hit.Score / ideal)
		all = append(all, p)
	}
	return all, nil
}

// nearest returns the n passages whose vectors are nearest to v. It returns an error if the vectors
// cannot be compared or the store fails.
func (m *memory) nearest(ctx context.Context, v []float32, n int) (all []*passage, err error) {
	if err := m.comparable(v); err != nil {
		return nil, err
	}
	hits, err := m.vectors.search(v, n, m.hasVector, m.fetch(ctx))
	if err != nil {
		return nil, err
	}
	all = []*passage{} // nothing is near, which is not the same as not looked
	for _, hit := range hits {
		p := m.passage(hit.Row)
		p.Dense = value(float64(hit.Score))
		all = append(all, p)
	}
	return all, nil
}

// compare sets the cosine of each passage with the query's vector v. The passages need not be among
// the nearest 500. It returns an error if the vectors cannot be compared or the store fails.
func (m *memory) compare(ctx context.Context, all []*passage, v []float32) error {
	return m.compareRows(ctx, all, v, func(p *passage) (int, bool) { return p.row, true })
}

// compareRows sets the cosine of each passage with the query's vector v. If rowOf returns no row of
// the index for a passage, it gets no cosine. compareRows returns an error if the store fails.
func (m *memory) compareRows(ctx context.Context, all []*passage, v []float32,
	rowOf func(*passage) (int, bool)) error {
	at := map[int]*passage{}
	var rows []int
	for _, p := range all {
		if row, there := rowOf(p); there && m.hasVector(row) {
			at[row], rows = p, append(rows, row)
		}
	}
	hits, err := m.vectors.cosines(v, rows, m.fetch(ctx))
	for _, hit := range hits {
		at[hit.Row].Dense = value(float64(hit.Score))
	}
	return err
}

// features returns how the query's words occur in each passage. It never returns an error.
func (m *memory) features(query string, all []*passage) (
	features []lexical.Features, err error) {
	look := m.visible(query).Look(query, fieldWeights...)
	for _, p := range all {
		p.words = wordsOf(m.text.Body(p.row))
		features = append(features, look.Features(p.row))
	}
	return features, nil
}

// passage returns a new passage with the text and the position of the one in a row of the index. It
// is a copy, because the search writes its result after it has unlocked the index.
func (m *memory) passage(row int) *passage {
	c, d := &m.chunks[row], &m.byNumber[m.owner[row]]
	return &passage{text: c.Text, row: row, Metadata: Metadata{
		Chunk: c.ID, Document: c.Document, Index: c.Index, Collection: d.Collection, Title: d.Title,
		Heading: c.Heading,
	}}
}

// The margins by which stage 1 leaves a document out. They are wide, because a summary is short,
// and the document may well contain what the summary does not mention. By words, one summary has to
// cover nearly the whole query before others count as irrelevant.
const (
	farther  = .3 // cosine below that of the nearest
	answered = .9 // coverage that the best summary must have
	unlike   = .1 // coverage below which a document is left out
)

// narrow leaves out documents whose summaries are clearly worse than the best, and returns how many
// documents remain. It always keeps the best fifty. It returns a skip error if no summary is
// clearly better than the others.
func (m *memory) narrow(_ context.Context, query string, v []float32) (int, error) {
	var scores []scoredDocument
	var least float64
	if v != nil && m.comparable(v) == nil {
		scores, least = m.byCosine(v)
	} else {
		scores, least = m.byCoverage(query)
	}
	if len(scores) <= keptDocuments {
		return m.count, skip("no summary stands out")
	}
	slices.SortFunc(scores, func(a, b scoredDocument) int { // not in the order of addition
		return cmp.Or(cmp.Compare(b.score, a.score),
			cmp.Compare(m.byNumber[a.number].ID, m.byNumber[b.number].ID))
	})
	for i, d := range scores {
		if i >= keptDocuments && d.score < least {
			m.may[d.number] = false
			m.count--
		}
	}
	return m.count, nil
}

// scoredDocument is the number of a document, with the score of the document's summary. It is kept
// small, since each search makes one for every document of an index that may be large.
type scoredDocument struct {
	number int
	score  float64
}

// byCosine returns the documents with the cosines of their summaries, and the least cosine that is
// not clearly worse than the best. Summaries are few, so their vectors need no index. A document
// whose summary has no vector is not in the result, and so is kept.
func (m *memory) byCosine(v []float32) (scores []scoredDocument, least float64) {
	for n := range m.byNumber {
		if d := &m.byNumber[n]; m.may[n] && d.Model == m.vectors.model && len(d.Vector) == len(v) {
			scores = append(scores, scoredDocument{n, float64(vector.Cosine(v, d.Vector))})
		}
	}
	least = -1
	for _, s := range scores {
		least = max(least, s.score-farther)
	}
	return scores, least
}

// byCoverage returns the documents with the share of the query's words in their summaries, and the
// least share to keep. It returns nil if no summary covers nearly the whole query.
func (m *memory) byCoverage(query string) (scores []scoredDocument, least float64) {
	look := m.visibleSummaries(query).Look(query)
	// of those that may be seen alone: another's summary must not decide what is left out
	best := 0.0
	for n := range m.byNumber {
		if m.may[n] {
			coverage := look.Features(m.byNumber[n].summary).Coverage
			scores, best = append(scores, scoredDocument{n, coverage}), max(best, coverage)
		}
	}
	if best < answered {
		return nil, 0
	}
	return scores, unlike
}

// load returns all passages unchanged, because the passages of a view in memory have their texts.
func (m *memory) load(_ context.Context, all []*passage) ([]*passage, error) { return all, nil }
