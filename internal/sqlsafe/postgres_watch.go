package sqlsafe

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// mostServerMemory is what a statement may hold of the server's memory for itself, besides what all
// its processes share. Sorts and joins go to files from work_mem on, 4 MB where nobody changed it;
// a text or an array that an aggregate collects does not.
const mostServerMemory = 24 << 20

// Statements that run at once may hold mostTogether; beyond it each that holds more than its share
// ends.
const (
	mostTogether = 48 << 20
	fairShare    = mostTogether / connections
)

// watchEvery is how often it is looked at while a statement runs. Values grow by a gigabyte a
// second.
const watchEvery = time.Millisecond

// watch cancels the statement of a connection from a second one when the server's process holds too
// much, and says so by over. It only sees a server on this machine: PostgreSQL tells nobody else
// what its processes hold, and over is nil. stop ends it. together is what all statements hold.
func watch(ctx context.Context, c *pgconn.PgConn, together *atomic.Int64) (over *atomic.Bool, stop func()) {
	before, ok := int64(0), besides(c)
	if ok {
		before, ok = privateMemory(c)
	}
	if !ok {
		return nil, func() {}
	}
	over = &atomic.Bool{}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		held := int64(0)
		defer func() { together.Add(-held) }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, ok := privateMemory(c)
			if !ok {
				continue
			}
			more := now - before - held
			held += more
			if all := together.Add(more); held > mostServerMemory || all > mostTogether && held > fairShare {
				over.Store(true)
				_ = c.CancelRequest(ctx)
			}
		}
	}()
	return over, func() {
		cancel()
		<-done
	}
}

// mostKept is what a connection may keep of the server's memory for its next statement, beside what
// it held when it began.
const mostKept = 8 << 20

// began is the name under which a connection knows what it held then.
const began = "toolnorm_began"

// begins notes what a new connection holds.
func begins(c *pgconn.PgConn) {
	if bytes, ok := privateMemory(c); ok && besides(c) {
		c.CustomData()[began] = bytes
	}
}

// relieve closes a connection that keeps too much, so that the server gets its memory back. The
// pool makes another.
func relieve(ctx context.Context, c *pgconn.PgConn) {
	before, known := c.CustomData()[began].(int64)
	if now, ok := privateMemory(c); known && ok && now-before > mostKept {
		_ = c.Close(ctx)
	}
}

// unseen has all servers taken for those of other machines, for tests.
var unseen atomic.Bool

// besides reports whether the server's process of a connection runs on this machine, and can be
// seen.
func besides(c *pgconn.PgConn) bool {
	if unseen.Load() {
		return false
	}
	if at, tcp := c.Conn().RemoteAddr().(*net.TCPAddr); tcp && !at.IP.IsLoopback() {
		return false
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", c.PID()))
	return err == nil && strings.HasPrefix(string(name), "postgres")
}

// privateMemory returns what the server's process of a connection holds for itself; ok is false if
// that cannot be read.
func privateMemory(c *pgconn.PgConn) (bytes int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.PID()))
	if err != nil {
		return 0, false
	}
	var pages [3]int64 // all, in memory, of that shared
	for i, field := range strings.Fields(string(text)) {
		if i < len(pages) {
			pages[i], _ = strconv.ParseInt(field, 10, 64)
		}
	}
	return (pages[1] - pages[2]) * int64(os.Getpagesize()), true
}
