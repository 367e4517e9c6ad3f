package repair

import "strings"

// Kept is the number of different outputs that are followed from one place of a text.
const Kept = 12

// stepsFor returns how many steps the search for the meaning of a damaged text of n bytes may take.
// Correct text needs a few steps for each token. A text that needs more has errors everywhere, so
// no result would be reliable.
func stepsFor(n int) int { return 20000 + n/2 }

// mostReadings bounds how many readings of one text are looked for. A text with so many has no
// clear meaning.
const mostReadings = 16

// Grammar tells a [Search] how a text can be read on from each state.
type Grammar interface {
	// Steps calls s.Go for every step from n, and s.Done if the text may end there.
	Steps(s *Search, n *Node)
}

// Node is a state (Place) that the search has reached, with the cost and the output so far. Nodes
// with different costs or outputs may have equal Places.
type Node struct {
	Place
	Cost int
	Out  *Piece
	Hash uint64 // hash of the output without white space
}

// Place is the state of a reading, which is one way to understand a text: its offset, its open
// containers, what it expects. Readings with equal Places can continue in the same ways.
type Place struct {
	Pos   int
	Mode  uint8
	Flags uint64 // defined by the grammar
	Stack *Level
	Want  any // what the grammar expects next; must be comparable
}

// Level is an open container in a reading, with the containers around it. Only [Search.Enter] makes
// levels. It returns the same pointer for equal ones, so that Places can be compared.
type Level struct {
	Up    *Level
	Kind  byte
	Depth int
	Want  any
}

// Piece is the last part of an output, with a link to the part before it. Outputs are such linked
// lists, so that different ways to read a text can share the beginnings of their outputs.
type Piece struct {
	before *Piece
	text   string
}

// Reading is one way to read a damaged text: the strict JSON that results, and what its repairs
// cost.
type Reading struct {
	Cost  int
	End   int    // the offset in the text at which it ends
	Text  string // its output
	Flags uint64 // the grammar's flags
}

// Search looks for the ways to read a damaged text, the cheapest first. The cost of each grows with
// its repairs. The zero value is not usable; see [Readings].
type Search struct {
	Text    string
	grammar Grammar
	margin  int
	queue   [][]Node // nodes, indexed by cost
	low     int      // no queued node is cheaper
	best    int      // the highest cost that is still of interest
	taken   map[Place]*[Kept]uint64
	levels  map[Level]*Level
	done    map[uint64]int // index in list by hash
	list    []Reading
	// missed is the cost of the cheapest node that was dropped because its place had too many.
	missed int
}

// Readings returns the ways to read text by the grammar g, the cheapest first. The cost of a
// reading is higher the more it repairs. The cheapest may cost no more than limit, and each other
// one no more than the cheapest and margin together. If ok is false, the search was given up, and
// the list is incomplete.
func Readings(text string, g Grammar, start Node, limit, margin int) (list []Reading, ok bool) {
	s := &Search{Text: text, grammar: g, margin: margin, queue: make([][]Node, limit+1),
		best: limit, taken: map[Place]*[Kept]uint64{}, levels: map[Level]*Level{},
		done: map[uint64]int{}, missed: limit + 1}
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

// first reports whether the search goes on from n. It returns false if an earlier node had the same
// place and output; the cheaper one always comes first. It also returns false if the place has
// already had Kept nodes with other outputs. Without this bound, each slip of the model would
// double the number of nodes after it. If n is dropped because of the bound, the field missed
// records its cost, because the list of readings may then be incomplete.
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

// Go adds a step from the node n to the state to. The step costs cost, and adds the texts in out to
// the output. A step that costs too much is dropped. White space is added by Copy instead, so that
// two outputs that differ only in white space are treated as equal. No sequence of steps leads back
// to the same state.
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

// Copy adds a step without cost from the node n to the state to. The step adds white space to the
// output, but not to the hash by which outputs are compared.
func (s *Search) Copy(n *Node, to Place, space string) {
	s.push(Node{Place: to, Cost: n.Cost, Out: &Piece{n.Out, space}, Hash: n.Hash})
}

// push queues a node unless it costs too much. The queue has one list for each cost, because costs
// are small numbers. Among nodes of equal cost the last one queued is searched first, so that the
// search reaches the end of the text early. The cost of that first reading then bounds the cost of
// the others.
func (s *Search) push(n Node) {
	if n.Cost <= s.best {
		s.queue[n.Cost] = append(s.queue[n.Cost], n)
	}
}

// Enter returns a [Level] for a container that is opened inside the container up, or outside of all
// containers if up is nil. It returns the same pointer for equal levels, so that a Place with its
// level can be a map key.
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

// Done adds a reading that ends at the node n, with its output, its cost plus the given cost, and
// the given flags. The first reading is the cheapest. After it, the search only looks for readings
// that cost at most the search's margin more.
func (s *Search) Done(n *Node, cost int, flags uint64) {
	cost += n.Cost
	if cost > s.best {
		return
	}
	if cost > s.low { // a cheaper reading may still come
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

// doneMode is the mode of a finished reading in the queue. A grammar's own modes are smaller.
const doneMode = 255

// quotes returns the number of double quotation marks in the string at the end of the output whose
// last part is p. The string's opening mark is a part of its own and is not counted.
func (p *Piece) quotes() (n int) {
	for ; p != nil && p.text != `"`; p = p.before {
		n += strings.Count(p.text, `"`)
	}
	return n
}

// String returns the whole output, up to and including p. It is called only when a reading has come
// to its end, so outputs are not copied during the search.
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

// Open reports whether the text ended before its arguments did.
func (r *Reading) Open() bool { return r.Flags&unclosed != 0 }

// Unsure reports whether the reading rests on a guess for which the text has no evidence, so that
// another meaning is as likely.
func (r *Reading) Unsure() bool { return r.Flags&unsure != 0 }

// Lost reports whether a value of the arguments is missing in the text and was read as null.
func (r *Reading) Lost() bool { return r.Flags&lost != 0 }
