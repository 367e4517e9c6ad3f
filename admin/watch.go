package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/internal/trace"
)

const (
	// lookAtOne is the interval at which a page that shows a running request is sent what is new.
	// The stream polls recorded data, so a token costs the proxy no more when many pages are open.
	lookAtOne = 100 * time.Millisecond
	// lookAtAll is the interval at which the list is polled.
	lookAtAll = 500 * time.Millisecond
	// manyLook is the number of open pages above which all of them are sent news half as often, so
	// that their cost stays small.
	manyLook = 20
)

// pause returns how long to wait before a page is sent the next news. The wait ends at the same
// moment for all pages, so that the processor wakes up once for all of them. The parameter every is
// the usual interval, which is doubled if many pages are open.
func (l *live) pause(every time.Duration) time.Duration {
	if l.events.count() > manyLook {
		every *= 2
	}
	return every - time.Duration(time.Now().UnixNano())%every
}

// streams reports whether the answer to a path is a stream. The function packed does not compress
// streams, because their events have to arrive at once.
func streams(path string) bool {
	return path == API+"events" || strings.HasSuffix(path, "/live")
}

// followed is what is new in the lists of all replicas. The first value of a stream also has the
// meanings of the repair codes.
type followed struct {
	trace.News
	Replicas []state            `json:"replicas,omitempty"` // nil: there are no other replicas
	Reasons  map[string]meaning `json:"reasons"`
}

// change is what is new about a running request, with the meanings of the codes of its repairs.
type change struct {
	trace.Change
	Reasons map[string]meaning `json:"reasons"`
}

// followList sends a page the list of exchanges, and later its changes. If no exchanges are
// recorded, the list is empty and its member keeps, the number of exchanges that can be kept, is 0.
// It returns an error if too many pages are open.
func (l *live) followList(w http.ResponseWriter, r *http.Request) error {
	log := l.trace
	if log == nil {
		log = new(trace.Log)
	}
	all := &everyone{fleet: l.fleet, own: trace.NewFollow(log),
		others: map[*mirror]*trace.Follow{}}
	reasons := l.meanings()
	return l.follow(w, r, lookAtAll, func() (any, bool, bool) {
		news, something := all.next()
		news.Reasons, reasons = reasons, nil
		return news, something, false
	})
}

// followOne sends a page a running request, and then what is new about it, until it has ended. For
// a request that is not running, the stream has only the end. It returns an error if too many pages
// are open.
func (l *live) followOne(w http.ResponseWriter, r *http.Request) error {
	id, every := r.PathValue("id"), lookAtOne
	var next func() (c trace.Change, something, ended bool)
	if l.trace != nil {
		if watch := l.trace.Watch(id, trace.Seen{}); watch != nil {
			next = watch.Next
		} else if e, _, _ := l.find(r.Context(), id); e == nil {
			next, every = l.watchOther(r.Context(), id), lookAtOther
		}
	}
	all, none := l.meanings(), map[string]meaning{}
	return l.follow(w, r, every, func() (any, bool, bool) {
		if next == nil {
			return nil, false, true
		}
		c, something, ended := next()
		known := none
		if len(c.Repairs) > 0 {
			known = map[string]meaning{}
		}
		for _, code := range c.Repairs {
			known[code] = all[code]
		}
		return change{c, known}, something, ended
	})
}

// follow sends a page the values that the function next returns. It calls next once in each
// interval, and sends v if the result something is true. If ended is true, it sends an event that
// says so and stops. It also stops when the page disconnects. It returns an error if too many pages
// are open, or if a value cannot be marshaled.
func (l *live) follow(w http.ResponseWriter, r *http.Request, every time.Duration,
	next func() (v any, something, ended bool)) error {
	p := l.events.join()
	if p == nil {
		return fault.New(fault.Busy, "%d pages listen already", mostPages)
	}
	defer l.events.leave(p)
	w, end := packStream(w, r)
	defer end()
	out := sse.NewWriter(w, stall)
	again := time.NewTimer(every)
	defer again.Stop()
	for last := time.Now(); ; {
		v, something, ended := next()
		switch {
		case ended:
			out.Buf = append(out.Buf, "event: end\ndata: {}\n\n"...)
		case something:
			data, err := json.Marshal(v)
			if err != nil {
				return err
			}
			out.Buf = append(append(append(out.Buf, "event: change\ndata: "...), data...),
				"\n\n"...)
		case time.Since(last) >= beat:
			out.Comment("keep-alive")
		}
		if len(out.Buf) > 0 {
			last = time.Now()
		}
		if err := out.Flush(); err != nil || ended {
			return nil // the page is gone, or has everything
		}
		again.Reset(l.pause(every))
		select {
		case <-r.Context().Done():
			return nil
		case <-l.events.closed:
			return nil
		case <-again.C:
		}
	}
}
