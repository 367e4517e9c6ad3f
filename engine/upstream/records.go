package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// MaxRecord is how many bytes a record may have. Ollama sends a whole call as one record, so
// bufio.Scanner's 64 KiB would fail for every file that a model writes. Without any bound a server
// could exhaust the memory.
const MaxRecord = 16 << 20

// KeepRecord is the size of the longest buffer that is returned to the pool, in bytes, because one
// long record must not stay in memory for every later stream.
const KeepRecord = 64 << 10

var (
	// nothing more of the stream can be read then
	ErrLong = errors.New("a record is longer than 16 MiB")
	ErrCut  = errors.New("the stream ends inside a record") // then the reply is not complete
)

// Cut returns the fault of a stream that ended before its reply did. The parameter err is the error
// of the read, or nil if the stream ended with EOF. A server may end the stream properly when its
// client leaves, so the context is checked first.
func Cut(ctx context.Context, err error) *fault.Error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return wait.AsFault(ctx, "", err)
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrLong):
		return fault.New(fault.Unavailable, "the model server's reply cannot be read: %w", err)
	case err == nil, err == io.EOF, errors.Is(err, ErrCut):
		return fault.New(fault.Unavailable, "%w", ErrUnfinished)
	}
	return wait.AsFault(ctx, "", err)
}

// Scratch is the memory that a stream needs to read records. It is used again for later streams.
// Lines are parsed in place, so a token costs no allocation.
type Scratch struct {
	in     *bufio.Reader
	long   []byte // a record that did not fit into in
	parser fastjson.Parser
	Grown  bool // some record was longer than KeepRecord: the buffer is not used again
}

// NewScratch returns a Scratch with a small buffer, because long records are rare, but open streams
// are not.
func NewScratch(r io.Reader) *Scratch { return &Scratch{in: bufio.NewReaderSize(r, 4096)} }

// Scratches keep the memory of a client's streams for later streams. The zero value is ready to
// use.
type Scratches struct{ pool sync.Pool }

// Get returns a Scratch that reads from r.
func (p *Scratches) Get(r io.Reader) *Scratch {
	s, ok := p.pool.Get().(*Scratch)
	if !ok {
		return NewScratch(r)
	}
	s.in.Reset(r)
	return s
}

// Put keeps a stream's memory for the next stream, unless it has grown large.
func (p *Scratches) Put(s *Scratch) {
	s.in.Reset(nil)
	if !s.Grown {
		p.pool.Put(s)
	}
}

// Ahead returns the next line with its line feed. If the line has not arrived completely, the
// result is empty. The line stays the next one until Skip discards it.
func (s *Scratch) Ahead() []byte {
	have, _ := s.in.Peek(s.in.Buffered()) // never more than is buffered
	return have[:bytes.IndexByte(have, '\n')+1]
}

// Skip discards n bytes that Ahead has returned.
func (s *Scratch) Skip(n int) { s.in.Discard(n) }

// Next returns the next line that is not blank, without its line feed. The line is valid until the
// following call. The result whole is false for a last line without a line feed. After the last
// line the error is io.EOF. Any other error is ErrLong or the reader's.
func (s *Scratch) Next() (line []byte, whole bool, err error) {
	for {
		line, err = s.Line()
		whole = err == nil
		if err != nil && !(err == io.EOF && len(line) > 0) {
			return nil, false, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, whole, nil
		}
		if !whole {
			return nil, false, io.EOF
		}
	}
}

// Line returns the next line with its line feed. The time is linear in the line's length. It
// returns ErrLong for a line beyond MaxRecord. Any other error is the reader's, and is returned
// together with the text before it.
func (s *Scratch) Line() ([]byte, error) {
	part, err := s.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, err
	}
	s.long = s.long[:0]
	for err == bufio.ErrBufferFull {
		if len(s.long)+len(part) > MaxRecord {
			return nil, ErrLong
		}
		s.long = append(s.long, part...)
		part, err = s.in.ReadSlice('\n')
	}
	s.long = append(s.long, part...)
	if len(s.long) > MaxRecord {
		return nil, ErrLong
	}
	s.Grown = s.Grown || len(s.long) > KeepRecord
	return s.long, err
}

// Parse parses one record, and returns an error if it is not JSON. The value is valid until the
// following call. Halves of surrogate pairs become U+FFFD first, because fastjson would leave them
// in the text as the six characters \ud800.
func (s *Scratch) Parse(line []byte) (*fastjson.Value, error) {
	chat.MendSurrogates(line)
	return s.parser.ParseBytes(line)
}

// Stream reads a model server's reply, for every kind of server. Next returns the events in Queue
// one by one. When there are no more, it calls Read, the part that differs between the kinds of
// servers. Only one goroutine may use a Stream. Nothing is read before it is asked for, so a slow
// client slows the server down.
type Stream struct {
	Ctx     context.Context // ends the reads; its cause says why
	Scratch *Scratch        // reads the records; nil after Close
	// queues the events of the next record; its error ends the stream after these
	Read  func() error
	Text  chat.Strings // fragments of a few bytes share one allocation
	Queue []chat.Event // events of the last record; the memory is reused

	body io.ReadCloser
	pool *Scratches
	head int   // Queue[:head] has been returned
	over error // error that Next returns as soon as the queue is empty

	// The fields that only the beginning and the end of a reply need come after those that every
	// event uses.
	In     *wait.Reader // reads what the server sends, with a time limit on each read
	Header http.Header  // headers of the answer
}

// Stream returns a Stream of the records in an answer. The parameter body is the answer's body, and
// the parameter in reads from it.
func (p *Scratches) Stream(ctx context.Context, body io.ReadCloser, in *wait.Reader) Stream {
	return Stream{Ctx: ctx, In: in, Scratch: p.Get(in), body: body, pool: p}
}

// Next implements chat.Source: it returns the next event. All events of a record come before the
// error of the record, because text before a fault has been written and belongs to the client. The
// error is io.EOF after a complete reply.
func (s *Stream) Next() (chat.Event, error) {
	for s.head == len(s.Queue) {
		if s.over != nil {
			return chat.Event{}, s.over
		}
		s.Queue, s.head = s.Queue[:0], 0
		s.over = s.Read()
	}
	s.head++
	return s.Queue[s.head-1], nil
}

// Close implements chat.Source, and returns the error of closing the answer. If the reply is not
// complete, it closes the connection at once. Otherwise it reads the end, so that the connection
// can be reused. A server stops generating when the connection is closed (Ollama 0.24 answered the
// next request 0.11 s later), so Close does not read on for a client that has gone.
func (s *Stream) Close() error {
	if s.Scratch == nil {
		return nil
	}
	if s.over == io.EOF {
		stop := time.AfterFunc(DrainTime, func() { s.body.Close() })
		// Only the end of the chunks comes after the last record. If more comes, or nothing, the
		// connection is not reused.
		io.Copy(io.Discard, io.LimitReader(s.body, 4096))
		stop.Stop()
	} else {
		s.over = fault.New(fault.Canceled, "the reply was closed")
	}
	s.pool.Put(s.Scratch)
	s.Scratch, s.Queue, s.head = nil, nil, 0
	return s.body.Close()
}
