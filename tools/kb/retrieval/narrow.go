package retrieval

import (
	"cmp"
	"context"
	"slices"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// narrow leaves out documents whose summaries have few words of the query, and returns how many
// remain. It returns a skip error if no summary covers nearly the whole query or there are few
// documents, and another error if the index is damaged.
func (d *disk) narrow(_ context.Context, query string, _ []float32) (int, error) {
	lists, statistics, err := d.lists(kbstore.OfSummaries)
	if err != nil {
		return 0, err
	}
	shares := (&lexical.Index{Whole: &statistics}).Look(query).Shares()
	coverage, best := make([][]float64, len(d.parts)), 0.0
	var postings []lexical.Posting
	for i, v := range d.seen {
		coverage[i] = make([]float64, len(v.may))
		for _, t := range shares {
			err := d.decode(&postings, i, len(v.may), lists[i][t.Token])
			if err != nil {
				return 0, err
			}
			for _, p := range postings {
				coverage[i][p.Text] += t.Weight
			}
		}
		for n, c := range coverage[i] {
			if v.may[n] == 1 {
				best = max(best, min(1, c))
			}
		}
	}
	if best < answered || d.count <= keptDocuments {
		return d.count, skip("no summary stands out")
	}
	d.keep(coverage)
	return d.count, nil
}

// keep leaves out documents of this search, except those that have enough of the query's words and,
// if these are fewer than fifty, the next best. The parameter coverage has the share of the query's
// words in the summary of each document, by part of the index and number of the document.
func (d *disk) keep(coverage [][]float64) {
	type unlikely struct {
		part, document int
		score          float64
	}
	var rest []unlikely // sorted, as many as there is room for
	room := keptDocuments
	for i, v := range d.seen {
		for n, c := range coverage[i] {
			if v.may[n] == 1 && min(1, c) >= unlike {
				room--
			}
		}
	}
	room, d.count = max(0, room), 0
	id := func(u unlikely) string { return d.parts[u.part].Documents[u.document].ID }
	before := func(a, b unlikely) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(id(a), id(b)))
	}
	for i, v := range d.seen {
		v.may = slices.Clone(v.may)
		for n, c := range coverage[i] {
			if v.may[n] == 0 || min(1, c) >= unlike {
				d.count += int(v.may[n])
				continue
			}
			v.may[n] = 0
			u := unlikely{i, n, c}
			at, _ := slices.BinarySearchFunc(rest, u, before)
			if at < room {
				rest = slices.Insert(rest[:min(len(rest), room-1)], at, u)
			}
		}
	}
	for _, u := range rest {
		d.seen[u.part].may[u.document] = 1
	}
	d.count += len(rest)
}

// leave removes from this search the documents for which the function kept returns false.
func (d *disk) leave(kept func(id string) bool) {
	d.count = 0
	for i, v := range d.seen {
		v.may = slices.Clone(v.may)
		for n := range v.may {
			if v.may[n] == 1 && !kept(d.parts[i].Documents[n].ID) {
				v.may[n] = 0
			}
			d.count += int(v.may[n])
		}
	}
}
