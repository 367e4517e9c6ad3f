package trace

import "time"

// Watch follows a running exchange: each Next returns what is new since the one before. It must be
// used by one goroutine only.
type Watch struct {
	e *Exchange
	Seen
}

// Seen is how far a running exchange was seen. It can be written as JSON, and the Watch of another
// time goes on from there.
type Seen struct {
	Wrote   []Place `json:"wrote"` // how far each generation was seen
	Left    Place   `json:"left"`
	Decided int     `json:"decided"` // how many repairs were seen
	Row     Row     `json:"row"`     // as it was last seen
}

// Place is how far one side was seen.
type Place struct {
	Parts  int `json:"parts"`  // the last of which may go on
	Text   int `json:"text"`   // bytes of the last part's text
	Pieces int `json:"pieces"` // in which it came
}

// Change is what is new in an exchange since the last call of Next.
type Change struct {
	Row     *Row     `json:"row,omitempty"` // nil: nothing but the number of pieces has changed
	Pieces  int64    `json:"pieces"`        // of the reply so far
	Wrote   []Grown  `json:"wrote"`         // what the model wrote
	Left    []Grown  `json:"left"`          // what was sent to the client
	Repairs []string `json:"repairs"`       // new repairs
}

// Grown is a part that is new or has grown.
type Grown struct {
	// the number of the generation; 0 for what was sent to the client
	Generation int    `json:"generation"`
	Name       string `json:"name"`   // of the generation
	Number     int    `json:"number"` // of the part on its side
	Part              // Text is what was added
}

// Watch begins to follow a running request from where it was seen to. It returns nil if there is
// none with that id. The first Next returns everything behind that.
func (l *Log) Watch(id string, from Seen) *Watch {
	if e := l.find(id); e != nil {
		if from.Row.Time.Equal(e.Time) {
			from.Row.Time = e.Time // JSON has no monotonic clock
		}
		return &Watch{e, from}
	}
	return nil
}

// Next returns what is new since the last call, and whether there is anything; ended reports
// whether nothing will follow. Texts are substrings of the kept ones, so nothing is copied while
// the reply waits for the lock.
func (w *Watch) Next() (c Change, something, ended bool) {
	run := w.e.run
	if ended = run.ended.Load(); ended {
		return c, false, true // the exchange as it was added has everything
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	now := w.e.row()
	c = Change{Pieces: now.Pieces, Wrote: []Grown{}, Left: []Grown{},
		Repairs: run.decided[min(w.Decided, len(run.decided)):]}
	w.Decided = len(run.decided)
	if b := w.e.Bodies; b != nil && run.shown {
		for i, g := range b.Wrote {
			if i == len(w.Wrote) {
				w.Wrote = append(w.Wrote, Place{})
			}
			c.Wrote = w.Wrote[i].grown(c.Wrote, &g.Side, i, g.Name)
		}
		c.Left = w.Left.grown(c.Left, &b.Left, 0, "")
	}
	something = now.Pieces != w.Row.Pieces || len(c.Wrote)+len(c.Left)+len(c.Repairs) > 0
	seen := w.Row
	seen.Total, seen.Pieces = now.Total, now.Pieces // neither alone is a change of the row
	if w.Row = now; now != seen {
		c.Row, something = &now, true
	}
	return c, something, false
}

// grown appends what a side has in addition to what was seen.
func (p *Place) grown(to []Grown, s *Side, generation int, name string) []Grown {
	for n := max(p.Parts-1, 0); n < len(s.Parts); n++ {
		part := s.Parts[n]
		if n == len(s.Parts)-1 && s.text.Len() > 0 {
			part.Text = s.text.String()
		}
		text, pieces := len(part.Text), part.Pieces
		if n < p.Parts { // the last one that was seen
			if text == p.Text && pieces == p.Pieces {
				continue
			}
			part.Text = part.Text[min(p.Text, text):]
		}
		*p = Place{n + 1, text, pieces}
		to = append(to, Grown{generation, name, n, part})
	}
	return to
}

// Source is what can be followed: a Log, or what is known of another replica's.
type Source interface {
	After(seen int) List
}

// Follow follows the whole log: each Next returns what has changed since the one before. It must be
// used by one goroutine only.
type Follow struct {
	log   Source
	begun bool
	seen  int
	until time.Time
	rows  map[string]Row // those that run, as they were last seen
}

// News is what has changed in a log: the exchanges that were added, the rows that are new or have
// changed, and the ids of those that have ended.
type News struct {
	List
	Gone []string `json:"gone"`
}

// NewFollow begins to follow a log. The first Next returns all of it.
func NewFollow(log Source) *Follow { return &Follow{log: log, rows: map[string]Row{}} }

// Next returns what has changed since the last call, and whether anything has.
func (f *Follow) Next() (n News, something bool) {
	n = News{List: f.log.After(f.seen), Gone: []string{}}
	rows, changed := map[string]Row{}, []Row{}
	for _, row := range n.Running {
		still := row
		still.Total = 0 // time alone is no change
		rows[row.ID] = still
		if f.rows[row.ID] != still {
			changed = append(changed, row)
		}
	}
	for id := range f.rows {
		if _, runs := rows[id]; !runs {
			n.Gone = append(n.Gone, id)
		}
	}
	something = !f.begun || len(changed)+len(n.Gone)+n.Seen-f.seen > 0 || !n.Until.Equal(f.until)
	f.begun, f.seen, f.until, f.rows, n.Running = true, n.Seen, n.Until, rows, changed
	return n, something
}
