package retrieval

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// part is a segment of an index of words. It is in the store, or, for a document that no stored
// segment has yet, only in memory.
type part struct {
	*kbstore.Segment
	made *kbstore.Made // nil: the segment is in the store
	gone []bool        // by document: it has changed or is gone; nil: none has
}

// without records that the documents at the given positions in the segment have changed or are
// gone.
func (p *part) without(gone []int) {
	for _, place := range gone {
		if p.gone == nil {
			p.gone = make([]bool, len(p.Documents))
		}
		if place < len(p.gone) {
			p.gone[place] = true
		}
	}
}

// parts is the state of a base's index of words at one version. It never changes, so that searches
// of other versions may use the same parts at the same time.
type parts struct {
	at      kbstore.Indexed
	created time.Time // when the base was created
	all     []*part
	// there are more passages than a segment may have, and searches share the parts among
	// processors; with fewer, to start goroutines takes as long as they save
	large bool
}

// current reports whether p is still the state of the base's index. It returns false for nil.
func (p *parts) current(base kbstore.Base, now *kbstore.Indexed) bool {
	return p != nil && p.created.Equal(base.Created) && p.at.Version == now.Version &&
		slices.Equal(p.at.Segments, now.Segments)
}

// states contains the last known parts of each knowledge base.
type states struct {
	mu     sync.Mutex
	byBase map[string]*parts
}

// get returns the last known parts of a base's index, or nil if none are known.
func (s *states) get(base string) *parts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byBase[base]
}

// set stores the parts of a base. nil removes the base.
func (s *states) set(base string, p *parts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byBase == nil {
		s.byBase = map[string]*parts{}
	}
	if s.byBase[base] = p; p == nil {
		delete(s.byBase, base)
	}
}

// read returns the parts of the base's index in the state of the parameter now, which the reader r
// sees. It takes over what p has already, which is an earlier state or nil. The other segments are
// read from the store, and segments for new documents are made in memory. It returns an error if
// the store fails.
func (p *parts) read(ctx context.Context, r *kbstore.Reader, base kbstore.Base,
	now kbstore.Indexed) (*parts, error) {
	known, fresh := map[int64]*kbstore.Segment{}, map[kbstore.Fresh]*part{}
	if p != nil && p.created.Equal(base.Created) {
		for i, f := range p.at.Fresh {
			fresh[f] = p.all[len(p.at.Segments)+i]
		}
		for i, id := range p.at.Segments {
			known[id] = p.all[i].Segment
		}
	}
	q := &parts{at: now, created: base.Created, all: make([]*part, len(now.Segments))}
	err := share(len(q.all), true, func(numbers iter.Seq[int]) (err error) {
		for i := range numbers {
			id := now.Segments[i]
			x := &part{Segment: known[id]}
			if x.Segment == nil {
				if x.Segment, err = r.Segment(ctx, id); err != nil {
					return err
				}
			}
			x.without(now.Gone[id])
			q.all[i] = x
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range now.Fresh {
		if fresh[f] == nil {
			ids = append(ids, f.ID)
		}
	}
	made, err := r.Make(ctx, ids)
	if err != nil {
		return nil, err
	}
	q.at.Fresh = nil
	for _, f := range now.Fresh {
		x := fresh[f]
		if x == nil && made[f.ID] != nil {
			x = &part{Segment: made[f.ID].Segment, made: made[f.ID]}
		}
		if x != nil { // else it is odd
			q.at.Fresh, q.all = append(q.at.Fresh, f), append(q.all, x)
		}
	}
	return q, nil
}

// openDisk returns the view of a base by its index of words. If whole is true, everything is read
// in one transaction; otherwise only if the index has changed since the last search. If too many
// passages are not indexed yet, it indexes them first. It returns an error if the store fails or
// ctx ends.
func (l *Local) openDisk(ctx context.Context, base kbstore.Base, f kbstore.Filter, query string,
	whole bool) (*disk, error) {
	words := lexical.Words(query)
	for tries := 0; ; tries++ {
		r, err := l.Store.Words.Reader(ctx, base.ID)
		if err == nil && whole {
			err = r.Begin(ctx)
		}
		if err != nil {
			return nil, err
		}
		p, lists, full, err := l.partsAt(ctx, r, base, words, tries == 0)
		if err == nil && !full {
			return newDisk(r, p, f, words, lists), nil
		}
		if r.Close(); err == nil {
			err = l.build(ctx, base)
		}
		if err != nil {
			return nil, err
		}
	}
}

// partsAt returns the parts of a base's index in the state that the reader sees, and the lists of
// the given words. If the parameter first is true and there are more new passages than a search
// should index for itself, it returns neither, and full is true. It returns an error if the store
// fails.
func (l *Local) partsAt(ctx context.Context, r *kbstore.Reader, base kbstore.Base, words []string,
	first bool) (p *parts, lists kbstore.Lists, full bool, err error) {
	var last []int64
	if p = l.states.get(base.ID); p != nil {
		last = p.at.Segments
	}
	now, lists, err := l.look(ctx, r, base.ID, last, words)
	if err != nil {
		return nil, lists, false, err
	}
	if p.current(base, &now) {
		return p, lists, false, nil
	}
	if !r.Begun() {
		if err := r.Begin(ctx); err != nil {
			return nil, lists, false, err
		}
		return l.partsAt(ctx, r, base, words, first)
	}
	if err := r.Rest(ctx, &now); err != nil {
		return nil, lists, false, err
	}
	fresh := 0
	for _, d := range now.Fresh {
		fresh += d.Chunks
	}
	if first && fresh > l.Store.Words.FreshLimit() {
		return nil, lists, true, nil
	}
	if p, err = p.read(ctx, r, base, now); err == nil {
		passages := 0
		for _, x := range p.all {
			passages += len(x.Owners)
		}
		p.large = passages > l.Store.Words.Sizes.Large
		l.states.set(base.ID, p)
	}
	return p, lists, false, err
}

// build indexes the passages of a base that are not indexed yet. If ctx ends first, it returns an
// error with the progress, and the indexing continues, so that the next search has less to wait
// for.
func (l *Local) build(ctx context.Context, base kbstore.Base) error {
	var done, all int
	var mu sync.Mutex
	told := func(d, a int) {
		mu.Lock()
		defer mu.Unlock()
		if done, all = d, a; l.Progress != nil {
			l.Progress(base, done, all)
		}
	}
	ended := make(chan error, 1)
	l.beside.Go(context.WithoutCancel(ctx), func(ctx context.Context) {
		ended <- l.Store.Words.Index(ctx, base.ID, told)
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		mu.Lock()
		defer mu.Unlock()
		return fmt.Errorf(
			"the index of words is being made (%d %% are done); search again in a moment: %w",
			100*done/max(1, all), context.Cause(ctx))
	}
}
