package trace

import "time"

// Watch follows a running exchange: each call of Next returns what is new since the previous one.
// It must be used by one goroutine only.
type Watch struct {
	e *Exchange
	Seen
}

// Seen records how much of a running exchange was seen. It can be encoded as JSON, so that another
// Watch can continue from there later.
type Seen struct {
	Wrote   []Place `json:"wrote"` // how much of each generation was seen
	Left    Place   `json:"left"`
	Decided int     `json:"decided"` // how many repairs were seen
	Row     Row     `json:"row"`     // the row as it was last seen
}

// Place records how much of the texts on one side of an exchange, a Side, a reader has seen.
type Place struct {
	Parts  int `json:"parts"`  // the number of parts; the last may still grow
	Text   int `json:"text"`   // the number of bytes of the last part's text
	Pieces int `json:"pieces"` // the number of pieces of the last part
}

// Change is what is new in an exchange since the last call of Next.
type Change struct {
	Row     *Row     `json:"row,omitempty"` // nil: at most the number of pieces has changed
	Pieces  int64    `json:"pieces"`        // of the reply so far
	Wrote   []Grown  `json:"wrote"`         // what the model wrote
	Left    []Grown  `json:"left"`          // what was sent to the client
	Repairs []string `json:"repairs"`       // new repairs
}

// Grown is a part of an exchange's texts that is new, or that has grown since it was last read.
type Grown struct {
	// the index of the generation; 0 for what was sent to the client
	Generation int    `json:"generation"`
	Name       string `json:"name"`   // of the generation
	Number     int    `json:"number"` // the index of the part on its side
	Part              // Text has only what was added
}

// Watch returns a Watch of the running request with an id, or nil if there is none. The parameter
// from says what was already seen; the first call of Next returns everything else.
func (l *Log) Watch(id string, from Seen) *Watch {
	if e := l.find(id); e != nil {
		if from.Row.Time.Equal(e.Time) {
			from.Row.Time = e.Time // JSON has no monotonic clock
		}
		return &Watch{e, from}
	}
	return nil
}

// Next returns what is new since the last call; the result something reports whether there is
// anything. If the result ended is true, the exchange was added to the log, nothing more will
// follow, and the change is empty. Texts are substrings of the recorded ones, so that nothing is
// copied while the reply waits for the lock.
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
	seen.Total, seen.Pieces = now.Total, now.Pieces // no change of the row by themselves
	if w.Row = now; now != seen {
		c.Row, something = &now, true
	}
	return c, something, false
}

// grown adds a Grown to the list, the parameter to, for each part of s that is new or longer than p
// says, and returns the list. Then it changes p, so that the next call reports only what comes
// later.
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

// Source has the method that Follow needs: a Log has it, and so has the copy of another replica's
// log.
type Source interface {
	After(seen int) List
}

// Follow follows a whole log: each call of Next returns what has changed since the previous one. It
// must be used by one goroutine only.
type Follow struct {
	log   Source
	begun bool
	seen  int
	until time.Time
	rows  map[string]Row // the running requests as they were last seen
}

// News is what has changed in a log: the added exchanges, the new or changed rows, and the ids of
// rows that are no longer running.
type News struct {
	List
	Gone []string `json:"gone"`
}

// NewFollow returns a Follow that returns the changes in log. The first call of Next returns the
// whole log.
func NewFollow(log Source) *Follow { return &Follow{log: log, rows: map[string]Row{}} }

// Next returns what has changed since the last call, and whether anything has.
func (f *Follow) Next() (n News, something bool) {
	n = News{List: f.log.After(f.seen), Gone: []string{}}
	rows, changed := map[string]Row{}, []Row{}
	for _, row := range n.Running {
		still := row
		still.Total = 0 // the time alone does not count as a change
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
