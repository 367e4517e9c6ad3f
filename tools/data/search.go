package data

import (
	"context"
	"fmt"

	"toolnorm/internal/lexical"
)

// stage reports what became of one way of searching. Without it a search by words would look like a
// search by meaning that found little.
type stage struct {
	Name   string `json:"name"`   // dense (by vectors) or sparse (by words)
	Status string `json:"status"` // ok, skipped (not set, not needed) or failed
	Reason string `json:"reason,omitempty"`
}

// ranks is the number of places of each ranking that are merged. More would change nothing at the
// top: after the hundredth place a rank adds less than 1/160.
const ranks = 100

// find returns the n best documents for each query. Without an embedding model, or with one that
// fails, it finds by words alone; the stages say so. If both is set, it merges the two rankings:
// words find names of columns by their letters, vectors find what they mean. All queries are
// embedded in one request. A model that fails is not an error as long as words can find something.
func (d *Data) find(ctx context.Context, queries []string, n int, both bool) (
	found [][]string, stages []stage, err error) {
	if len(queries) == 0 {
		return [][]string{}, []stage{}, nil
	}
	dense := stage{Name: "dense", Status: "ok"}
	var vectors [][]float32
	if d.embedder == nil {
		dense.Status, dense.Reason = "skipped", d.errNoEmbedder().Error()
	} else if vectors, err = d.embedder.Embed(ctx, queries); err != nil {
		dense.Status, dense.Reason = "failed", err.Error()
	}
	if d.chroma != nil && dense.Status == "ok" {
		found, err := d.chroma.Query(ctx, vectors, n)
		return found, []stage{dense, {"sparse", "skipped", "Chroma finds by vectors"}}, err
	}
	x, err := d.indexes(ctx)
	if err != nil {
		return nil, nil, err
	}
	if dense.Status == "ok" {
		dense.Status, dense.Reason = x.usable(d.config.EmbeddingModel, len(vectors[0]))
	}
	sparse := stage{Name: "sparse", Status: "ok"}
	if dense.Status == "ok" && !both {
		sparse.Status, sparse.Reason = "skipped", "vectors were compared"
	}
	for i, query := range queries {
		var rankings [][]int
		if dense.Status == "ok" {
			rankings = append(rankings, x.nearest(vectors[i], max(n, ranks)))
		}
		if sparse.Status == "ok" {
			rankings = append(rankings, x.matching(query, max(n, ranks)))
		}
		texts := []string{}
		for _, row := range lexical.Fuse(n, rankings...) {
			texts = append(texts, x.texts[row])
		}
		found = append(found, texts)
	}
	return found, []stage{dense, sparse}, nil
}

// indexes returns the indexes of the documents, which words can be looked for in: of the store, or
// fetched from Chroma, which has none. All of Chroma's texts are fetched for that, each time, since
// Chroma does not say when they change.
func (d *Data) indexes(ctx context.Context) (*indexes, error) {
	if d.chroma == nil {
		return d.collection.index(ctx)
	}
	_, all, err := d.chroma.Records(ctx, "")
	if err != nil {
		return nil, err
	}
	x := new(indexes)
	for _, text := range all {
		if text != nil {
			x.texts = append(x.texts, *text)
		}
	}
	x.words = lexical.New(x.texts)
	return x, nil
}

// usable reports whether the documents' vectors can be compared with those of a model, and if not,
// or not all, the reason. Vectors of two models have nothing in common, even when they are equally
// long: comparing them gives noise that looks like an answer.
func (x *indexes) usable(model string, dimensions int) (status, reason string) {
	switch {
	case x.model == "":
		return "skipped", "the documents have no vectors; import them again"
	case x.model != model:
		return "failed", fmt.Sprintf(
			"the documents' vectors are of %s, and the query's of %s; import them again", x.model,
			model)
	case x.dense.Dimensions() != dimensions:
		return "failed", fmt.Sprintf(
			"the documents' vectors have %d dimensions, and the query's %d", x.dense.Dimensions(),
			dimensions)
	case len(x.placed) < len(x.texts):
		return "ok", fmt.Sprintf("%d of %d documents have no vector; import them again",
			len(x.texts)-len(x.placed), len(x.texts))
	}
	return "ok", ""
}
