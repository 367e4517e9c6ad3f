package remote

import (
	"fmt"
	"io"
	"time"
)

// bounded ends what is too large: a body, an event of a stream, or a line of a command; and a stream or a
// command that floods. A stream itself has no end, and what mcp-go puts together of it, it keeps in memory
// until the event is whole. It counts bytes as they pass and holds none.
type bounded struct {
	io.ReadCloser
	unit  unit
	n     int // bytes of the unit that is being read
	line  int // bytes of its line
	quota quota
}

// unit is what a bound is about.
type unit uint8

// What a unit ends with.
const (
	wholeBody unit = iota
	oneEvent       // up to an empty line
	oneLine
)

// Read counts what it passes on. An event ends with an empty line, which may be CRLF; so \r adds nothing to a line.
// What was read in front of the error is passed on, and mcp-go ends the connection.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	units := 0
	for _, c := range p[:n] {
		b.n++
		switch {
		case c == '\n' && (b.unit == oneLine || b.unit == oneEvent && b.line == 0):
			b.n, b.line = 0, 0
			units++
		case c == '\n':
			b.line = 0
		case c != '\r':
			b.line++
		}
	}
	switch {
	case b.n > largestAnswer:
		return n, fmt.Errorf("the server's answer is larger than %d bytes", largestAnswer)
	case b.unit != wholeBody && !b.quota.take(units, n):
		return n, fmt.Errorf("the server floods: it writes more than %d messages or %d MiB a second", unitsASecond, bytesASecond>>20)
	}
	return n, err
}

// What a connection may write: in one go, and for good. It is far more than servers write that are asked, and far
// less than what reading takes a core.
const (
	unitsAtOnce, unitsASecond = 5_000, 500
	bytesAtOnce, bytesASecond = 64 << 20, 32 << 20
)

// quota is how much a connection has written lately. Its zero value is ready.
type quota struct {
	units, bytes float64
	at           time.Time
}

// take counts what was read, and reports whether that is little enough.
func (q *quota) take(units, bytes int) bool {
	now := time.Now()
	passed := now.Sub(q.at).Seconds() // of the zero time: ages
	q.at = now
	q.units = max(0, q.units-passed*unitsASecond) + float64(units)
	q.bytes = max(0, q.bytes-passed*bytesASecond) + float64(bytes)
	return q.units <= unitsAtOnce && q.bytes <= bytesAtOnce
}
