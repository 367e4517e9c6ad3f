package agent

import (
	"context"
	"slices"
	"strings"

	"toolnorm/tools"
	"toolnorm/tools/find"
)

// search returns the tools of the run that a text asks for, the best first.
func (ts *toolset) search(ctx context.Context, text string) []tools.Tool {
	return ts.finding().Find(ctx, ts.meanings, text)
}

// rank returns the tools of the run that a text asks for, the best first. Unlike search, it
// compares only words, for callers that must not wait for another server to compare meanings.
func (ts *toolset) rank(text string) []tools.Tool { return ts.finding().Rank(text) }

// finding returns the Finder of the run's tools. It is made at the first search, since few runs
// search.
func (ts *toolset) finding() *find.Finder {
	if ts.finder == nil {
		ts.finder = find.New(ts.list)
	}
	return ts.finder
}

// mostAsked is how many bytes at the end of the user's question a search reads. A question may
// contain a whole file, so the rest is ignored.
const mostAsked = 2000

// lookup returns at most mostFound tools that fit a model's query or the user's own question. Small
// models often search for a name or a number from the question: "Sales", from "list the invoices
// for Sales", which is not a word of any tool. If the query is a part of the question, the results
// of both searches alternate. Otherwise the results for the question follow those for the query, if
// these are fewer than mostFound.
func (ts *toolset) lookup(ctx context.Context, query string) (out []tools.Tool) {
	found := ts.search(ctx, query)
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
	more := ts.search(ctx, asked)
	for i := range mostFound {
		add(found[min(i, len(found)):min(i+1, len(found))])
		add(more[min(i, len(more)):min(i+1, len(more))])
	}
	return out
}
