package drive

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolnorm/bench/fake"
	"toolnorm/bench/text"
)

// Load is a number of streams that run at the same time.
type Load struct {
	Name    string
	Script  fake.Script
	Streams int // at once
	Each    int // replies of each stream, one after the other
}

// Loads are the loads that are measured. A script with 100 tokens a second lasts five seconds. The
// paced loads show the cost of waking up for every token. The saturated loads show the cost of a
// token when tokens are written as fast as they are read. The calls are a bit shorter than the
// prose, since tags and escapes are tokens, too.
var Loads = []Load{
	{"prose, 64 x 100 tokens/s", fake.Script{Bytes: 500 * text.TokenBytes, Rate: 100}, 64, 1},
	{"tool call, 64 x 100 tokens/s", fake.Script{Call: true, Bytes: 460 * text.TokenBytes,
		Rate: 100}, 64, 1},
	{"prose, saturated", fake.Script{Bytes: 2000 * text.TokenBytes}, 64, 4},
	{"tool call, saturated", fake.Script{Call: true, Bytes: 1850 * text.TokenBytes}, 64, 4},
}

// tokens returns the number of tokens in all replies of the load.
func (l Load) tokens() int {
	reply := text.Prose("hermes", l.Script.Bytes)
	if l.Script.Call {
		reply, _ = text.Call("hermes", l.Script.Bytes)
	}
	return len(text.Tokens(reply)) * l.Streams * l.Each
}

// run sends the load to the server at url. It returns an error if any stream fails, because a proxy
// that drops work would look cheap.
func (l Load) run(url string) error {
	errs := make([]error, l.Streams)
	var all sync.WaitGroup
	for i := range l.Streams {
		all.Go(func() {
			for range l.Each {
				if _, err := Stream(url, l.Script, false); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Spent is the processor time per token of each proxy under one load, as medians over rounds.
type Spent struct {
	Load  Load
	Token []time.Duration // in the order of the proxies
}

// Spend measures what every load costs each of the proxies, which take turns, and returns the
// medians of the given number of rounds. One more round before these opens connections and fills
// caches. It returns an error if a stream fails.
func Spend(proxies []*Proxy, rounds int) ([]Spent, error) {
	var all []Spent
	for _, l := range Loads {
		seen := make([][]time.Duration, len(proxies))
		for round := range rounds + 1 {
			for i, p := range proxies {
				each, err := l.spent(p)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", p.Name, l.Name, err)
				}
				if round > 0 { // the first one warms up
					seen[i] = append(seen[i], each)
				}
			}
		}
		s := Spent{Load: l}
		for i := range proxies {
			s.Token = append(s.Token, median(seen[i]))
		}
		all = append(all, s)
	}
	return all, nil
}

// spent returns the processor time per token that the load costs the proxy. The time is that of the
// whole process, including garbage collection. It returns an error if a stream fails.
func (l Load) spent(p *Proxy) (time.Duration, error) {
	before, err := p.CPU()
	if err != nil {
		return 0, err
	}
	if err := l.run(p.URL); err != nil {
		return 0, err
	}
	after, err := p.CPU()
	return (after - before) / time.Duration(l.tokens()), err
}

// median returns the median of d. The mean would depend on other work of the machine.
func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}
