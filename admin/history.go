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

// found is a page of the history, the newest first.
type found struct {
	Exchanges []trace.Exchange `json:"exchanges"`
	More      bool             `json:"more"`
}

// search looks for earlier exchanges. If no history is kept, it finds nothing.
func (l *live) search(w http.ResponseWriter, r *http.Request) error {
	form := r.URL.Query()
	most, err := strconv.Atoi(cmp.Or(form.Get("most"), "100"))
	if err != nil || most < 1 || most > mostFound {
		return &fault.Error{Kind: fault.Invalid, Param: "most", Message: "most must be 1 to 500"}
	}
	only := form.Get("only")
	if _, known := history.Only[only]; !known {
		return &fault.Error{Kind: fault.Invalid, Param: "only",
			Message: "only must be failed, repaired, calls or missed"}
	}
	page := found{Exchanges: []trace.Exchange{}}
	if l.history != nil {
		all, more, err := l.history.Search(r.Context(),
			history.Query{Words: form.Get("q"), Only: only, After: form.Get("after"), Most: most})
		if err != nil {
			return err
		}
		page.Exchanges, page.More = append(page.Exchanges, all...), more
	}
	return write(w, http.StatusOK, page)
}

// find returns an exchange that is kept here in memory, or in the history; nil when it is not.
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

// turns returns the exchanges of a conversation that are kept. The latest ones may be only in
// memory.
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
