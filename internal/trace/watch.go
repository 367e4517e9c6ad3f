package trace

import "time"

// Watch follows a running exchange: each Next returns what is new since the one before. It must be
// used by one goroutine only.
type Watch struct {
	e       *Exchange
	wrote   []place // how far each generation was seen
	left    place
	decided int // how many repairs were seen
	row     Row // as it was last seen
}

// place is how far one side was seen.
type place struct {
	parts  int // the last of which may go on
	text   int // bytes of the last part's text
	pieces int // in which it came
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

// Watch begins to follow a running request. It returns nil if there is none with that id. The first
// Next returns everything so far.
func (l *Log) Watch(id string) *Watch {
	if e := l.find(id); e != nil {
		return &Watch{e: e}
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
		Repairs: run.decided[w.decided:]}
	w.decided = len(run.decided)
	if b := w.e.Bodies; b != nil && run.shown {
		for i, g := range b.Wrote {
			if i == len(w.wrote) {
				w.wrote = append(w.wrote, place{})
			}
			c.Wrote = w.wrote[i].grown(c.Wrote, &g.Side, i, g.Name)
		}
		c.Left = w.left.grown(c.Left, &b.Left, 0, "")
	}
	something = now.Pieces != w.row.Pieces || len(c.Wrote)+len(c.Left)+len(c.Repairs) > 0
	seen := w.row
	seen.Total, seen.Pieces = now.Total, now.Pieces // neither alone is a change of the row
	if w.row = now; now != seen {
		c.Row, something = &now, true
	}
	return c, something, false
}

// grown appends what a side has in addition to what was seen.
func (p *place) grown(to []Grown, s *Side, generation int, name string) []Grown {
	for n := max(p.parts-1, 0); n < len(s.Parts); n++ {
		part := s.Parts[n]
		if n == len(s.Parts)-1 && s.text.Len() > 0 {
			part.Text = s.text.String()
		}
		text, pieces := len(part.Text), part.Pieces
		if n < p.parts { // the last one that was seen
			if text == p.text && pieces == p.pieces {
				continue
			}
			part.Text = part.Text[min(p.text, text):]
		}
		*p = place{n + 1, text, pieces}
		to = append(to, Grown{generation, name, n, part})
	}
	return to
}

// Follow follows the whole log: each Next returns what has changed since the one before. It must be
// used by one goroutine only.
type Follow struct {
	log   *Log
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

// Follow begins to follow the log. The first Next returns all of it.
func (l *Log) Follow() *Follow { return &Follow{log: l, rows: map[string]Row{}} }

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
