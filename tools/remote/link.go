package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rs/zerolog"

	"toolnorm/tools"
)

// link keeps one server connected. All callers that need the server wait for the same attempt to
// connect, so ten calls to a server that restarts make one connection. A caller that gives up ends
// only its own waiting. A server that is down is tried again from time to time, and also whenever
// it is called.
type link struct {
	set   *Set
	entry Entry
	log   zerolog.Logger
	ctx   context.Context // of the link: ends when the server is removed
	end   context.CancelFunc

	mu     sync.Mutex
	conn   *conn         // nil: not connected
	trying chan struct{} // closed when the running attempt ends; nil: none is running
	kind   string        // the transport that worked last
	// what the server listed last; kept while the server is down, so that a call still finds a tool
	tools []tools.Tool
	texts []json.RawMessage // the same tools, as the server listed them
	odd   []LeftOut         // what is not offered, and why
	// why there is no connection; nil: there is one, or it is not known yet
	err      error
	failedAt time.Time // when the last attempt failed
	since    time.Time // when it was registered, or the connection was lost
}

// Bounds of waiting. attemptTime is enough for two transports one after the other, each with its
// requests. startTime is enough for a download. refreshTime is for servers that do not announce
// changes.
const (
	attemptTime = 15 * time.Second // for one attempt to connect and list
	// for one attempt with a command, which npx and uvx may have to download first
	startTime = 90 * time.Second
	// until a list is requested again, whatever the server announces
	refreshTime = 5 * time.Minute
	// until a server that is down is tried again; doubled each time up to lastPause
	firstPause = time.Second
	lastPause  = time.Minute
	// before a changed list is requested, so that several changes in quick succession are one
	// request
	newsPause = 100 * time.Millisecond
	// during which no further attempt is made after one that failed
	freshError = time.Second
	// for a server that refused the last connection; it usually refuses again at once, at no cost
	shortWait = 250 * time.Millisecond
	// for which a call waits for a server that is known to be down
	callWait = 2 * time.Second
	// for a server to answer at all after a call has timed out
	probeTime = 5 * time.Second
)

// newLink returns a link, and starts the goroutine that keeps its server connected. Set.Close waits
// for that goroutine.
func newLink(s *Set, e Entry) *link {
	l := &link{set: s, entry: e, since: time.Now(), log: s.cfg.Log.With().Str("mcp_server",
		e.Name).Logger()}
	l.ctx, l.end = context.WithCancel(s.ctx)
	s.running.Go(l.keep) // ends with the link
	return l
}

// connection returns the connection, and makes one if there is none. ctx bounds only the waiting,
// and not the attempt, since other callers may wait for the same attempt. It returns an error if
// the attempt fails, ctx ends, or the server is removed.
func (l *link) connection(ctx context.Context) (*conn, error) {
	l.mu.Lock()
	if l.conn != nil && !l.conn.over() {
		defer l.mu.Unlock()
		return l.conn, nil
	}
	if l.ctx.Err() != nil {
		defer l.mu.Unlock()
		return nil, errRemoved
	}
	// The first caller starts the attempt; all others wait for it.
	trying := l.try()
	l.mu.Unlock()
	select {
	case <-trying:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.conn != nil:
		return l.conn, nil
	case l.err == nil:
		return nil, errLost // between the attempt and here
	}
	return nil, l.err
}

// try starts an attempt to connect if none is running. It returns a channel that is closed when the
// attempt ends, or nil if the link has ended. The caller holds l.mu.
func (l *link) try() <-chan struct{} {
	if l.trying == nil && l.ctx.Err() == nil {
		l.trying = make(chan struct{})
		l.set.running.Go(l.attempt) // ends with its time
	}
	return l.trying
}

// attempt connects once and lists the tools, and stores the result in the link. It runs until its
// time limit even when no caller waits any more, because its result is needed the next time.
func (l *link) attempt() {
	limit := attemptTime
	if l.entry.Command != "" {
		limit = startTime
	}
	ctx, cancel := context.WithTimeoutCause(l.ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	l.mu.Lock()
	old, kind := l.conn, l.kind
	if old != nil {
		l.since = time.Now()
	}
	l.conn = nil
	l.mu.Unlock()
	// Its command must have ended before it is started again: two would share files and ports.
	if old != nil {
		old.close()
	}
	said := &tail{}
	c, kind, err := l.open(ctx, kind, said)
	// The cause says how long was waited; the error itself only that something was canceled.
	if err != nil && context.Cause(ctx) != nil && l.ctx.Err() == nil {
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err, l.failedAt = explain(l.entry, err, said.String()), time.Now()
		// The next attempt asks in the other way (see asking), since either may be the one that
		// works.
		if l.entry.Command != "" {
			l.kind = map[string]string{kindStdio: kindHandshake, "": kindHandshake,
				kindHandshake: kindStdio}[l.kind]
		}
	} else {
		l.conn, l.kind, l.err = c, kind, nil
	}
	close(l.trying)
	l.trying = nil
}

// open makes a connection and lists the server's tools. It returns the connection and its kind of
// transport, or an error if either step fails. It declares no capability, because nothing here
// could answer a server's questions for a user or a model. Clients that can answer use a relay.
func (l *link) open(ctx context.Context, last string, said *tail) (*conn, string, error) {
	c, kind, err := l.dial(ctx, last,
		greeting{who: mcp.Implementation{Name: "toolnorm", Version: l.set.cfg.Version},
			hear: l.set.news}, said)
	if err != nil {
		return nil, "", err
	}
	// A server that connects and does not list is as good as down.
	if err := l.list(ctx, c); err != nil {
		c.close()
		return nil, "", err
	}
	return c, kind, nil
}

// dial makes a connection and returns it with its kind of transport. Variables are filled in at
// each attempt, so that a missing variable is an error of this server only, and a URL from a
// variable is checked like any other. It returns an error if a variable is missing, the URL is not
// allowed, or connecting fails.
func (l *link) dial(ctx context.Context, last string, me greeting, said *tail) (
	*conn, string, error) {
	e, err := l.entry.filled()
	if err != nil {
		return nil, "", err
	}
	if e.URL != "" {
		if err := checkURL(e.URL); err != nil {
			return nil, "", err
		}
	}
	if e.URL != "" && l.set.cfg.Accounts != "" {
		e.account = &account{entry: e, path: l.set.cfg.Accounts}
	}
	hide := e.hides(l.entry)
	return e.connect(ctx, last, me, func(line string) {
		line = hide(line)
		said.add(line)
		l.log.Debug().Str("says", line).Msg("the MCP server's command")
	})
}

// list requests the server's current tools and publishes them. Tools that cannot be used are left
// out and reported, and the others are taken, since a server with one odd tool is still of use. The
// tools are sorted by name, so that their order is the same at each start. list returns an error if
// the request fails or the server was removed.
func (l *link) list(ctx context.Context, c *conn) error {
	texts, odd, err := c.list(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	same := l.tools != nil && slices.EqualFunc(l.texts, texts, func(a, b json.RawMessage) bool {
		return bytes.Equal(a, b)
	})
	l.mu.Unlock()
	if same {
		return nil // a list that has not changed needs no notification
	}
	all, unread := l.read(texts, c.ours)
	odd = append(odd, unread...)
	taken, err := l.set.publish(l, all)
	if err != nil {
		return err
	}
	for _, name := range taken {
		odd = append(odd, LeftOut{name, "another tool has that name here"})
		all = slices.DeleteFunc(all, func(t tools.Tool) bool { return t.Name == name })
	}
	l.mu.Lock()
	l.tools, l.texts, l.odd = all, texts, odd
	l.mu.Unlock()
	for _, o := range odd[:min(len(odd), mostTold)] {
		l.log.Warn().Str("tool", o.Tool).Str("why", o.Why).Msg(
			"a tool of the MCP server is left out")
	}
	return nil
}

// read returns the tools in a server's list, sorted by name. The parameter ours says that the
// server is another toolnorm. Tools that the server's entry in the file excludes are skipped. The
// result odd lists tools that cannot be used.
func (l *link) read(texts []json.RawMessage, ours bool) (all []tools.Tool, odd []LeftOut) {
	seen := map[string]bool{}
	for i, text := range texts {
		// By the server's own names, as include and exclude have them.
		t, why := readTool(text)
		if t.Name != "" && !l.entry.takes(t.Name) {
			continue
		}
		var out tools.Tool
		if why == nil {
			out, why = l.tool(t, ours)
		}
		if why == nil && seen[out.Name] {
			why = errors.New("is there twice; the first one counts")
		}
		if why != nil {
			odd = append(odd, LeftOut{cmp.Or(t.Name, fmt.Sprintf("tool %d", i+1)), why.Error()})
			continue
		}
		seen[out.Name] = true
		all = append(all, out)
	}
	slices.SortFunc(all, func(a, b tools.Tool) int { return strings.Compare(a.Name, b.Name) })
	return all, odd
}

// drop gives up a connection, if it is still the current one, and closes it in a goroutine, since
// the caller has no time for that. The server's tools stay listed.
func (l *link) drop(c *conn) {
	l.mu.Lock()
	if l.conn == c {
		l.conn, l.since = nil, time.Now()
	}
	l.mu.Unlock()
	l.set.running.Go(c.close)
}

// suspect checks in the background whether a server still answers after one of its calls has timed
// out. If it does not, it is treated as down, so that no further call waits for it. The check
// requests the list of tools, since a slow tool alone proves nothing.
func (l *link) suspect(c *conn) {
	if c.suspected.Swap(true) {
		return
	}
	l.set.running.Go(func() { // ends with its time
		defer c.suspected.Store(false)
		ctx, cancel := context.WithTimeout(l.ctx, probeTime)
		defer cancel()
		_, _, err := c.list(ctx)
		if err == nil || ctx.Err() == nil || l.ctx.Err() != nil {
			return // it has answered, be it with an error
		}
		l.mu.Lock()
		if l.conn == c {
			l.err, l.failedAt = fmt.Errorf(
				"it has let a call wait for its whole time, and then not answered within %v",
				probeTime), time.Now()
		}
		l.mu.Unlock()
		l.drop(c)
	})
}

// offered returns the tools that the server listed last. The slice is only replaced, never changed.
func (l *link) offered() []tools.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools
}

// transport returns the kind of transport that worked last, or "" if none has.
func (l *link) transport() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kind
}

// current returns the server's tools. It waits for the server only as long as the method patience
// allows. It returns an error if the server is down or does not answer in time.
func (l *link) current(ctx context.Context) ([]tools.Tool, error) {
	wait, err := l.patience()
	if err != nil && wait == 0 {
		l.retry()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if _, now := l.connection(ctx); now != nil {
		return nil, cmp.Or(err, now)
	}
	return l.offered(), nil
}

// patience returns how long a request waits for the server, and why the server is down if that is
// known. If it is known, the time is 0, since otherwise every request would wait that long for a
// server that hangs. The exception is a server that refused the last attempt to connect: a request
// waits for it a short time, because it either refuses again at once or is back.
func (l *link) patience() (wait time.Duration, down error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.conn != nil: // also one that has just broken, which the next attempt finds
		return l.set.cfg.ListTime, nil
	case l.err == nil:
		return max(0, l.set.cfg.ListTime-time.Since(l.since)), nil
	case errors.Is(l.err, syscall.ECONNREFUSED) && time.Since(l.failedAt) > freshError:
		return shortWait, l.err
	}
	return 0, l.err
}

// retry starts an attempt to connect, unless one is running or has just failed. It does not wait
// for the attempt.
func (l *link) retry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil && time.Since(l.failedAt) > freshError {
		l.try()
	}
}
