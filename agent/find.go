package agent

import (
	"cmp"
	"context"
	"slices"
	"time"

	"toolnorm/internal/vector"
	"toolnorm/tools"
	"toolnorm/tools/find"
)

// Embed makes a vector of each text.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// rank returns the tools of the run that a text asks for, the best first.
func (ts *toolset) rank(text string) []tools.Tool {
	if ts.finder == nil {
		ts.finder = find.New(ts.list) // for the first search of a run: few runs have one
	}
	return ts.finder.Rank(text)
}

const (
	// embedTime is how long a search waits for vectors. Those of the tools are made at the first
	// search; without them a search compares words only.
	embedTime = 10 * time.Second
	// mostEmbedded is how many tools have vectors: about what an embedder remembers.
	mostEmbedded = 1000
	// fusion is how much the first places of a ranking count, beside the next ones: the usual
	// constant of reciprocal ranks.
	fusion = 60
)

// search returns the tools that a text asks for, the best first: by words, and by their meaning
// when there is an embedder. Each ranking counts by places, since their scores have nothing in
// common. When the embedder fails, the ranking by words is returned.
func (ts *toolset) search(ctx context.Context, embed Embed, text string) []tools.Tool {
	worded := ts.rank(text)
	if embed == nil || len(ts.list) > mostEmbedded {
		return worded
	}
	texts := []string{text}
	for _, t := range ts.list {
		texts = append(texts, find.Words(t.Name)+": "+t.Description)
	}
	ctx, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	vectors, err := embed(ctx, texts)
	if err != nil || len(vectors) != len(texts) {
		return worded
	}
	score := map[string]float64{}
	for i, t := range worded {
		score[t.Name] += 1 / float64(fusion+i)
	}
	all := make([]int, len(ts.list))
	near := make([]float32, len(ts.list))
	for i := range ts.list {
		all[i], near[i] = i, vector.Cosine(vectors[0], vectors[i+1])
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
	for i, at := range all {
		score[ts.list[at].Name] += 1 / float64(fusion+i)
	}
	slices.SortStableFunc(all, func(a, b int) int {
		if x, y := ts.finder.Copy(a), ts.finder.Copy(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Compare(score[ts.list[b].Name], score[ts.list[a].Name])
	})
	out := make([]tools.Tool, len(all))
	for i, at := range all {
		out[i] = ts.list[at]
	}
	return out
}
