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

// Odd is a row of the database that cannot be used, with the reason. Searches leave the row out. If
// only its vector cannot be used, only the vector is left out.
type Odd struct {
	Table string `json:"table"`
	Row   string `json:"row"` // its id, if it has one
	Why   string `json:"why"`

	document string // the document to which the row belongs
}

// String implements fmt.Stringer. It returns a sentence for a log.
func (o Odd) String() string {
	return fmt.Sprintf("the row %.40q of %s cannot be used: %s", o.Row, o.Table, o.Why)
}

// longestText is the largest size of a passage in bytes. An import makes shorter passages.
const longestText = 64 << 10

// maxOdd is how many odd rows are recorded.
const maxOdd = 1000

// oddRows records the rows of the database that were found and cannot be used, by base.
type oddRows struct {
	mu   sync.Mutex
	tell func(Odd)
	told map[Odd]bool
	all  map[string]map[Odd]bool
}

// note records a row of the database that cannot be used, under the id of its knowledge base. It
// reports the row if this is the first time.
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

// forget removes the records of those unusable rows of a base for which the function read returns
// true, because these rows are about to be read again.
func (o *oddRows) forget(base string, read func(Odd) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.all[base], func(row Odd, _ bool) bool { return read(row) })
}

// Tell sets the function that is called for each row of the database that cannot be used, when it
// is first found.
func (s *Store) Tell(tell func(Odd)) { s.odd.tell = tell }

// LeftOut returns the rows of a base that were found and cannot be used, sorted. If base is "", it
// returns such rows that belong to no base, for example the rows of bases themselves.
func (s *Store) LeftOut(base string) []Odd {
	s.odd.mu.Lock()
	defer s.odd.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.odd.all[base]), func(a, b Odd) int {
		return strings.Compare(a.Table+a.Row+a.Why, b.Table+b.Row+b.Why)
	})
}

// from returns a function that records a row of the table that cannot be used, with the reason,
// under the given base.
func (s *Store) from(base, table string) func(*store.Row, string) {
	return func(r *store.Row, why string) { s.odd.note(base, Odd{table, r.ID, why, r.Of}) }
}

// vectorOf returns a scanner that reads a row's vector into v.
func vectorOf(r *store.Row, v *[]float32) vector.Column {
	return vector.Column{Into: v, Odd: r.Without}
}
