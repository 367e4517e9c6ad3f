package retrieval

import (
	"context"

	"toolnorm/tools/kb/kbstore"
)

// open returns a view of a knowledge base, which the caller must close. The kind of the view
// depends on how the base is stored and whether there is an embedding model. If whole is true, the
// index in the store is read in one transaction. open returns an error if an index cannot be read.
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

// database is the view of a knowledge base in PostgreSQL without pgvector. Words are found by the
// index in the store. Vectors are compared in memory, which has the base's vectors without its
// texts.
type database struct {
	*disk
	vectors *memory
}

// close closes both views that d consists of, that of the words and that of the vectors.
func (d *database) close() {
	d.vectors.close()
	d.disk.close()
}

// narrow leaves out documents whose summaries are irrelevant, and returns how many remain. It
// compares the summaries in memory. Documents that are not in memory yet, since they were added
// later, are kept. It returns a skip error (the stage is not needed) if no document can be left
// out.
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

// nearest returns the n passages whose vectors are nearest to v. It compares vectors in memory and
// reads the texts from the database, which applies the filter once more. It returns an error if the
// vectors cannot be compared or the database fails.
func (d *database) nearest(ctx context.Context, v []float32, n int) ([]*passage, error) {
	near, err := d.vectors.nearest(ctx, v, n)
	if err != nil {
		return nil, err
	}
	return d.nearby(ctx, near)
}

// compare sets the cosine of each passage with the query's vector v. A passage that was imported
// after the vectors were read gets no cosine. It returns an error if the store fails.
func (d *database) compare(ctx context.Context, all []*passage, v []float32) error {
	return d.vectors.compareRows(ctx, all, v, func(p *passage) (int, bool) {
		row, there := d.vectors.rows[p.Chunk]
		return row, there
	})
}
