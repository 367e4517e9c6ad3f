package remote

import (
	"fmt"
	"io"
	"time"
)

// bounded is a reader that fails when a server sends too much. It limits the size of a body, of an
// event in a stream and of a line of a command, because mcp-go keeps each in memory until it is
// complete. It also limits how much a stream or command sends in a time. bounded only counts the
// bytes that pass, and stores none.
type bounded struct {
	io.ReadCloser
	unit unit
	n    int // bytes of the unit that is being read
	line int // bytes of the current line
	// how many bytes of messageStart the current line has matched; -1: it is not a message
	begun   int
	message bool // the unit contains a message: its data began like an object or an array
	// counts everything that was read
	all   quota
	noise quota // counts output that is not a message
}

// unit is what a bound limits: a whole body, an event or a line.
type unit uint8

// The kinds of unit.
const (
	wholeBody unit = iota
	oneEvent       // up to an empty line
	oneLine
)

// messageStart is the prefix of a message in a line of an event stream. In a command's output,
// messages have no prefix.
const messageStart = "data:"

// excess is the error for a server that exceeds a bound.
type excess string

// Error implements error. It returns a sentence that names the bound.
func (e excess) Error() string { return string(e) }

// Read implements io.Reader. If what was read exceeds a bound, it returns an error of type excess,
// together with the bytes read so far; mcp-go then ends the connection. An event ends with an empty
// line. Such a line may be CRLF, so \r is not counted as part of a line.
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

// begin examines the next byte of a line, and sets b.message if it shows that the line begins a
// message.
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

// allowance is how much a server may write on a connection: at once, and per second in the long
// run.
type allowance struct {
	units, unitsASecond, bytes, bytesASecond float64
}

// maxAll is far more than servers write when they are asked, and far less than what would take a
// whole processor core to read. maxNoise is enough for what many commands write before their first
// message and between two, such as a banner or a log. A command that writes nothing but noise, or
// one line without an end, is ended before it costs anything.
var (
	maxAll   = allowance{units: 5_000, unitsASecond: 500, bytes: 64 << 20, bytesASecond: 32 << 20}
	maxNoise = allowance{units: 500, unitsASecond: 50, bytes: 256 << 10, bytesASecond: 16 << 10}
)

// quota counts how much a connection has written recently. Its zero value is ready to use.
type quota struct {
	units, bytes float64
	at           time.Time
}

// take adds what was read, in units (lines or events) and in bytes, to the quota. It reports
// whether the server keeps within the allowance most.
func (q *quota) take(units, bytes int, most allowance) bool {
	now := time.Now()
	passed := now.Sub(q.at).Seconds() // the zero time is ages ago
	q.at = now
	q.units = max(0, q.units-passed*most.unitsASecond) + float64(units)
	q.bytes = max(0, q.bytes-passed*most.bytesASecond) + float64(bytes)
	return q.units <= most.units && q.bytes <= most.bytes
}
