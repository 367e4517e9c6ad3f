package repair

import "strings"

// Kept is how many different outputs are followed from one place of a text.
const Kept = 12

// stepsFor bounds how many places are expanded in a text of n bytes. Correct text needs a few steps
// a token. A text that needs more has slips everywhere, and no reading is worth acting on.
func stepsFor(n int) int { return 20000 + n/2 }

// mostReadings bounds how many readings of one text are looked for. Where there are so many, none
// is the one.
const mostReadings = 16

// Grammar says how a text goes on.
type Grammar interface {
	// Steps calls s.Go for every way on from n, and s.Done where the text may end.
	Steps(s *Search, n *Node)
}

// Node is a place that a reading has come to. What is not compared (cost, output) stands apart from
// the Place.
type Node struct {
	Place
	Cost int
	Out  *Piece
	Hash uint64 // of the output, white space left out
}

// Place is where a reading is: two readings at one place go on alike.
type Place struct {
	Pos   int
	Mode  uint8
	Flags uint64 // of the grammar
	Stack *Level
	Want  any // what the grammar expects next; comparable
}

// Level is a container that is open.
// Levels are made by [Search.Enter] alone: equal ones are one, so that places can be compared.
type Level struct {
	Up    *Level
	Kind  byte
	Depth int
	Want  any
}

// Piece is the last part of an output, which is kept as a list, since readings share their
// beginnings.
type Piece struct {
	before *Piece
	text   string
}

// Reading is one way to read a text.
type Reading struct {
	Cost  int
	End   int    // where in the text it ends
	Text  string // what it says
	Flags uint64 // what the grammar says of it
}

// Search looks for the readings of a text. The zero value is not usable; see [Readings].
type Search struct {
	Text    string
	grammar Grammar
	margin  int
	queue   [][]Node // by cost
	low     int      // no node is cheaper
	best    int      // cost of the cheapest reading
	taken   map[Place]*[Kept]uint64
	levels  map[Level]*Level
	done    map[uint64]int // readings by hash
	list    []Reading
	missed  int // cost of the cheapest node that was not followed, for there were too many at its place
}

// Readings returns the readings of text that cost at most margin more than the cheapest, which
// itself costs at most most, the cheapest first. ok is false where the search was given up: then
// the list says nothing.
func Readings(text string, g Grammar, start Node, most, margin int) (list []Reading, ok bool) {
	s := &Search{Text: text, grammar: g, margin: margin, queue: make([][]Node, most+1), best: most,
		taken: map[Place]*[Kept]uint64{}, levels: map[Level]*Level{}, done: map[uint64]int{}, missed: most + 1}
	s.push(start)
	for steps := stepsFor(len(text)); s.low <= s.best && len(s.list) < mostReadings; {
		last := len(s.queue[s.low]) - 1
		if last < 0 {
			s.low++
			continue
		}
		if steps--; steps < 0 {
			return nil, false
		}
		n := s.queue[s.low][last]
		s.queue[s.low] = s.queue[s.low][:last]
		switch {
		case !s.first(&n):
		case n.Mode == doneMode:
			s.Done(&n, 0, n.Flags)
		default:
			g.Steps(s, &n)
		}
	}
	return s.list, len(s.list) < mostReadings && s.missed > s.best
}

// first reports whether n is the first node at its place with its output, and one of the first few
// at the place. Two ways to read a text that say the same by the same place are one, and the
// cheaper of them came first. Without the bound each slip would double what is followed behind it.
// What it leaves out is noted, since the list of readings is not all of them then.
func (s *Search) first(n *Node) bool {
	at := s.taken[n.Place]
	if at == nil {
		at = new([Kept]uint64)
		s.taken[n.Place] = at
	}
	for i, h := range at {
		switch h {
		case n.Hash | 1:
			return false
		case 0:
			at[i] = n.Hash | 1
			return true
		}
	}
	s.missed = min(s.missed, n.Cost)
	return false
}

// Go offers a step to a place, whose output is n's and the pieces of out. It returns nothing: a
// step that costs too much is forgotten. White space counts for no output, which is what Copy is
// for. A step back is never offered, so each node lies further on in the text or in its mode.
func (s *Search) Go(n *Node, cost int, to Place, out ...string) {
	next := Node{Place: to, Cost: n.Cost + cost, Out: n.Out, Hash: n.Hash}
	if next.Cost > s.best {
		return
	}
	for _, text := range out {
		if text == "" {
			continue
		}
		next.Out = &Piece{next.Out, text}
		for i := range len(text) {
			next.Hash = (next.Hash + uint64(text[i]) + 1) * 0x9E3779B97F4A7C15
		}
	}
	s.push(next)
}

// Copy offers a step to a place whose output is n's and white space, which makes no difference
// between outputs.
func (s *Search) Copy(n *Node, to Place, space string) {
	s.push(Node{Place: to, Cost: n.Cost, Out: &Piece{n.Out, space}, Hash: n.Hash})
}

// push queues a node that does not cost too much. The queue is a list for each cost, since costs
// are small numbers. The last one in is the first one out: among equals the search runs to the end
// of the text and knows its bound early.
func (s *Search) push(n Node) {
	if n.Cost <= s.best {
		s.queue[n.Cost] = append(s.queue[n.Cost], n)
	}
}

// Enter returns the level of a container that is opened inside of up.
// Equal levels are one value, so that a place can be a key of a map.
// A text that nests deep has as many levels as brackets, and no more.
func (s *Search) Enter(up *Level, kind byte, want any) *Level {
	l := Level{Up: up, Kind: kind, Want: want, Depth: 1}
	if up != nil {
		l.Depth += up.Depth
	}
	if known := s.levels[l]; known != nil {
		return known
	}
	s.levels[l] = &l
	return &l
}

// Done notes that the text can be read as n's output, at a further cost; flags are what the grammar
// says of the reading. The first one is the cheapest: from then on only what is within the margin
// is looked for.
func (s *Search) Done(n *Node, cost int, flags uint64) {
	cost += n.Cost
	if cost > s.best {
		return
	}
	if cost > s.low { // something cheaper may still come
		end := n.Place
		end.Mode, end.Flags = doneMode, flags
		s.push(Node{Place: end, Cost: cost, Out: n.Out, Hash: n.Hash})
		return
	}
	if len(s.list) == 0 {
		s.best = min(s.best, cost+s.margin)
	}
	if _, known := s.done[n.Hash]; known {
		return
	}
	s.done[n.Hash] = len(s.list)
	s.list = append(s.list, Reading{Cost: cost, End: n.Pos, Text: n.Out.String(), Flags: flags})
}

// doneMode is the mode of a reading that has ended and waits for its turn.
// A grammar's own modes lie below it.
const doneMode = 255

// quotes counts the quotes in the string that is being put out, which its own quote alone begins.
func (p *Piece) quotes() (n int) {
	for ; p != nil && p.text != `"`; p = p.before {
		n += strings.Count(p.text, `"`)
	}
	return n
}

// String returns the whole output up to p.
// It is asked for readings alone, of which there are few.
// Until then outputs are lists of slices of the text, and nothing is copied.
func (p *Piece) String() string {
	var parts []string
	size := 0
	for ; p != nil; p = p.before {
		parts = append(parts, p.text)
		size += len(p.text)
	}
	var b strings.Builder
	b.Grow(size)
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return b.String()
}

// Open reports whether the text of arguments ended before they did.
func (r *Reading) Open() bool { return r.Flags&unclosed != 0 }

// Unsure reports whether a reading rests on a guess that nothing in the text speaks for.
func (r *Reading) Unsure() bool { return r.Flags&unsure != 0 }

// Lost reports whether arguments have lost a value.
func (r *Reading) Lost() bool { return r.Flags&lost != 0 }
