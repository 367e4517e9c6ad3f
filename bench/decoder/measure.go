package decoder

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"syscall"
	"time"

	"toolnorm/bench/text"
	"toolnorm/chat"
)

// Sizes are the lengths of the text or of the argument, in bytes. They grow by tens, so that cost
// that grows with the length shows: quadratic work costs a hundred times as much a token at the
// last as at 10 KiB.
var Sizes = []int{1 << 10, 10 << 10, 100 << 10, 1 << 20}

const (
	// of which the fastest counts: whatever else the machine does only adds
	rounds = 9
	// while the growth looks too large, for a machine may be busy for long
	mostRounds = 4 * rounds
	roundTime  = 30 * time.Millisecond // how long a round should take at least
	// a reply that would take longer is not measured: four times what the slowest text of ours
	// takes, since the estimate comes from few runs, on a machine that may be busy
	patience = 30 * time.Second
	warmUp   = time.Second // how long a size is tried, three times at most, before its rounds
)

// Cost is what one token of a reply costs.
type Cost struct {
	NS      float64 // nanoseconds of processor time
	Allocs  float64
	Wrong   bool // the reply was not read as what it is
	Skipped bool // it would have taken too long
}

// Row is one family's text at all Sizes, read by both sides.
type Row struct {
	Family       string // or "hostile"
	Text         string // "prose", "call", or what is hostile
	Ours, Ollama []Cost
}

// hostile is the family of texts that no family writes.
const hostile = "hostile"

// Growth returns how much more a token costs at 1 MiB than at 10 KiB; 0 when that is not known. Of
// hostile text it is told from 100 KiB on: what is held for a while, up to 64 KiB of it, costs a
// short text less.
func (r Row) Growth() float64 { return growth(r.Ours, base(r.Family)) }

// base returns the place in Sizes that a family's growth is told from.
func base(family string) int {
	if family == hostile {
		return 2
	}
	return 1
}

// growth returns the cost at the largest size over that at another one; 0 when it is not known.
func growth(costs []Cost, base int) float64 {
	last := costs[len(costs)-1]
	if last.Skipped {
		return 0
	}
	return last.NS / costs[base].NS
}

// Floor returns what a token costs when it is pulled from a source and yielded as it is: what no
// decoder of this shape can go below. What a family costs above it is the decoder's own.
func Floor() float64 {
	tokens := text.Tokens(text.Prose("", 100<<10))
	var c Cost
	for round := range rounds {
		c.take(trial{tokens: tokens, times: 20}.run(func(tokens []string) (
			calls int, content string, err error) {
			for e, err := range passOn(&tokenSource{tokens: tokens}) {
				if err != nil || e.Kind == chat.CallEnd {
					calls++
				}
			}
			return calls, "", nil
		}), round == 0)
	}
	return c.NS
}

// passOn yields what in gives.
//
// Inlined, the compiler could leave out what is measured.
//
//go:noinline
func passOn(in chat.Source) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for {
			e, err := in.Next()
			if err == io.EOF || !yield(e, err) {
				return
			}
		}
	}
}

// Measure measures every family; peers as well, unless alone.
func Measure(alone bool) ([]Row, error) {
	var all []Row
	for _, f := range Families {
		for _, kind := range []string{"prose", "call"} {
			r, err := measureRow(f, kind, alone)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", f.Name, kind, err)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// measureRow measures one family's text at all sizes.
func measureRow(f Family, kind string, alone bool) (Row, error) {
	checked, err := ours(f, true)
	if err != nil {
		return Row{}, err
	}
	plain, err := ours(f, false)
	if err != nil {
		return Row{}, err
	}
	r := Row{Family: f.Name, Text: kind}
	if r.Ours = costs(checked, plain, f.sample(kind), base(f.Name), mostRounds); alone {
		return r, nil
	}
	peer, err := ollamas(f)
	if err != nil {
		return Row{}, err
	}
	r.Ollama = costs(peer, peer, f.sample(kind), base(f.Name), rounds)
	return r, nil
}

// sample is a reply and what must be read in it.
type sample struct {
	raw     string
	calls   int
	content string // of the call
	any     bool   // whatever is read is right
}

// sample makes the family's prose or call of n bytes.
// Of prose nothing must be read but text: a call there is a wrong reading.
func (f Family) sample(kind string) func(n int) sample {
	return func(n int) (s sample) {
		if kind == "call" {
			s.raw, s.content = text.Call(f.Name, n)
			s.calls = 1
			return s
		}
		return sample{raw: text.Prose(f.Name, n)}
	}
}

// MeasureHostile measures the decoder, with every format live, on texts made to slow it down. No
// reading is right or wrong of such text; only what it costs counts. All formats are live, so each
// mark of each family is looked for.
func MeasureHostile() ([]Row, error) {
	read, err := ours(Family{Name: "generic"}, false)
	if err != nil {
		return nil, err
	}
	var all []Row
	for _, h := range text.Hostiles {
		of := func(n int) sample { return sample{raw: h.Text(n), any: true} }
		all = append(all, Row{Family: hostile, Text: h.Name,
			Ours: costs(read, read, of, base(hostile), mostRounds)})
	}
	return all, nil
}

// trial is one size of a row.
type trial struct {
	tokens []string
	times  int // replies a round
	rounds int
}

// costs runs read at growing sizes, as long as patience lasts; check says first whether the reply
// is read rightly. The sizes take turns, so that a busy moment of the machine strikes them alike;
// there are rounds of them, and up to most while the growth from Sizes[base] on is over what is
// aimed at.
func costs(check, read reader, of func(n int) sample, base, most int) []Cost {
	all, trials := make([]Cost, len(Sizes)), make([]trial, len(Sizes))
	var last, before time.Duration
	for i, n := range Sizes {
		if estimate(before, last) > patience {
			all[i].Skipped = true
			continue
		}
		s := of(n)
		t := trial{tokens: text.Tokens(s.raw), rounds: rounds}
		before, last = last, patience
		// The least counts here, too: garbage of the rows before may be collected meanwhile.
		begun := processorTime()
		for try := 0; try == 0 || try < 3 && processorTime()-begun < warmUp; try++ {
			start := processorTime()
			calls, got, err := check(t.tokens)
			last = min(last, processorTime()-start)
			all[i].Wrong = err != nil || !s.any && (calls != s.calls || got != s.content)
		}
		t.times = int(roundTime/max(last, 1)) + 1
		switch {
		case last > 5*time.Second:
			t.rounds = 1
		case last > time.Second:
			t.rounds = 3
		}
		trials[i] = t
	}
	for round := range most {
		if round >= rounds && growth(all, base) <= AimGrowth {
			break
		}
		for i, t := range trials {
			if round < t.rounds || t.rounds == rounds {
				all[i].take(t.run(read), round == 0)
			}
		}
	}
	return all
}

// estimate returns how long a reply of ten times the length takes, when the last two lengths took
// so long: a hundred times as long as the last at most, ten times at least, else as the growth so
// far says. Ollama's parsers of calls take time with the square of the length: 1 MiB of a call
// would take minutes.
func estimate(before, last time.Duration) time.Duration {
	if before == 0 {
		return last * 100
	}
	return max(min(last*last/before, last*100), last*10)
}

// take keeps the smaller of two costs, or the only one.
func (c *Cost) take(d Cost, only bool) {
	if only {
		c.NS, c.Allocs = d.NS, d.Allocs
	}
	c.NS, c.Allocs = min(c.NS, d.NS), min(c.Allocs, d.Allocs)
}

// run returns one round's cost per token.
// Garbage is collected first, so that a round does not pay for what the one before it left.
func (t trial) run(read reader) Cost {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := processorTime()
	for range t.times {
		read(t.tokens)
	}
	took := processorTime() - start
	runtime.ReadMemStats(&after)
	each := float64(len(t.tokens) * t.times)
	return Cost{NS: float64(took.Nanoseconds()) / each,
		Allocs: float64(after.Mallocs-before.Mallocs) / each}
}

// processorTime returns what this process has used so far, its garbage collector included.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
