package drive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"toolnorm/bench/fake"
)

// firstRounds is how many replies are measured, one after the other.
const firstRounds = 300

// Opening is the cost of the beginning of a reply in one proxy: the median time to the first token,
// and the processor time of a whole request with a reply of four tokens. One stream runs at a time.
// Four tokens have 16 bytes, so this is nearly only the cost of a request before it streams.
type Opening struct{ First, CPU time.Duration }

// Open measures what the beginning of a reply costs in each proxy, and returns an Opening for each.
// The proxies take turns within a round, so that a busy moment of the machine affects all of them.
// The first 20 rounds are not counted, because in them proxies open connections and fill caches.
// Open returns an error if a request fails.
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

// Twice returns the median time that the server itself takes for the two requests that toolnorm
// makes, with no proxy in between: to render the prompt, and to continue it by four tokens. The
// rest of the time of a request is the proxy's. The time to encode the second request is not
// counted. It returns an error if a request fails.
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

// timePost posts a body and reads the whole answer. It returns the time that this took, and the
// answer. It returns an error if the request fails.
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

// Early says how early the parts of a long call arrived. For a proxy that sends calls whole, Share
// is 0, and Silence is as long as the model server took for the call.
type Early struct {
	// the share of the argument's bytes that arrived before the model server was done
	Share   float64
	Silence time.Duration // the longest one
	First   time.Duration // until the first piece of the call
	Took    time.Duration // the whole reply, as the upstream wrote it
	Pieces  int
}

// LongCall streams a call whose argument content has n bytes through the server at url, and
// measures how early its parts arrive. The parameter rate is the number of tokens a second. It
// returns an error if the request fails or the figures are impossible: if fewer than n bytes came,
// if none came before the model server was done, or if the end came before the first part. Such
// figures show a mistake of the benchmark, not of a proxy.
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
