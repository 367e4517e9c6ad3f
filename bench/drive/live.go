package drive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"toolnorm/bench/fake"
	"toolnorm/bench/text"
)

// liveScript is a reply of five seconds.
var liveScript = fake.Script{Bytes: 250 * text.TokenBytes, Rate: 50}

// liveStreams is how many of these replies run at once.
const liveStreams = 100

// Watched is a proxy and the number of pages that watch it. Each page shows one of the running
// streams. If there are any pages, the list of streams is open as well.
type Watched struct {
	Name  string
	Proxy *Proxy
	Pages int
}

// Seen holds two figures of a Watched, a proxy with pages that watch it: the cost of a token, and
// how late tokens arrived at the pages.
type Seen struct {
	Token time.Duration // processor time of the proxy, a median over rounds
	Lags  []time.Duration
}

// Live measures each of the proxies in all, some of which are watched by pages. In each round it
// sends 100 streams at the same time through one proxy after the other. A first round, which opens
// connections, is not counted. Live returns what was measured for each proxy, or an error if a
// stream fails.
func Live(up *fake.Server, all []Watched, rounds int) ([]Seen, error) {
	seen, spent := make([]Seen, len(all)), make([][]time.Duration, len(all))
	for round := range rounds + 1 {
		for i, w := range all {
			cost, lags, err := w.play(up, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.Name, err)
			}
			if round > 0 {
				spent[i], seen[i].Lags = append(spent[i], cost), append(seen[i].Lags, lags...)
			}
		}
	}
	for i := range seen {
		seen[i].Token = median(spent[i])
		slices.Sort(seen[i].Lags)
	}
	return seen, nil
}

// play sends 100 streams through the proxy once, while w.Pages pages of the admin interface watch
// them. It returns the proxy's processor time per token, and in lags how late each token arrived at
// a page. It returns an error if a stream fails.
func (w Watched) play(up *fake.Server, round int) (
	cost time.Duration, lags []time.Duration, err error) {
	before, err := w.Proxy.CPU()
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.Pages > 0 {
		go func() { _, _ = follow(ctx, w.Proxy.URL+"/admin/api/exchanges/live", func([]byte) {}) }()
	}
	errs, each := make([]error, liveStreams), make([][]time.Duration, liveStreams)
	var wait sync.WaitGroup
	for i := range liveStreams {
		wait.Go(func() {
			sc := liveScript
			sc.ID = fmt.Sprint(w.Name, round, "-", i)
			each[i], errs[i] = playWatched(ctx, up, w.Proxy.URL, sc, i < w.Pages)
		})
	}
	wait.Wait()
	after, err := w.Proxy.CPU()
	if err = errors.Join(append(errs, err)...); err != nil {
		return 0, nil, err
	}
	tokens := len(text.Tokens(text.Prose("hermes", liveScript.Bytes))) * liveStreams
	return (after - before) / time.Duration(tokens), slices.Concat(each...), nil
}

// playWatched plays a script and, if page is true, follows it as a page does. It returns how late
// each token arrived at that page. It returns an error if the request fails.
func playWatched(ctx context.Context, up *fake.Server, url string, sc fake.Script, page bool) (
	lags []time.Duration, err error) {
	body, err := Request{Tools: 1}.body(sc)
	if err != nil {
		return nil, err
	}
	resp, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var wait sync.WaitGroup
	var failed error
	if page {
		wait.Go(func() {
			lags, failed = lagsOf(ctx, up, url+"/admin/api/exchanges/"+resp.Header.Get(
				"X-Request-Id")+"/live", sc)
		})
	}
	_, err = io.Copy(io.Discard, resp.Body)
	wait.Wait()
	return lags, errors.Join(err, failed)
}

// lagsOf follows a request on a page of the admin interface while it runs. It returns for each
// token the time between the moment at which the model had to write it and its arrival at the page.
// Tokens that were due before the page was open are left out. lagsOf returns an error if the stream
// breaks off, or shows less than half of the tokens.
func lagsOf(ctx context.Context, up *fake.Server, url string, sc fake.Script) (
	lags []time.Duration, err error) {
	ends, total := []int{}, 0
	for _, token := range text.Tokens(text.Prose("hermes", sc.Bytes)) {
		total += len(token)
		ends = append(ends, total)
	}
	open, got, next := time.Now(), 0, 0
	ended, err := follow(ctx, url, func(data []byte) {
		var c struct {
			Wrote []struct{ Kind, Text string }
		}
		if json.Unmarshal(data, &c) != nil {
			return
		}
		for _, part := range c.Wrote {
			if part.Kind == "text" {
				got += len(part.Text)
			}
		}
		now, began := time.Now(), up.Began(sc.ID)
		for ; next < len(ends) && ends[next] <= got; next++ {
			if due := began.Add(time.Duration(next) * time.Second / time.Duration(
				sc.Rate)); due.After(open) {
				lags = append(lags, now.Sub(due))
			}
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !ended || len(lags) < len(ends)/2:
		return nil, fmt.Errorf("%s: %d of %d tokens were seen, ended %v", url, len(lags), len(ends),
			ended)
	}
	return lags, nil
}

// follow reads a stream of events to its end and calls the function take with the data of each
// event. It reports whether the stream had an event that ends it. It returns an error if the
// request fails.
func follow(ctx context.Context, url string, take func(data []byte)) (ended bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	resp, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(make([]byte, 64<<10), 4<<20)
	if resp.StatusCode != http.StatusOK {
		in.Scan()
		return false, fmt.Errorf("%s: %s: %s", url, resp.Status, in.Bytes())
	}
	for in.Scan() {
		ended = ended || in.Text() == "event: end"
		if data, ok := bytes.CutPrefix(in.Bytes(), []byte("data: ")); ok {
			take(data)
		}
	}
	return ended, in.Err()
}
