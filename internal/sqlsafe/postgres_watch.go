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

// mostServerMemory is how much private memory a statement may use on the server, in addition to
// memory that all its processes share. Sorts and joins above work_mem, 4 MB by default, use files,
// but a text or an array that an aggregate collects does not.
const mostServerMemory = 24 << 20

// The statements that run at the same time may together use mostTogether bytes. If they use more,
// each statement that uses more than fairShare is ended.
const (
	mostTogether = 48 << 20
	fairShare    = mostTogether / connections
)

// watchEvery is the interval at which the memory is checked while a statement runs. It is short
// because values grow by a gigabyte a second.
const watchEvery = time.Millisecond

// watch checks how much memory the server's process needs for a statement, until stop is called. If
// it is too much, watch sets over and cancels the statement through a second connection. PostgreSQL
// does not report the memory of its processes, so watch works only for a server on this machine;
// otherwise over is nil. The parameter together counts the memory that all running statements need;
// watch adds its own to it.
func watch(ctx context.Context, c *pgconn.PgConn, together *atomic.Int64) (
	over *atomic.Bool, stop func()) {
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
			if all := together.Add(more); held > mostServerMemory ||
				all > mostTogether && held > fairShare {
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

// mostKept is how much more memory the server's process may use after a statement than at the
// beginning of its connection.
const mostKept = 8 << 20

// began is the key under which a connection stores how much memory its process used at the
// beginning.
const began = "toolnorm_began"

// begins records how much memory the process of a new connection uses.
func begins(c *pgconn.PgConn) {
	if bytes, ok := privateMemory(c); ok && besides(c) {
		c.CustomData()[began] = bytes
	}
}

// relieve closes a connection whose process uses too much memory, so that the server gets it back.
// The pool opens another.
func relieve(ctx context.Context, c *pgconn.PgConn) {
	before, known := c.CustomData()[began].(int64)
	if now, ok := privateMemory(c); known && ok && now-before > mostKept {
		_ = c.Close(ctx)
	}
}

// unseen makes all servers count as being on other machines, for tests.
var unseen atomic.Bool

// besides reports whether the server's process for a connection runs on this machine, where its
// memory can be read.
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

// privateMemory returns the private memory, in bytes, of the server's process for a connection; ok
// is false if it cannot be read.
func privateMemory(c *pgconn.PgConn) (bytes int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.PID()))
	if err != nil {
		return 0, false
	}
	var pages [3]int64 // total size, resident, and shared part of that
	for i, field := range strings.Fields(string(text)) {
		if i < len(pages) {
			pages[i], _ = strconv.ParseInt(field, 10, 64)
		}
	}
	return (pages[1] - pages[2]) * int64(os.Getpagesize()), true
}
