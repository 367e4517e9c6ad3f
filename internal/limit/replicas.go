package limit

import (
	"context"
	"encoding/json"
	"time"

	"toolnorm/internal/sleep"
)

const (
	shareEvery = time.Second
	// the time after which a silent replica counts as having no running requests
	runsFor   = 5 * time.Second
	shareLife = span*time.Second + runsFor
	grain     = 5 // seconds whose counts are reported as one, with the age of the last second
	shareKind = "limits"
)

// Note is a message that one replica has put on the board, where all replicas read it, and the time
// since then. It is an alias, so that stores need not import this package, and this package needs
// no database.
type Note = struct {
	Body []byte
	Age  time.Duration
}

// Board is where the replicas of the program exchange notes. *shared.Store implements it.
type Board interface {
	Put(kind, id, owner string, body []byte, life time.Duration) error
	Others(kind, id string, life time.Duration) ([]Note, error)
}

// peers holds the counts of one caller's requests at the other replicas of the program.
type peers struct {
	requests, tokens     window
	held, running, bytes int64
}

// report is what one replica of the program tells the others about a caller's requests.
type report struct {
	Requests [][2]int64 `json:"r,omitempty"` // pairs of an age in seconds and a count
	Tokens   [][2]int64 `json:"t,omitempty"`
	Held     int64      `json:"h,omitempty"`
	Running  int64      `json:"n,omitempty"`
	Bytes    int64      `json:"b,omitempty"`
}

// Share exchanges counts with the other replicas every second until ctx ends. It puts the counts of
// this replica on the board, and adds the counts that the other replicas put there. The argument id
// identifies this replica and must be unique. While the board cannot be reached, each replica
// counts only its own requests.
func (l *Limiter) Share(ctx context.Context, id string, board Board) {
	told, failing := false, false
	for sleep.For(ctx, shareEvery) {
		body, any := l.report(time.Now())
		if !any && !told {
			continue
		}
		told = any // report once more after the last request, so that it is not shown as running
		err := board.Put(shareKind, id, "", body, shareLife)
		var notes []Note
		if err == nil {
			notes, err = board.Others(shareKind, id, shareLife)
		}
		if err != nil && ctx.Err() == nil && !failing {
			l.Log.Warn().Err(err).Msg(
				"limits are not shared with other replicas: each counts for itself until the store answers")
		}
		failing = err != nil
		l.hear(time.Now(), notes)
	}
}

// report returns the counts of this replica as JSON, and whether there are any.
func (l *Limiter) report(now time.Time) (body []byte, any bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]report{}
	for key, c := range l.callers {
		if !c.idle(now) {
			all[key] = report{c.requests.told(now), c.tokens.told(now), c.held, c.running, c.bytes}
		}
	}
	body, _ = json.Marshal(all)
	return body, len(all) > 0
}

// told returns the counts of a window as pairs of an age in seconds and a count, for a report.
func (w *window) told(now time.Time) (all [][2]int64) {
	w.pass(now)
	sum := int64(0)
	for age := int64(span - 1); age >= 0; age-- {
		if sum += w.at(w.second - age); sum > 0 && ((w.second-age)%grain == grain-1 || age == 0) {
			all = append(all, [2]int64{age, sum})
			sum = 0
		}
	}
	return all
}

// hear replaces what is known of the counts of other replicas. The new counts are in notes, which
// has the latest message of each replica. Messages that cannot be read are ignored.
func (l *Limiter) hear(now time.Time, notes []Note) {
	others := map[string]*peers{}
	for _, n := range notes {
		var all map[string]report
		if json.Unmarshal(n.Body, &all) != nil {
			continue
		}
		for key, r := range all {
			o := others[key]
			if o == nil {
				o = new(peers)
				others[key] = o
			}
			o.requests.heard(now, n.Age, r.Requests)
			o.tokens.heard(now, n.Age, r.Tokens)
			if n.Age < runsFor {
				o.held, o.running, o.bytes = o.held+r.Held, o.running+r.Running, o.bytes+r.Bytes
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others = others
}

// heard adds counts of another replica to the window. The parameter since is the time that has
// passed since the replica reported them. Counts that are too old by now are ignored.
func (w *window) heard(now time.Time, since time.Duration, all [][2]int64) {
	w.pass(now)
	for _, one := range all {
		if age := one[0] + int64(since/time.Second); age >= 0 && age < span && one[1] > 0 {
			w.counts[((w.second-age)%span+span)%span] += one[1]
			w.total += one[1]
		}
	}
}
