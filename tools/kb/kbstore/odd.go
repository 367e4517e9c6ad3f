package kbstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolnorm/internal/store"
	"toolnorm/internal/vector"
)

// Odd is a row that cannot be used, and what is wrong with it. It is left out, and everything else
// is found. If only its vector is odd, only the vector is left out.
type Odd struct {
	Table string `json:"table"`
	Row   string `json:"row"` // its id, as far as it has one
	Why   string `json:"why"`

	document string // whose row it is
}

// String returns a sentence for a log.
func (o Odd) String() string {
	return fmt.Sprintf("the row %.40q of %s cannot be used: %s", o.Row, o.Table, o.Why)
}

// longestText is the longest passage, in bytes. An import cuts shorter ones.
const longestText = 64 << 10

// maxOdd is how many odd rows are remembered.
const maxOdd = 1000

// oddRows are those that were found, by their bases.
type oddRows struct {
	mu   sync.Mutex
	tell func(Odd)
	told map[Odd]bool
	all  map[string]map[Odd]bool
}

// note remembers a row, and reports it the first time.
func (o *oddRows) note(base string, row Odd) {
	o.mu.Lock()
	if o.all == nil {
		o.all, o.told = map[string]map[Odd]bool{}, map[Odd]bool{}
	}
	if o.all[base] == nil {
		o.all[base] = map[Odd]bool{}
	}
	if len(o.all[base]) < maxOdd {
		o.all[base][row] = true
	}
	tell := o.tell
	if o.told[row] || len(o.told) >= maxOdd {
		tell = nil
	}
	if tell != nil {
		o.told[row] = true
	}
	o.mu.Unlock()
	if tell != nil {
		tell(row)
	}
}

// forget removes the rows of a base that are about to be read again.
func (o *oddRows) forget(base string, read func(Odd) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.all[base], func(row Odd, _ bool) bool { return read(row) })
}

// Tell registers a function that is called for each odd row when it is first found.
func (s *Store) Tell(tell func(Odd)) { s.odd.tell = tell }

// LeftOut returns the odd rows of a base, as far as they were read. Those of no base, an odd base
// for one, are those of "".
func (s *Store) LeftOut(base string) []Odd {
	s.odd.mu.Lock()
	defer s.odd.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.odd.all[base]), func(a, b Odd) int {
		return strings.Compare(a.Table+a.Row+a.Why, b.Table+b.Row+b.Why)
	})
}

// from returns a function that notes odd rows of a table of a base.
func (s *Store) from(base, table string) func(*store.Row, string) {
	return func(r *store.Row, why string) { s.odd.note(base, Odd{table, r.ID, why, r.Of}) }
}

// vectorOf returns the column of a row's vector.
func vectorOf(r *store.Row, v *[]float32) vector.Column {
	return vector.Column{Into: v, Odd: r.Without}
}
