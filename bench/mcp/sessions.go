package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// Idle is what a session of legacy SSE takes that says nothing. Sessions of legacy SSE are the dear
// ones: each holds a connection, its buffers and at least one goroutine.
type Idle struct {
	Name       string
	Bytes      float64 // heap and stacks, with this process's end of the connection
	Goroutines float64
}

// idleSessions is how many are open at once.
const idleSessions = 3000

// IdleSessions opens sessions at this server and at mcp-go's.
func IdleSessions() (all []Idle, err error) {
	we, err := ours(10)
	if err != nil {
		return nil, err
	}
	defer we.close()
	they := stock(10)
	defer they.close()
	for _, s := range []struct {
		name string
		face *face
	}{{"toolnorm", we}, {"mcp-go", they}} {
		one, err := idle(s.face)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		one.Name = s.name
		all = append(all, one)
	}
	return all, nil
}

// idle opens sessions, and closes them when they were weighed.
func idle(f *face) (Idle, error) {
	for range 100 { // what is made once is there already
		if err := cycle(f); err != nil {
			return Idle{}, err
		}
	}
	bytes, goroutines := weight()
	for range idleSessions {
		s, err := openSession(f)
		if err != nil {
			return Idle{}, err
		}
		defer s.Close()
	}
	more, running := weight()
	return Idle{Bytes: (more - bytes) / idleSessions,
		Goroutines: float64(running-goroutines) / idleSessions}, nil
}

// weight returns what the process holds when nothing moves any more: heap and stacks, and
// goroutines. Connections that http.Post left open count for the client and are closed first; the
// pause lets their goroutines end.
func weight() (bytes float64, goroutines int) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	time.Sleep(200 * time.Millisecond)
	runtime.GC()
	runtime.GC() // the first one only empties the pools half
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
}

// openSession opens a stream and initialises its session. The answer is left unread.
// The connection is dialled by hand: http.Client would add two goroutines and two buffers.
func openSession(f *face) (net.Conn, error) {
	c, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		return nil, err
	}
	at, err := endpoint(c, f.URL)
	if err == nil {
		err = initialize(at)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// endpoint asks for a stream and reads where its messages go.
func endpoint(c net.Conn, base string) (string, error) {
	if _, err := fmt.Fprintf(c,
		"GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n",
		strings.TrimPrefix(base, "http://")); err != nil {
		return "", err
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			root, err := url.Parse(base)
			if err != nil {
				return "", err
			}
			at, err := root.Parse(data)
			if err != nil {
				return "", err
			}
			return at.String(), nil
		}
	}
	return "", fmt.Errorf("no endpoint came: %w", lines.Err())
}

// initialize begins the session whose messages go there.
func initialize(at string) error {
	resp, err := http.Post(at, "application/json", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("initialize: %s", resp.Status)
	}
	return nil
}

// cycle opens a session and ends it.
func cycle(f *face) error {
	c, err := openSession(f)
	if err != nil {
		return err
	}
	return c.Close()
}

// Growth is what is left of sessions that have gone.
type Growth struct {
	Sessions   int
	Bytes      float64 // in all
	Goroutines int
}

// churnSessions is how many sessions come and go.
const churnSessions = 10_000

// Churn opens and leaves sessions, one after the other.
// A thousand sessions come and go first, so that what is allocated once is not taken for a leak.
func Churn() (Growth, error) {
	f, err := ours(10)
	if err != nil {
		return Growth{}, err
	}
	defer f.close()
	for range churnSessions / 10 {
		if err := cycle(f); err != nil {
			return Growth{}, err
		}
	}
	bytes, goroutines := weight()
	for range churnSessions {
		if err := cycle(f); err != nil {
			return Growth{}, err
		}
	}
	more, running := weight()
	return Growth{churnSessions, more - bytes, running - goroutines}, nil
}
