package data

import (
	"context"
	"fmt"

	"toolnorm/internal/lexical"
)

// stage reports how one way of searching went. If the result did not have it, a search by words
// would look like a search by meaning that found little.
type stage struct {
	Name   string `json:"name"`   // dense (by vectors) or sparse (by words)
	Status string `json:"status"` // ok, skipped (not set, not needed) or failed
	Reason string `json:"reason,omitempty"`
}

// ranks is how many places of each ranking are merged. More would change nothing at the top,
// because after the hundredth place a rank adds less than 1/160.
const ranks = 100

// find returns the n best documents for each query. It searches by vectors. Without a working
// embedding model it searches by words instead, which is not an error; the result stages has what
// was done and why. If the parameter both is true, find searches in both ways and merges the
// rankings: words find names of columns by their letters, and vectors find meanings. All queries
// are embedded in one request. find returns an error if the documents cannot be searched at all.
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

// indexes returns the indexes for a search by words. They are made from the texts in Chroma if
// Chroma is used, and otherwise from those in the database. Chroma has no such index and does not
// say when its texts change, so all its texts are fetched each time. It returns an error if the
// texts cannot be read.
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

// usable returns "ok" if the documents' vectors can be compared with those of a model, and
// otherwise "skipped" or "failed" with the reason. If only some documents have no vector, it
// returns "ok", and the reason says so. Vectors of two models have nothing in common, even if they
// are equally long, so comparing them would give noise that looks like an answer.
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
