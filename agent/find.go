package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
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
		ts.finder = find.New(ts.list) // made at the first search of a run: few runs have one
	}
	return ts.finder.Rank(text)
}

// mostAsked is how many bytes at the end of the user's question a search looks at: a question may
// contain a file.
const mostAsked = 2000

// lookup returns the few tools that fit a model's query or the user's own question. Small models
// often take a name or a number out of the question for the query: "Sales", from "list the invoices
// for Sales", which is not a word of any tool. If the query is a part of the question, the results
// of both alternate; otherwise those of the question follow, if the query finds few.
func (ts *toolset) lookup(ctx context.Context, query string) (out []tools.Tool) {
	found := ts.search(ctx, ts.embed, query)
	asked := strings.ToValidUTF8(ts.question[max(0, len(ts.question)-mostAsked):], "")
	part := strings.Contains(folded(asked), folded(query))
	add := func(list []tools.Tool) {
		for _, t := range list {
			if len(out) < mostFound &&
				!slices.ContainsFunc(out, func(o tools.Tool) bool { return o.Name == t.Name }) {
				out = append(out, t)
			}
		}
	}
	if !part {
		add(found)
	}
	if len(out) == mostFound || folded(asked) == folded(query) || strings.TrimSpace(asked) == "" {
		add(found)
		return out
	}
	more := ts.search(ctx, ts.embed, asked)
	for i := range mostFound {
		add(found[min(i, len(found)):min(i+1, len(found))])
		add(more[min(i, len(more)):min(i+1, len(more))])
	}
	return out
}

const (
	// embedTime is how long a search waits for vectors. Those of the tools are made at the first
	// search; without them a search compares words only.
	embedTime = 10 * time.Second
	// mostEmbedded is how many tools have vectors: about what an embedder remembers.
	mostEmbedded = 1000
	// fusion is the usual constant of reciprocal rank fusion; it decides how much the first places
	// of a ranking count against the next ones.
	fusion = 60
)

// search returns the tools that a text asks for, the best first: ranked by words, and by meaning if
// there is an embedder. The two rankings are joined by places, since their scores cannot be
// compared. When the embedder fails, the ranking by words is returned.
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
