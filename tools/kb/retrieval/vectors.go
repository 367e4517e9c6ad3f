package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"toolnorm/internal/vector"
	"toolnorm/tools/kb/kbstore"
)

// standardSmall is the number of vectors from which on they are stored as bytes. 200,000 vectors of
// 1,024 numbers take 800 MB as floats, and 200 MB as bytes.
const standardSmall = 200_000

// spare is by how much more candidates than requested are compared exactly if the index has bytes.
// Among 100,000 vectors, the ten nearest were all among the first fifty.
const spare = 4

// vectors contains the vectors of a base's passages, by row, but only those made by the model in
// use. Vectors of other models cannot be compared with the query's, even if they are equally long.
type vectors struct {
	model string
	limit int // from how many vectors on they are stored as bytes

	exact *vector.Index
	small *vector.Small // replaces exact if there are many vectors
	has   []bool        // by row
	// by model: how many vectors cannot be used, because the model or the length differs
	others map[string]int
	count  int
	length int // the length that vectors must have; 0: that of the first one
}

// expect sets the length that all vectors must have, before the first vector is added. It takes the
// length that most of the chunks' vectors have. Otherwise a single vector of another length could
// make all others useless.
func (x *vectors) expect(chunks []kbstore.Chunk) {
	if x.count > 0 {
		return
	}
	counts := map[int]int{}
	x.length = 0
	for i := range chunks {
		if n := len(chunks[i].Vector); n > 0 && chunks[i].Model == x.model {
			if counts[n]++; counts[n] > counts[x.length] {
				x.length = n
			}
		}
	}
}

// set stores the vector of a row. A vector that another model has made, or that has another length,
// is not stored, and only x.others counts it. While a base is imported again with another model, it
// has vectors of both models, and a search finds those of the model in use.
func (x *vectors) set(row int, e kbstore.Embedding) {
	for row >= len(x.has) {
		x.has = append(x.has, false)
	}
	if len(e.Vector) == 0 {
		return
	}
	if e.Model != x.model || x.length > 0 && len(e.Vector) != x.length {
		x.others[e.Model]++
		return
	}
	if x.small != nil {
		x.has[row] = x.small.Set(row, e.Vector)
	} else {
		x.has[row] = x.exact.Set(row, e.Vector)
	}
	if !x.has[row] {
		x.others[e.Model]++
		return
	}
	x.count++
	if x.small == nil && x.count > x.limit {
		x.small, x.exact = x.exact.Small(), nil
	}
}

// remove removes the vector of a row. The parameter model is the model that made the vector.
func (x *vectors) remove(row int, model string) {
	switch {
	case x.has[row]:
		x.has[row] = false
		if x.count--; x.count == 0 { // the next may be of another length
			x.exact, x.small, x.length = vector.New(nil), nil, 0
		}
	case x.others[model] > 1:
		x.others[model]--
	default:
		delete(x.others, model)
	}
}

// dimensions returns the length of the vectors, whether they are stored as floats or bytes.
func (x *vectors) dimensions() int {
	if x.small != nil {
		return x.small.Dimensions()
	}
	return x.exact.Dimensions()
}

// comparable returns nil if a query's vector v can be compared with these vectors. It returns an
// error if they have another length or come from another model. If there are no vectors, the error
// is of type skip, which says that the stage cannot run, since the model has not failed.
func (x *vectors) comparable(v []float32) error {
	if x.count > 0 && x.dimensions() != len(v) {
		return fmt.Errorf("the passages' vectors have %d dimensions, and the query's %d",
			x.dimensions(), len(v))
	}
	if x.count > 0 {
		return nil
	}
	for other := range x.others {
		return fmt.Errorf(
			"the passages' vectors are of %s, and the query's of %s; import them again", other,
			x.model)
	}
	return skip("the passages have no vectors; import them again")
}

// search returns the n rows whose vectors are nearest to v, among those for which the function
// allowed returns true. If the index stores vectors as bytes, search compares the best rows again
// with the exact vectors, which the function fetch returns. It returns the error of fetch.
func (x *vectors) search(v []float32, n int, allowed func(row int) bool,
	fetch func(rows []int) (map[int][]float32, error)) ([]vector.Hit, error) {
	if x.small == nil {
		return x.exact.Search(v, n, allowed), nil
	}
	var rows []int
	for _, hit := range x.small.Search(v, spare*n, allowed) {
		rows = append(rows, hit.Row)
	}
	hits, err := x.cosines(v, rows, fetch)
	slices.SortFunc(hits, func(a, b vector.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
	})
	return hits[:min(n, len(hits))], err
}

// cosines compares v with the vectors of the given rows, and returns the cosines in no particular
// order. All rows must have a vector. If the index stores vectors as bytes, the function fetch
// returns the exact vectors, and rows that fetch does not return are left out. cosines returns the
// error of fetch.
func (x *vectors) cosines(v []float32, rows []int, fetch func(rows []int) (
	map[int][]float32, error)) (hits []vector.Hit, err error) {
	if x.small == nil {
		for _, row := range rows {
			hits = append(hits, vector.Hit{Row: row, Score: x.exact.Cosine(row, v)})
		}
		return hits, nil
	}
	exact, err := fetch(rows)
	for row, w := range exact {
		if len(w) == len(v) {
			hits = append(hits, vector.Hit{Row: row, Score: vector.Cosine(v, w)})
		}
	}
	return hits, err
}

// fetch returns a function that reads the vectors of rows from the store. If a passage was removed
// in the meantime, its vector is missing in the result, and so the passage is not found. The
// function returns an error if the store fails.
func (m *memory) fetch(ctx context.Context) func(rows []int) (map[int][]float32, error) {
	return func(rows []int) (map[int][]float32, error) {
		at := map[string]int{}
		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = m.chunks[row].ID
			at[ids[i]] = row
		}
		read, err := m.store.Vectors(ctx, m.base, ids)
		byRow := map[int][]float32{}
		for id, v := range read {
			byRow[at[id]] = v
		}
		return byRow, err
	}
}
