package retrieval

import (
	"context"

	"toolnorm/tools/kb/kbstore"
)

// indexed is the view of a knowledge base in PostgreSQL with pgvector, which compares the vectors.
// Nothing of the base is in memory, however large it is.
type indexed struct {
	*disk
	model string // the model whose vectors are compared
}

// narrow leaves out no documents, and always returns an error of type skip, which says that the
// stage is not needed. Leaving out documents would save nothing: the database's index already keeps
// a search from comparing everything.
func (x *indexed) narrow(context.Context, string, []float32) (int, error) {
	return x.count, skip("the database looks through all documents")
}

// nearest returns the n passages whose vectors are nearest to v. The filter and the model are
// conditions of the database's statement, so only passages that may be seen are compared. It
// returns a skip error if there are no vectors of the model, or another error if the database
// fails.
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

// compare sets the cosine of each passage with the query's vector v. Passages whose vectors are of
// another model get no cosine. It returns an error if the database fails.
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
