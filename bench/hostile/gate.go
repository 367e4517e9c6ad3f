// Package hostile sends the requests that an attacker would send, each to a fresh toolnorm, and
// measures what they cost it.
package hostile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"toolnorm/bench/drive"
	"toolnorm/bench/fake"
)

// The limits on the cost of one hostile request, and on what it leaves behind.
const (
	MaxCPU  = time.Second // on the machine where the limits were set; see slowness
	MaxPeak = 200 << 20   // bytes of resident memory, at the highest
	// processor time in restTime after all clients have left: timers and garbage collection
	maxRest = 20 * time.Millisecond
)

const (
	// the time after which a client leaves; a slower request has most likely broken MaxCPU
	patience = 10 * time.Second
	settling = 20 * time.Second // the time within which a server must come to rest
	restTime = 200 * time.Millisecond
	bodyWait = 2 * time.Second // the server's time limit for a body
	// attempts of an attack that breaks a limit, because on a shared machine the same work
	// sometimes takes half as long again
	tries = 3
	// the time after bodyWait within which a slow client must get its answer
	bodyGrace = 3 * time.Second
)

// Cost is the cost of one attack. CPU is the processor time from the attack until the server is at
// rest. Peak is the most memory since the server's start.
type Cost struct {
	Name     string
	CPU      time.Duration
	Peak     int64 // bytes
	Breaches []string
}

// Measure runs every attack whose name contains the parameter only, and calls the function show
// with the cost of each. An attack that breaks a limit is tried up to three times, because a true
// breach breaks the limit each time. Measure returns an error if an attack cannot be run.
func Measure(program, only string, show func(Cost)) error {
	up, err := fake.Start()
	if err != nil {
		return err
	}
	defer up.Close()
	for _, a := range attacks() {
		if !strings.Contains(a.name, only) {
			continue
		}
		c, err := a.measure(program, up.URL)
		for n := 1; n < tries && err == nil && len(c.Breaches) > 0; n++ {
			c, err = a.measure(program, up.URL)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		show(c)
	}
	return nil
}

// measure runs one attack and returns its cost. Each attack gets a fresh server, so that its cost
// does not include memory of the one before. The server is asked for its models once before, and
// has a short time limit for bodies, so that slow bodies end within the benchmark. measure returns
// an error if the attack cannot be run.
func (a attack) measure(program, upstream string) (c Cost, err error) {
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	log, err := os.Create(dir + "/log")
	if err != nil {
		return c, err
	}
	defer log.Close()
	p, err := drive.Launch("toolnorm", log, func(addr string) []string {
		argv := []string{program, "serve", "--listen", addr, "--ollama", upstream, "--data", dir,
			"--body-timeout", bodyWait.String()}
		return append(argv, a.settings...)
	})
	if err != nil {
		return c, err
	}
	defer p.Close()
	// what every server does once is not the attack's cost
	if _, err := (&target{p: p}).get("/v1/models"); err != nil {
		return c, err
	}
	before, err := p.CPU()
	if err != nil {
		return c, err
	}
	t := &target{p: p}
	if err := a.send(t); err != nil {
		c.Breaches = append(c.Breaches, err.Error())
	}
	t.leave()
	c.Name = a.name
	return c, c.settle(a, p, before)
}

// settle waits until the server does no more work, and stores in c the processor time and memory
// that an attack cost. For each limit that was broken it adds a sentence to c.Breaches. The cost
// includes work that goes on after the client has left, because such work is cheapest for an
// attacker. A server that never rests breaks a limit. settle returns an error if the cost cannot be
// read.
func (c *Cost) settle(a attack, p *drive.Proxy, before time.Duration) error {
	rested := false
	last, err := p.CPU()
	for began := time.Now(); err == nil && !rested && time.Since(began) < settling; {
		time.Sleep(restTime)
		var now time.Duration
		now, err = p.CPU()
		rested, last = now-last < maxRest, now
	}
	if err != nil {
		return err
	}
	c.CPU = last - before
	if c.Peak, err = p.Peak(); err != nil {
		return err
	}
	if !rested {
		c.Breaches = append(c.Breaches, fmt.Sprintf("it still works %v after the client has left",
			settling))
	}
	if most := cmp.Or(a.cpu, MaxCPU); c.CPU > most {
		if most = time.Duration(float64(most) * slowness()); c.CPU > most {
			c.Breaches = append(c.Breaches, fmt.Sprintf(
				"%.2f s of processor time, the limit is %.2f", c.CPU.Seconds(), most.Seconds()))
		}
	}
	if most := cmp.Or(a.peak, MaxPeak); c.Peak > most {
		c.Breaches = append(c.Breaches, fmt.Sprintf("%d MB of memory, the limit is %d", c.Peak>>20,
			most>>20))
	}
	if err := (&target{p: p}).healthy(); err != nil {
		c.Breaches = append(c.Breaches, fmt.Sprintf("not healthy afterwards: %v", err))
	}
	return nil
}

// slowness returns how much slower this machine is now than the one where the limits were set, as a
// factor of at least 1. The same attack takes half as long again on another machine, or while the
// host of this machine is busy, and a fixed limit would be broken then. It measures work that is
// like that of the largest attacks: reading a text full of escapes.
func slowness() float64 {
	const there = 50 * time.Millisecond
	text := []byte(`"` + strings.Repeat(`\n`, 19<<19) + `"`)
	best := time.Duration(math.MaxInt64)
	for range 10 {
		began := time.Now()
		json.Valid(text)
		best = min(best, time.Since(began))
	}
	return max(1, float64(best)/float64(there))
}

// someKey is the API key for servers that require one.
const someKey = "sk-0123456789abcdef"

// healthy returns an error unless the server answers a health check and a plain request. Otherwise
// a server that refuses everything would seem cheap.
func (t *target) healthy() error {
	for _, ask := range []func() (*answer, error){
		func() (*answer, error) { return t.get("/healthz") },
		func() (*answer, error) {
			return t.post("/v1/chat/completions",
				`{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}]}`,
				"Authorization", "Bearer "+someKey)
		},
	} {
		a, err := ask()
		switch {
		case err != nil:
			return err
		case a.status != http.StatusOK:
			return fmt.Errorf("status %d: %.200s", a.status, a.body)
		}
	}
	return nil
}

// answer is the answer to a request.
type answer struct {
	status int
	body   string
}

// errLeft is the error of a request that took longer than its client's patience. It is not a breach
// by itself, since a reply may go on. The cost of the request decides.
var errLeft = errors.New("the client has left without an answer")

// ask sends one request and returns the whole answer. It returns errLeft after the client's
// patience, and an error if the request fails. Each request has a connection of its own, since a
// server may close a connection after an error.
func (t *target) ask(method, path, body string, header ...string) (*answer, error) {
	req, err := http.NewRequest(method, t.p.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if os.IsTimeout(err) {
		return nil, errLeft
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if os.IsTimeout(err) {
		return nil, errLeft
	}
	return &answer{resp.StatusCode, string(text)}, err
}

func (t *target) get(path string) (*answer, error) { return t.ask(http.MethodGet, path, "") }

func (t *target) post(path, body string, header ...string) (*answer, error) {
	return t.ask(http.MethodPost, path, body, header...)
}
