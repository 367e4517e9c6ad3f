package retrieval

import (
	"context"

	"toolnorm/tools/kb/kbstore"
)

// indexed is a database that compares vectors itself, by pgvector: nothing of the base is held in
// memory, however large it is.
type indexed struct {
	*disk
	model string // whose vectors are compared
}

// narrow skips stage 1, which keeps a search from looking through everything: the database's index
// does that.
func (x *indexed) narrow(context.Context, string, []float32) (int, error) {
	return x.count, skip("the database looks through all documents")
}

// nearest asks the database. The filter and the model are conditions of its statement, so that what
// is found are the nearest of those that may be seen.
func (x *indexed) nearest(ctx context.Context, v []float32, n int) ([]*passage, error) {
	candidates, err := x.reader.Dense(ctx, x.filter,
		kbstore.Embedding{Model: x.model, Vector: v}, n)
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 && x.count > 0 {
		return nil, skip("the passages have no vectors of " + x.model + "; import them again")
	}
	all := []*passage{}
	for i := range candidates {
		p := x.take(&candidates[i])
		p.Dense = value(candidates[i].Score)
		all = append(all, p)
	}
	return all, nil
}

// compare sets the cosines of passages that were found by words; passages whose vectors are of
// another model get none.
func (x *indexed) compare(ctx context.Context, all []*passage, v []float32) error {
	ids := make([]string, len(all))
	for i, p := range all {
		ids[i] = p.Chunk
	}
	cosines, err := x.reader.Cosines(ctx, x.filter,
		kbstore.Embedding{Model: x.model, Vector: v}, ids)
	for _, p := range all {
		if c, there := cosines[p.Chunk]; there {
			p.Dense = value(c)
		}
	}
	return err
}
