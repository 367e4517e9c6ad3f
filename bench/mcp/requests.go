package mcp

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// connections is how many clients ask at the same time.
const connections = 8

// subject is a server and a request that is sent to it again and again. The request has no session,
// because both servers answer without one.
type subject struct {
	name   string
	url    string
	method string
	params string
	modern bool // by revision 2026-07-28
}

// body returns the body of the request. By revision 2026-07-28 each request has the version and the
// capabilities, in _meta.
func (s subject) body() string {
	params := s.params
	if s.modern {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
		if params != "{" {
			meta = "," + meta
		}
		params += meta
	} else {
		params += "}"
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + s.method + `","params":` + params + `}`
}

// ask sends the request once, reads the answer into the given buffer, and returns the answer. It
// returns an error if the request fails, or if there is no result near the beginning of the answer,
// so that a fast refusal does not count as speed.
func (s subject) ask(c *http.Client, into *bytes.Buffer) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, s.url, strings.NewReader(s.body()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.modern {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", s.method)
		if s.method == "tools/call" {
			r.Header.Set("Mcp-Name", "get_weather_0")
		}
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	into.Reset()
	if _, err := into.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	if b := into.Bytes(); resp.StatusCode != http.StatusOK ||
		!bytes.Contains(b[:min(len(b), 100)], []byte(`"result":`)) {
		return nil, fmt.Errorf("%s: %s %.200s", s.name, resp.Status, b)
	}
	return into.Bytes(), nil
}

// Speed is how fast a server answers one kind of request. Client and server share a process, so
// their costs cannot be separated. The client's part is the same for all servers.
type Speed struct {
	Name   string
	Median time.Duration // time until the whole answer has arrived
	CPU    time.Duration // processor time per answer, including the client's
	Second float64       // answers per second
	Allocs float64       // allocations per answer, including the client's
}

// speeds measures each subject, a server with a request for it, in every round, and returns the
// best figures of each. The best ones are taken because other work on the machine can only make
// figures worse. It returns an error if a request fails.
func speeds(subjects []subject, rounds, requests int) ([]Speed, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * connections}}
	defer client.CloseIdleConnections()
	all := make([]Speed, len(subjects))
	for round := range rounds + 1 { // the first one warms up
		for i, s := range subjects {
			one, err := s.round(client, requests)
			if err != nil {
				return nil, err
			}
			if round <= 1 {
				all[i] = one
				continue
			}
			all[i].Median = min(all[i].Median, one.Median)
			all[i].CPU = min(all[i].CPU, one.CPU)
			all[i].Second = max(all[i].Second, one.Second)
			all[i].Allocs = min(all[i].Allocs, one.Allocs)
		}
	}
	return all, nil
}

// round sends as many requests as the parameter requests says, over all connections at the same
// time, and returns how long they took. It returns an error if a request fails.
func (s subject) round(client *http.Client, requests int) (Speed, error) {
	took := make([]time.Duration, requests)
	var group sync.WaitGroup
	failed := make(chan error, connections)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin, used := time.Now(), processorTime()
	for part := range slices.Chunk(took, (requests+connections-1)/connections) {
		group.Go(func() {
			var answer bytes.Buffer
			for i := range part {
				start := time.Now()
				if _, err := s.ask(client, &answer); err != nil {
					failed <- err
					return
				}
				part[i] = time.Since(start)
			}
		})
	}
	group.Wait()
	all, used := time.Since(begin), processorTime()-used
	runtime.ReadMemStats(&after)
	select {
	case err := <-failed:
		return Speed{}, err
	default:
	}
	slices.Sort(took)
	return Speed{
		Name: s.name, Median: took[requests/2], CPU: used / time.Duration(requests),
		Second: float64(requests) / all.Seconds(),
		Allocs: float64(after.Mallocs-before.Mallocs) / float64(requests),
	}, nil
}

// processorTime returns the processor time that this process has used so far, in user and system
// mode, or 0 if the system does not report it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The rounds of each measurement, and the requests of a round.
const (
	callRounds, callRequests = 15, 800
	listRounds, listRequests = 5, 40
	listTools                = 1000
)

// Calls measures tools/call, and returns the figures of the bare handler first, then those of this
// server by both revisions of the protocol, then those of mcp-go by both. The bare handler answers
// with bytes that this server has answered, so that all servers send as much. Calls returns an
// error if a request fails.
func Calls() ([]Speed, error) {
	const call = `{"name":"get_weather_0","arguments":{"city":"Lisbon","days":3}`
	we, err := ours(10)
	if err != nil {
		return nil, err
	}
	defer we.close()
	they := stock(10)
	defer they.close()
	now := subject{name: "toolnorm, 2025", url: we.URL + "/mcp", method: "tools/call", params: call}
	said, err := now.ask(http.DefaultClient, new(bytes.Buffer))
	if err != nil {
		return nil, err
	}
	floor := bare(said)
	defer floor.close()
	return speeds([]subject{
		{name: "bare net/http", url: floor.URL, method: "tools/call", params: call},
		now,
		{name: "toolnorm, 2026-07-28", url: we.URL + "/mcp", method: "tools/call", params: call,
			modern: true},
		{name: "mcp-go, 2025", url: they.URL + "/mcp", method: "tools/call", params: call},
		{name: "mcp-go, 2026-07-28", url: they.URL + "/mcp", method: "tools/call", params: call,
			modern: true},
	}, callRounds, callRequests)
}

// Lists measures tools/list with 1,000 tools, and returns the figures of this server first, then
// those of mcp-go. It returns an error if a request fails.
func Lists() ([]Speed, error) {
	we, err := ours(listTools)
	if err != nil {
		return nil, err
	}
	defer we.close()
	they := stock(listTools)
	defer they.close()
	return speeds([]subject{
		{name: "toolnorm", url: we.URL + "/mcp", method: "tools/list", params: "{"},
		{name: "mcp-go", url: they.URL + "/mcp", method: "tools/list", params: "{"},
	}, listRounds, listRequests)
}

// ListAllocs returns how many allocations an answer to tools/list takes, including the client's,
// with 10 tools and with 100. Only the size of the answers differs. An answer that is built anew
// for each request takes some allocations for each tool (17 in mcp-go), and a cached answer takes
// none. It returns an error if a request fails.
func ListAllocs() (few, many float64, err error) {
	for _, n := range []struct {
		tools int
		into  *float64
	}{{10, &few}, {100, &many}} {
		we, err := ours(n.tools)
		if err != nil {
			return 0, 0, err
		}
		all, err := speeds([]subject{{name: "toolnorm", url: we.URL + "/mcp", method: "tools/list",
			params: "{"}}, listRounds, 10*listRequests)
		we.close()
		if err != nil {
			return 0, 0, err
		}
		*n.into = all[0].Allocs
	}
	return few, many, nil
}
