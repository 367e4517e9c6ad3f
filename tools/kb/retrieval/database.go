package retrieval

import (
	"context"

	"toolnorm/tools/kb/kbstore"
)

// open returns the view of a base that fits where the base is kept.
func (l *Local) open(ctx context.Context, base kbstore.Base, f kbstore.Filter, query string,
	whole bool) (view, error) {
	var m *memory
	if l.Embedder != nil && !l.Store.Compares() {
		i, err := l.indexes.get(ctx, l, base, !l.Store.Serves())
		if err != nil {
			return nil, err
		}
		if m = i.open(f); !l.Store.Serves() {
			return m, nil
		}
	}
	d, err := l.openDisk(ctx, base, f, query, whole)
	switch {
	case err != nil && m != nil:
		m.close()
		return nil, err
	case err != nil:
		return nil, err
	case l.Embedder == nil:
		return d, nil
	case m == nil:
		return &indexed{d, l.Model}, nil
	}
	return &database{d, m}, nil
}

// database is what a principal may see of a base in a PostgreSQL without pgvector: words are found
// by the index in the store, and vectors are compared in memory, where the base's are held without
// its texts.
type database struct {
	*disk
	vectors *memory
}

// close lets both go.
func (d *database) close() {
	d.vectors.close()
	d.disk.close()
}

// narrow runs stage 1 by the summaries in memory. A document that came after they were read is not
// known yet, and counts as kept.
func (d *database) narrow(ctx context.Context, query string, v []float32) (n int, err error) {
	m := d.vectors
	if _, err = m.narrow(ctx, query, v); err != nil {
		return d.count, err
	}
	d.leave(func(id string) bool {
		n, there := m.number[id]
		return !there || m.may[n]
	})
	return d.count, nil
}

// nearest compares in memory and reads the texts from the database, which asks the filter once
// more.
func (d *database) nearest(ctx context.Context, v []float32, n int) ([]*passage, error) {
	near, err := d.vectors.nearest(ctx, v, n)
	if err != nil {
		return nil, err
	}
	return d.nearby(ctx, near)
}

// compare sets the cosines of passages that were found by words. A passage that was imported after
// the vectors were read has none yet.
func (d *database) compare(ctx context.Context, all []*passage, v []float32) error {
	return d.vectors.compareRows(ctx, all, v, func(p *passage) (int, bool) {
		row, there := d.vectors.rows[p.Chunk]
		return row, there
	})
}
