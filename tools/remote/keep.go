package remote

import (
	"context"
	"time"

	"toolnorm/internal/sleep"
)

// keep connects to the server, reconnects after each loss, and requests the list of tools when it
// may have changed. It logs once that a server is down and once that it is back, not at each
// attempt. When the link ends, keep closes the connection, so that nothing of a removed server is
// left.
func (l *link) keep() {
	pause, told := firstPause, false
	for l.ctx.Err() == nil {
		c, err := l.connection(l.ctx)
		if err == nil {
			l.log.Info().Int("tools", len(l.offered())).Str("transport", l.transport()).Msg(
				"the MCP server is connected")
			told = false
			begun := time.Now()
			l.hold(c)
			// a server that comes and goes is not reconnected at once; a call connects at once
			if time.Since(begun) > lastPause {
				pause = firstPause
			}
		} else if !told && l.ctx.Err() == nil {
			// Logged once each time it goes down: a server that is off all night must not fill the
			// log.
			l.log.Warn().Str("error", reason(err)).Msg(
				"the MCP server does not answer; it is tried again, and its tools fail until then")
			told = true
		}
		sleep.For(l.ctx, pause)
		pause = min(2*pause, lastPause)
	}
	l.mu.Lock()
	c := l.conn
	l.conn = nil
	l.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// hold watches a connection until it ends, and requests the list of tools when it may have changed.
// If the server no longer returns its list, hold gives the connection up, because a server that has
// forgotten the session behaves so.
func (l *link) hold(c *conn) {
	tick := time.NewTicker(refreshTime)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-c.ctx.Done():
			return
		// A server that adds ten tools announces it ten times.
		case <-c.changed:
			sleep.For(l.ctx, newsPause)
		case <-tick.C:
		}
		// As long as for a connection: a list of many pages is its largest part.
		ctx, cancel := context.WithTimeout(l.ctx, attemptTime)
		err := l.list(ctx, c)
		cancel()
		if err != nil && l.ctx.Err() == nil {
			l.log.Warn().Str("error", reason(err)).Msg("the MCP server does not list its tools")
			l.drop(c)
			return
		}
	}
}
