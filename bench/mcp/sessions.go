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

// Idle is the cost of a session of legacy SSE that is open and sends nothing. Such sessions are the
// most expensive ones, because each has a connection, its buffers and at least one goroutine.
type Idle struct {
	Name       string
	Bytes      float64 // heap and stacks, including the client's end of the connection
	Goroutines float64
}

// idleSessions is how many are open at once.
const idleSessions = 3000

// IdleSessions opens sessions at this server and at mcp-go's, and returns their costs. It returns
// an error if a session cannot be opened.
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

// idle opens sessions, measures what one of them takes, and closes them. It returns an error if a
// session cannot be opened.
func idle(f *face) (Idle, error) {
	for range 100 { // so that things that are made only once exist already
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

// weight returns the bytes of heap and stacks, and the number of goroutines, when the process is at
// rest. Connections that http.Post left open would count, so they are closed first. A pause lets
// their goroutines end.
func weight() (bytes float64, goroutines int) {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	time.Sleep(200 * time.Millisecond)
	runtime.GC()
	runtime.GC() // the first one only empties the pools half
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
}

// openSession opens a stream and initializes its session. It returns the connection, or an error.
// The answer is left unread. The connection is dialed directly, because http.Client would add two
// goroutines and two buffers.
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

// endpoint requests an SSE stream on the connection c, and returns the URL that the server sends on
// it, to which the client must send its messages. It returns an error if the server sends none.
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

// initialize initializes a session. The parameter at is the URL to which the session's messages are
// sent. It returns an error if the server refuses.
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

// cycle opens a session and closes it. It returns an error if that fails.
func cycle(f *face) error {
	c, err := openSession(f)
	if err != nil {
		return err
	}
	return c.Close()
}

// Growth is what closed sessions leave behind.
type Growth struct {
	Sessions   int
	Bytes      float64 // in all
	Goroutines int
}

// churnSessions is the number of sessions that are opened and closed.
const churnSessions = 10_000

// Churn opens and closes sessions, one after the other, and returns what they leave behind. A
// thousand sessions are opened and closed first, so that memory that is allocated only once does
// not count as a leak. It returns an error if a session cannot be opened.
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
