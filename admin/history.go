package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"toolnorm/internal/fault"
	"toolnorm/internal/history"
	"toolnorm/internal/trace"
)

// mostFound is the most exchanges on one page of the history.
const mostFound = 500

// found is one page of the history, with the newest exchange first.
type found struct {
	Exchanges []trace.Exchange `json:"exchanges"`
	More      bool             `json:"more"`
}

// search returns the earlier exchanges that match the query. There are none without a history. It
// returns an error if the query parameter most or only has a value that is not permitted, or if the
// history cannot be read.
func (l *live) search(r *http.Request) (any, error) {
	form := r.URL.Query()
	most, err := strconv.Atoi(cmp.Or(form.Get("most"), "100"))
	if err != nil || most < 1 || most > mostFound {
		return nil, fault.Wrong("most", "most must be 1 to 500")
	}
	only := form.Get("only")
	if _, known := history.Only[only]; !known {
		return nil, fault.Wrong("only", "only must be failed, repaired, calls or missed")
	}
	page := found{Exchanges: []trace.Exchange{}}
	if l.history != nil {
		all, more, err := l.history.Search(r.Context(),
			history.Query{Words: form.Get("q"), Only: only, After: form.Get("after"), Most: most})
		if err != nil {
			return nil, err
		}
		page.Exchanges, page.More = append(page.Exchanges, all...), more
	}
	return page, nil
}

// find returns the exchange with this id from memory or from the history, or nil if it is in
// neither of them. here is true if it was in memory. It returns an error if the history cannot be
// read.
func (l *live) find(ctx context.Context, id string) (e *trace.Exchange, here bool, err error) {
	if l.trace == nil {
		return nil, false, nil
	}
	if e := l.trace.Find(id); e != nil || l.history == nil {
		return e, e != nil, nil
	}
	e, err = l.history.Find(ctx, id)
	return e, false, err
}

// turns returns the exchanges of a conversation, from the history and from memory, because the
// latest may be only in memory. If the history cannot be read, it returns those in memory and an
// error.
func (l *live) turns(ctx context.Context, conversation string) ([]trace.Exchange, error) {
	now := l.trace.Conversation(conversation)
	if l.history == nil || conversation == "" {
		return now, nil
	}
	all, err := l.history.Conversation(ctx, conversation)
	for _, e := range now {
		if !slices.ContainsFunc(all, func(a trace.Exchange) bool { return a.ID == e.ID }) {
			all = append(all, e)
		}
	}
	return all, err
}
