package drive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"toolnorm/bench/fake"
)

// firstRounds is how many replies the first token is waited for, one after the other.
const firstRounds = 300

// Opening is what the beginning of a reply costs in one proxy: medians of the time to the first
// token, one stream at a time, and the processor time of a whole request with a reply of four
// tokens. Four tokens are 16 bytes: what is left is what a request costs before it streams.
type Opening struct{ First, CPU time.Duration }

// Open measures what a request costs each proxy, the proxies in turn. The proxies take turns within
// a round, so that a busy moment of the machine strikes all of them. 20 rounds are left out: the
// first ones open connections and read what a proxy keeps.
func Open(proxies []*Proxy, q Request) ([]Opening, error) {
	body, err := q.body(fake.Script{Bytes: 16})
	if err != nil {
		return nil, err
	}
	seen, spent := make([][]time.Duration, len(proxies)), make([]time.Duration, len(proxies))
	for round := range firstRounds + 20 {
		for i, p := range proxies {
			before, err := p.CPU()
			if err != nil {
				return nil, err
			}
			r, err := play(p.URL, body, false)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
			after, err := p.CPU()
			if err != nil {
				return nil, err
			}
			if round >= 20 { // the first ones warm up
				seen[i], spent[i] = append(seen[i], r.First), spent[i]+after-before
			}
		}
	}
	all := make([]Opening, len(proxies))
	for i := range proxies {
		all[i] = Opening{median(seen[i]), spent[i] / firstRounds}
	}
	return all, nil
}

// Twice returns how long the server itself takes for what toolnorm asks it, with nothing between:
// the request's prompt rendered, and the four tokens of its continuation. What a request takes
// beyond that is the proxy's; encoding the second request is not counted.
func Twice(url string, q Request) (time.Duration, error) {
	body, err := q.body(fake.Script{Bytes: 16})
	if err != nil {
		return 0, err
	}
	render := append(body[:len(body)-1:len(body)-1], `,"_debug_render_only":true}`...)
	var seen []time.Duration
	for range firstRounds {
		first, rendered, err := timePost(url+"/api/chat", render)
		if err != nil {
			return 0, err
		}
		var prompt struct {
			Info struct {
				Text string `json:"rendered_template"`
			} `json:"_debug_info"`
		}
		if err := json.Unmarshal(rendered, &prompt); err != nil {
			return 0, err
		}
		again, err := json.Marshal(map[string]any{"model": fake.Model, "prompt": prompt.Info.Text,
			"raw": true})
		if err != nil {
			return 0, err
		}
		second, _, err := timePost(url+"/api/generate", again)
		if err != nil {
			return 0, err
		}
		seen = append(seen, first+second)
	}
	return median(seen), nil
}

// timePost posts a body, and reads the answer to its end.
func timePost(url string, body []byte) (time.Duration, []byte, error) {
	start := time.Now()
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return time.Since(start), answer, err
}

// Early says how a long call came through.
// A proxy that sends calls whole would have a share of 0 and a silence as long as the call.
type Early struct {
	Share   float64       // of the argument's bytes that had come before the upstream was done
	Silence time.Duration // the longest one
	First   time.Duration // until the first piece of the call
	Took    time.Duration // the whole reply, as the upstream wrote it
	Pieces  int
}

// LongCall plays a call with n bytes of content at rate tokens a second through the server at url.
// Figures that cannot be are errors: fewer bytes of arguments than were played, none early, or an
// end before the beginning. Such a run says something about the benchmark, not about a proxy.
func LongCall(up *fake.Server, url string, n, rate int) (Early, error) {
	id := fmt.Sprintf("%s-%d", url, time.Now().UnixNano())
	start := time.Now()
	r, err := Stream(url, fake.Script{ID: id, Call: true, Bytes: n, Rate: rate}, true)
	if err != nil {
		return Early{}, err
	}
	done := up.When(id)
	if done.IsZero() {
		return Early{}, fmt.Errorf("%s: the upstream was not heard to its end", url)
	}
	e := Early{Silence: r.Silence, First: r.First, Took: done.Sub(start), Pieces: len(r.Arrived)}
	early, all := 0, 0
	for _, p := range r.Arrived {
		all += len(p.Text)
		if p.At.Before(done) {
			early += len(p.Text)
		}
	}
	if all < n {
		return e, fmt.Errorf("%s: %d bytes of arguments came, of a call with %d", url, all, n)
	}
	if e.Share = float64(early) / float64(all); early == 0 || e.First <= 0 || e.Took <= e.First {
		return e, fmt.Errorf("%s: impossible figures of a long call: %+v", url, e)
	}
	return e, nil
}
