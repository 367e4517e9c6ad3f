package retrieval

import (
	"context"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// database is what a principal may see of a base in a PostgreSQL that searches by words itself. The
// filter is part of each of its statements. The passages are scored here, by BM25 with the
// statistics of all that the principal may see, so that the order is that of a base in memory.
// Vectors are compared in memory, where the base's are held without its texts.
type database struct {
	*memory // nil: no model makes vectors, and nothing of the base is held

	source       *kbstore.Store
	id           string // of the base
	filter       kbstore.Filter
	allowed, all int            // documents
	found        lexical.Index  // the candidates
	rowOf        map[string]int // in found, by the passage's id
}

// open returns the view of a base that fits where the base is kept.
func (l *Local) open(ctx context.Context, base kbstore.Base, f kbstore.Filter) (view, error) {
	if l.Store.Words != nil && l.Embedder == nil {
		return l.openDisk(ctx, base, f)
	}
	ranks := l.Store.Ranks()
	d := &database{source: l.Store, id: base.ID, filter: f, rowOf: map[string]int{}}
	if !ranks || l.Embedder != nil && !l.Store.Compares() {
		i, err := l.indexes.get(ctx, l, base, !ranks)
		if err != nil {
			return nil, err
		}
		if !ranks {
			return i.open(f), nil
		}
		d.memory = i.open(f)
		d.allowed, d.all = d.memory.documents()
		return d, nil
	}
	var err error
	d.allowed, d.all, err = l.Store.CountDocuments(ctx, base.ID, f)
	if l.Embedder != nil && err == nil {
		return &indexed{d, l.Model}, nil
	}
	return d, err
}

// documents counts them. Both numbers are of one moment, the one at which the view was opened.
func (d *database) documents() (allowed, all int) { return d.allowed, d.all }

// close lets the vectors go. The database holds nothing between two statements, so there is nothing
// else to let go.
func (d *database) close() {
	if d.memory != nil {
		d.memory.close()
	}
}

// narrow runs stage 1, if the summaries are in memory.
func (d *database) narrow(ctx context.Context, query string, v []float32) (
	n int, err error) {
	if d.memory == nil {
		return d.allowed, skip("no embedder: the database looks through all documents")
	}
	return d.memory.narrow(ctx, query, v)
}

// words asks the database for passages, and scores them. ts_rank knows no IDF and chose .839 of the
// English answers first where BM25 over its candidates chose .933, so it only chooses the
// candidates. The scores that are shown are those of BM25 over all visible passages, not over the
// candidates.
func (d *database) words(ctx context.Context, query string, n int) ([]*passage, error) {
	whole, err := d.source.Statistics(ctx, d.id, d.filter, query)
	if err != nil {
		return nil, err
	}
	candidates, err := d.source.Sparse(ctx, d.id, d.filter, query, n)
	if err != nil {
		return nil, err
	}
	d.found.Whole = &whole
	byRow := map[int]*passage{}
	for _, c := range candidates {
		if d.left(c.ID) {
			p := d.take(c)
			byRow[p.row] = p
		}
	}
	all := []*passage{}
	ideal := d.found.Ideal(query)
	for _, hit := range d.found.Search(query, n, nil) {
		p := byRow[hit.Row]
		p.Sparse = value(hit.Score / ideal)
		all = append(all, p)
	}
	return all, nil
}

// left reports whether stage 1 kept the document of a passage. The database was not told which
// documents those are: it has its own index of words, and is fast without. A passage that came
// after the vectors were read is not known yet, and counts as kept.
func (d *database) left(id string) bool {
	if d.memory == nil {
		return true
	}
	row, there := d.rows[id]
	return !there || d.memory.allowed(row)
}

// take makes a passage of a candidate, and adds it to those that are scored. A passage that both
// words and vectors found is there once, in one row.
func (d *database) take(c kbstore.Candidate) *passage {
	row, there := d.rowOf[c.ID]
	if !there {
		row = d.found.Add(c.ID, c.Title, c.Heading, c.Text)
		d.rowOf[c.ID] = row
	}
	return &passage{text: c.Text, row: row, Metadata: Metadata{
		Chunk: c.ID, Document: c.Document, Index: c.Index, Collection: c.Collection, Title: c.Title,
		Heading: c.Heading,
	}}
}

// nearest compares in memory and reads the texts from the database, which asks the filter once
// more.
func (d *database) nearest(ctx context.Context, v []float32, n int) ([]*passage, error) {
	near, err := d.memory.nearest(ctx, v, n)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(near))
	for i, p := range near {
		ids[i] = p.Chunk
	}
	candidates, err := d.source.Chunks(ctx, d.id, d.filter, ids)
	if err != nil {
		return nil, err
	}
	byID := map[string]*passage{}
	for _, c := range candidates {
		byID[c.ID] = d.take(c)
	}
	all := []*passage{}
	for _, p := range near {
		if read := byID[p.Chunk]; read != nil { // else it went meanwhile
			read.Dense = p.Dense
			all = append(all, read)
		}
	}
	return all, nil
}

// compare sets the cosines of passages that were found by words. A passage that was imported after
// the vectors were read has none yet.
func (d *database) compare(ctx context.Context, all []*passage, v []float32) error {
	return d.compareRows(ctx, all, v, func(p *passage) (int, bool) {
		row, there := d.rows[p.Chunk]
		return row, there
	})
}

// features looks at passages. Those that vectors alone found were put among the others by take,
// with the statistics of all that may be seen.
func (d *database) features(query string, all []*passage) (
	features []lexical.Features, err error) {
	look := d.found.Look(query, fieldWeights...)
	for _, p := range all {
		p.words = wordsOf(d.found.Body(p.row))
		features = append(features, look.Features(p.row))
	}
	return features, nil
}

// load does nothing: the passages have their texts.
func (d *database) load(_ context.Context, all []*passage) ([]*passage, error) { return all, nil }
