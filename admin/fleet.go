package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/trace"
)

// Replicas reaches the other replicas of the program. shared.Desk implements it.
type Replicas interface {
	Replicas() ([]struct{ Name, Label string }, error) // all but this one
	Ask(ctx context.Context, to, about string, question, answer any) error
	TellAll(about string, v any) error
	Hear(about string, f func(ctx context.Context, question json.RawMessage) any)
}

const (
	aboutLive = "live"
	// askEvery is how often the other replicas are asked for their lists while a page is open.
	askEvery = time.Second
	// lookAtOther is the interval at which a running request of another replica is polled.
	lookAtOther = 500 * time.Millisecond
	// answerWait is how long an answer of another replica is awaited. Meanwhile the page shows the
	// other replicas.
	answerWait = 3 * time.Second
	// forgetAfter is how long the data of a replica is remembered after the replica has stopped.
	forgetAfter = 10 * time.Minute
)

// liveAsk is the question that a replica asks another one on behalf of a page.
type liveAsk struct {
	// what is asked for: "list", "one" (an exchange), "running" (the view of a running request),
	// "stop" (ending it) or "texts" (recording texts)
	What    string     `json:"what"`
	ID      string     `json:"id,omitempty"`
	After   int        `json:"after,omitempty"` // for "list": how many exchanges were seen
	Seen    trace.Seen `json:"seen,omitzero"`   // for "running": what was seen of the request
	Minutes int        `json:"minutes,omitempty"`
	By      string     `json:"by,omitempty"` // the administrator
}

// liveAnswer is the answer to a liveAsk.
type liveAnswer struct {
	Known bool            `json:"known"` // whether the replica has the exchange
	Body  json.RawMessage `json:"body,omitempty"`
}

// watched is what is new about a running request of another replica, and how much of it has been
// seen.
type watched struct {
	Change    trace.Change `json:"change"`
	Something bool         `json:"something"`
	Seen      trace.Seen   `json:"seen"`
}

// fleet knows the exchanges (requests with their replies) of the other replicas. It asks for them
// only while a page is open.
type fleet struct {
	others Replicas // nil: there are no other replicas
	label  string   // the label of this replica

	mu     sync.Mutex
	known  map[string]*mirror // by the name under which a replica is asked
	looked time.Time
}

// mirror is what this replica knows of the exchanges of another replica.
type mirror struct {
	name, label string

	mu     sync.Mutex
	list   trace.List
	since  time.Time // the time of the first unanswered question; zero: all are answered
	asking bool
	gone   time.Time // when the replica vanished from the list of replicas; zero: it is listed
}

// look returns what is known of the other replicas, sorted by label, or nil if there are none. It
// also starts asking them for news in the background, at most once per askEvery.
func (f *fleet) look() []*mirror {
	if f.others == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) >= askEvery {
		f.looked = time.Now()
		go f.refresh() // ends by itself: each question has a time limit
	}
	return slices.SortedFunc(maps.Values(f.known), func(a, b *mirror) int {
		return cmp.Or(strings.Compare(a.label, b.label), strings.Compare(a.name, b.name))
	})
}

// refresh asks each other replica for its news. Each is asked in a goroutine of its own, so that
// one that does not answer delays no other.
func (f *fleet) refresh() {
	all, err := f.others.Replicas()
	if err == nil {
		f.list(all)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.known {
		go m.refresh(f.others)
	}
}

// list records which replicas exist, and forgets those that vanished long ago.
func (f *fleet) list(all []struct{ Name, Label string }) {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := map[string]bool{}
	for _, r := range all {
		there[r.Name] = true
		if f.known[r.Name] == nil {
			f.known[r.Name] = &mirror{name: r.Name, label: r.Label}
		}
	}
	for name, m := range f.known {
		if m.leave(there[name]) {
			delete(f.known, name)
		}
	}
}

// leave reports whether the replica has been missing from the list of replicas for longer than
// forgetAfter. The parameter listed says whether the list has it now; leave records that.
func (m *mirror) leave(listed bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case listed:
		m.gone = time.Time{}
	case m.gone.IsZero():
		m.gone, m.list.Running = time.Now(), nil
	}
	return !listed && time.Since(m.gone) > forgetAfter
}

// refresh asks the replica for its news, unless an earlier question is still open or the replica is
// not listed. If the question fails, the running requests of the replica are forgotten.
func (m *mirror) refresh(others Replicas) {
	m.mu.Lock()
	ask := liveAsk{What: "list", After: m.list.Seen}
	if m.asking || !m.gone.IsZero() {
		m.mu.Unlock()
		return
	}
	if m.asking = true; m.since.IsZero() {
		m.since = time.Now()
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), answerWait)
	defer cancel()
	var a liveAnswer
	var fresh trace.List
	err := others.Ask(ctx, m.name, aboutLive, ask, &a)
	if err == nil {
		err = json.Unmarshal(a.Body, &fresh)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asking = false
	if err != nil {
		m.list.Running = nil // what still runs there is unknown
		return
	}
	m.since = time.Time{}
	for i := range fresh.Running { // times in UTC, so that equal rows compare equal
		fresh.Running[i].Time = fresh.Running[i].Time.UTC()
	}
	kept := append(fresh.Exchanges, m.list.Exchanges...)
	fresh.Exchanges = kept[:min(len(kept), fresh.Keeps)]
	m.list = fresh
}

// After returns the list of the replica's exchanges as it was last received, without the oldest
// ones that the caller has already seen. The parameter seen is the number of these. It has the same
// form as the method of trace.Log, so that trace.Follow can use both.
func (m *mirror) After(seen int) trace.List {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	list.Exchanges = list.Exchanges[:min(len(list.Exchanges), max(list.Seen-seen, 0))]
	return list
}

// away reports whether the replica does not answer, and whether it still is in the list of
// replicas.
func (m *mirror) away() (away, listed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.since.IsZero() && time.Since(m.since) >= answerWait, m.gone.IsZero()
}

// state is how a page shows a replica.
type state struct {
	Name string `json:"name"`
	Away bool   `json:"away"` // whether the replica does not answer
}

// states returns the states of all replicas, including this one, sorted by label. A replica that
// was restarted is known under two names with the same label. Such a replica is away only if it
// answers under neither name.
func (f *fleet) states(all []*mirror) []state {
	away := map[string]bool{f.label: false}
	for _, m := range all {
		is, listed := m.away()
		if was, known := away[m.label]; listed && (was || !known) {
			away[m.label] = is
		}
	}
	states := []state{}
	for _, label := range slices.Sorted(maps.Keys(away)) {
		states = append(states, state{label, away[label]})
	}
	return states
}

// silent reports whether the replica of this name is known not to answer. It is false for an
// unknown name.
func (f *fleet) silent(name string) bool {
	f.mu.Lock()
	m := f.known[name]
	f.mu.Unlock()
	if m == nil {
		return false
	}
	away, _ := m.away()
	return away
}

// first asks all replicas with this label, or all others if label is empty. It returns the body and
// the name of the first one that knows the exchange. ok is false if none knows it, if label is that
// of this replica, or if the list of replicas cannot be read. Replicas that are known to be silent
// are not asked.
func (f *fleet) first(ctx context.Context, label string, ask liveAsk) (
	body json.RawMessage, from string, ok bool) {
	if f.others == nil || label != "" && label == f.label {
		return nil, "", false
	}
	all, err := f.others.Replicas()
	if err != nil {
		return nil, "", false
	}
	type answer struct {
		liveAnswer
		from string
	}
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	answers, asked := make(chan answer, len(all)), 0
	for _, r := range all {
		if label != "" && r.Label != label || f.silent(r.Name) {
			continue
		}
		asked++
		go func() {
			a := answer{from: r.Name}
			_ = f.others.Ask(ctx, r.Name, aboutLive, ask, &a.liveAnswer) // else Known is false
			answers <- a
		}()
	}
	for range asked {
		if a := <-answers; a.Known {
			return a.Body, a.from, true
		}
	}
	return nil, "", false
}

// everyone follows, for one page, the lists of recorded exchanges of all replicas.
type everyone struct {
	fleet  *fleet
	own    *trace.Follow
	others map[*mirror]*trace.Follow
	states []state
}

// next returns what has changed in the lists of all replicas, merged into one. something is false
// if nothing has changed.
func (e *everyone) next() (news followed, something bool) {
	news.News, something = e.own.Next()
	all := e.fleet.look()
	for _, m := range all {
		if e.others[m] == nil {
			e.others[m] = trace.NewFollow(m)
		}
		more, some := e.others[m].Next()
		something = something || some
		news.add(more)
	}
	if e.fleet.others != nil {
		news.Replicas = e.fleet.states(all)
	}
	something = something || !slices.Equal(e.states, news.Replicas)
	e.states = news.Replicas
	return news, something
}

// add merges the news of another replica into f.
func (f *followed) add(more trace.News) {
	f.Bodies = f.Bodies && (more.Bodies || more.Keeps == 0) // 0: nothing is known yet
	f.Seen, f.Keeps = f.Seen+more.Seen, f.Keeps+more.Keeps
	if f.Counts == nil {
		f.Counts = map[string]int{}
	}
	for code, n := range more.Counts {
		f.Counts[code] += n
	}
	f.Exchanges = append(f.Exchanges, more.Exchanges...)
	f.Running = append(f.Running, more.Running...)
	f.Gone = append(f.Gone, more.Gone...)
	if more.Until.After(f.Until) {
		f.Until = more.Until
	}
}

// answer returns the answer to a question that another replica asks for one of its pages. The
// answer has Known false if the question is malformed or what it asks for is not here. It is nil if
// the question needs no answer.
func (l *live) answer(ctx context.Context, question json.RawMessage) any {
	var q liveAsk
	if json.Unmarshal(question, &q) != nil || l.trace == nil {
		return liveAnswer{}
	}
	var v any
	switch q.What {
	case "list":
		v = l.trace.After(q.After)
	case "one":
		e := l.trace.Find(q.ID)
		if e == nil {
			return liveAnswer{}
		}
		turns, err := l.turns(ctx, e.Conversation)
		if err != nil { // the history cannot be read
			return liveAnswer{}
		}
		v = exchange{e, turns, l.readings(e), l.meanings()}
	case "running":
		w := l.trace.Watch(q.ID, q.Seen)
		if w == nil {
			return liveAnswer{}
		}
		c, something, ended := w.Next()
		if ended {
			return liveAnswer{}
		}
		v = watched{c, something, w.Seen}
	case "stop":
		return liveAnswer{Known: l.trace.Stop(q.ID)}
	case "texts":
		l.keepTexts(q.Minutes, q.By)
		return nil
	}
	body, err := json.Marshal(v)
	return liveAnswer{Known: err == nil, Body: body}
}

// watchOther returns a function that polls a running request of another replica; it returns nil if
// no replica has the request. The function returns what has changed, whether anything has, and
// whether the request has ended. It also says that the request has ended if the replica has not
// answered for a while.
func (l *live) watchOther(ctx context.Context, id string) func() (c trace.Change, some, end bool) {
	ask := liveAsk{What: "running", ID: id}
	body, from, ok := l.fleet.first(ctx, "", ask)
	if !ok {
		return nil
	}
	heard := time.Now()
	return func() (c trace.Change, something, ended bool) {
		if body == nil {
			short, cancel := context.WithTimeout(ctx, answerWait)
			defer cancel()
			var a liveAnswer
			switch err := l.fleet.others.Ask(short, from, aboutLive, ask, &a); {
			case err != nil:
				return c, false, time.Since(heard) > 3*answerWait
			case !a.Known:
				return c, false, true
			}
			body, heard = a.Body, time.Now()
		}
		var w watched
		err := json.Unmarshal(body, &w)
		body, ask.Seen = nil, w.Seen
		return w.Change, w.Something, err != nil
	}
}
