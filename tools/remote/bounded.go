package remote

import (
	"fmt"
	"io"
	"time"
)

// bounded ends what is too large: a body, an event of a stream, or a line of a command; and a
// stream or a command that floods. A stream itself has no end, and what mcp-go puts together of it,
// it keeps in memory until the event is whole. It counts bytes as they pass and holds none.
type bounded struct {
	io.ReadCloser
	unit    unit
	n       int  // bytes of the unit that is being read
	line    int  // bytes of its line
	begun   int  // how much of messageStart its line has had
	message bool // the unit holds a message: its data began as an object or an array does
	all     quota
	noise   quota // of output that is not a message
}

// unit is the kind of thing that a bound limits.
type unit uint8

// The ends of units.
const (
	wholeBody unit = iota
	oneEvent       // up to an empty line
	oneLine
)

// messageStart is the prefix of a message in a line of an event stream; a line of a command has
// none.
const messageStart = "data:"

// excess is the error for something that exceeds a bound.
type excess string

// Error returns the sentence.
func (e excess) Error() string { return string(e) }

// Read counts what it passes on. An event ends with an empty line, which may be CRLF; so \r adds
// nothing to a line. What was read before the error is passed on, and mcp-go ends the
// connection.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var units, noises, noise int
	for _, c := range p[:n] {
		b.n++
		switch {
		case c == '\n' && (b.unit == oneLine || b.unit == oneEvent && b.line == 0):
			if !b.message {
				noises++
			}
			b.n, b.line, b.begun, b.message = 0, 0, 0, false
			units++
		case c == '\n':
			b.line, b.begun = 0, 0
		case c != '\r':
			b.line++
			if !b.message {
				b.begin(c)
				noise++
			}
		}
	}
	switch {
	case b.n > largestAnswer:
		return n, excess(fmt.Sprintf("the server's answer is larger than %d bytes", largestAnswer))
	case b.unit == wholeBody:
	case !b.all.take(units, n, maxAll):
		return n, excess(fmt.Sprintf(
			"the server floods: it writes more than %v messages or %v bytes a second",
			maxAll.unitsASecond, maxAll.bytesASecond))
	case !b.noise.take(noises, noise, maxNoise):
		return n, excess(fmt.Sprintf(
			"the server writes what is not MCP: more than %v lines or %v bytes at once",
			maxNoise.units, maxNoise.bytes))
	}
	return n, err
}

// begin looks at a byte of a line that may still begin a message.
func (b *bounded) begin(c byte) {
	data := len(messageStart)
	if b.unit == oneLine {
		data = 0
	}
	switch {
	case b.begun < 0:
	case b.begun < data && c == messageStart[b.begun]:
		b.begun++
	case b.begun == data && (c == ' ' || c == '\t'):
	case b.begun == data && (c == '{' || c == '['):
		b.message = true
	default:
		b.begun = -1
	}
}

// allowance is how much a server may write at once on a connection, and in the long run.
type allowance struct {
	units, unitsASecond, bytes, bytesASecond float64
}

// maxAll is far more than servers write that are asked, and far less than what reading takes a
// core. maxNoise holds what many commands write before their first message, and some between
// two: a banner, a log. A command that writes nothing else, or one line without an end, is ended
// before it costs anything.
var (
	maxAll   = allowance{units: 5_000, unitsASecond: 500, bytes: 64 << 20, bytesASecond: 32 << 20}
	maxNoise = allowance{units: 500, unitsASecond: 50, bytes: 256 << 10, bytesASecond: 16 << 10}
)

// quota is how much a connection has written lately. Its zero value is ready.
type quota struct {
	units, bytes float64
	at           time.Time
}

// take counts what was read, and reports whether it is within the allowance.
func (q *quota) take(units, bytes int, most allowance) bool {
	now := time.Now()
	passed := now.Sub(q.at).Seconds() // of the zero time: ages
	q.at = now
	q.units = max(0, q.units-passed*most.unitsASecond) + float64(units)
	q.bytes = max(0, q.bytes-passed*most.bytesASecond) + float64(bytes)
	return q.units <= most.units && q.bytes <= most.bytes
}
