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

// Sizes are the lengths of the text or of the argument, in bytes. Each is ten times the one before,
// to show a cost that grows with the length. With quadratic work a token costs a hundred times as
// much at the last size as at 10 KiB.
var Sizes = []int{1 << 10, 10 << 10, 100 << 10, 1 << 20}

const (
	// rounds of each measurement; the fastest counts, since other work on the machine only adds
	// time
	rounds = 9
	// rounds if the growth looks too large, since a machine may be busy for long
	mostRounds = 4 * rounds
	roundTime  = 30 * time.Millisecond // how long a round should take at least
	// a reply that would take longer is not measured; this is four times what toolnorm's slowest
	// text takes, since the estimate comes from few runs, on a machine that may be busy
	patience = 30 * time.Second
	warmUp   = time.Second // how long each size is run before its rounds, three times at most
)

// Cost is the time and the allocations that a decoder needs for one token of a reply.
type Cost struct {
	NS      float64 // nanoseconds of processor time
	Allocs  float64
	Wrong   bool // the reply was not read right
	Skipped bool // it would have taken too long
}

// Row has the costs of one family's text at all Sizes, with toolnorm and with Ollama.
type Row struct {
	Family       string // or "hostile"
	Text         string // "prose", "call", or what is hostile
	Ours, Ollama []Cost
}

// hostile is the family of texts that no family writes.
const hostile = "hostile"

// Growth returns how much more a token costs at 1 MiB than at 10 KiB, as a ratio. It returns 0 if
// that is not known. For hostile text it compares 1 MiB with 100 KiB, because up to 64 KiB of such
// text may be held back, which makes a short text cheaper.
func (r Row) Growth() float64 { return growth(r.Ours, base(r.Family)) }

// base returns the index in Sizes of the size whose cost per token is compared with that of the
// largest size.
func base(family string) int {
	if family == hostile {
		return 2
	}
	return 1
}

// growth returns the cost at the largest size divided by that at the size with index base. It
// returns 0 if the largest size was skipped.
func growth(costs []Cost, base int) float64 {
	last := costs[len(costs)-1]
	if last.Skipped {
		return 0
	}
	return last.NS / costs[base].NS
}

// Floor returns the nanoseconds that a token costs if it is only taken from a source and yielded
// unchanged. No decoder of this design can cost less, so the cost above it is the decoder's own.
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

// passOn yields the events of a source unchanged. It must not be inlined, because the compiler
// could then leave out the measured work.
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

// Measure measures every family with toolnorm and, unless the parameter alone is true, with
// Ollama's parsers. It returns an error if a format or a parser is missing.
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

// measureRow measures one family's text at all sizes, with toolnorm and, unless the parameter alone
// is true, with Ollama's parser. It returns an error if the family has no format or parser.
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

// sample is a reply, and what must be read in it.
type sample struct {
	raw     string
	calls   int
	content string // of the call
	any     bool   // any reading is right
}

// sample returns a function that makes a reply of n bytes as models of the family write it: a call
// if kind is "call", and otherwise prose, in which the decoder must find no call.
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

// MeasureHostile measures the decoder on texts made to slow it down. Only the cost of such a text
// is checked, since no reading of it is right or wrong. The decoder looks for the tags of all
// families in it. It returns an error if there is no format "generic".
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

// trial is the measurement of one family's text at one size.
type trial struct {
	tokens []string
	times  int // replies a round
	rounds int
}

// costs returns, for each size in Sizes, what a token of a reply of that size costs the function
// read. The function of makes the reply. The function check reads it first, to see whether it is
// read right. A size that would take longer than patience is skipped. All others are measured in
// rounds, each once a round, so that a busy moment of the machine affects all of them. There are at
// least as many rounds as the constant rounds says, but fewer for replies that take more than a
// second. While a token of the largest reply costs more than AimGrowth times that of the size at
// index base, more rounds follow, up to the number in the parameter most.
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
		// The fastest try counts here, too, because garbage of earlier rows may be collected in
		// between.
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

// estimate returns how long a reply will take that is ten times as long as the last one. The
// parameter last is the time of the last reply, and before that of the reply before it, or 0 if
// there was none. It assumes that the time grows by the same factor again, but by at least 10 and
// at most 100. Ollama's parsers of calls take quadratic time, so 1 MiB of a call would take
// minutes.
func estimate(before, last time.Duration) time.Duration {
	if before == 0 {
		return last * 100
	}
	return max(min(last*last/before, last*100), last*10)
}

// take lowers each figure of c to that of d if that is smaller. If the parameter only is true, c
// has no figures yet and gets those of d.
func (c *Cost) take(d Cost, only bool) {
	if only {
		c.NS, c.Allocs = d.NS, d.Allocs
	}
	c.NS, c.Allocs = min(c.NS, d.NS), min(c.Allocs, d.Allocs)
}

// run returns the cost per token in one round. Garbage is collected first, so that a round does not
// pay for the garbage of the round before it.
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

// processorTime returns the processor time that this process has used so far, including garbage
// collection.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
