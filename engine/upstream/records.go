package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// MaxRecord is the longest record that is read, in bytes. A whole call is one record at Ollama, so bufio.Scanner's
// 64 KiB would fail at every file that a model writes; without any bound a server could fill the memory.
const MaxRecord = 16 << 20

// KeepRecord is the longest buffer that goes back to the pool: one long record must not stay in memory for every
// later stream.
const KeepRecord = 64 << 10

var (
	ErrLong = errors.New("a record is longer than 16 MiB")  // nothing more of the stream can be read
	ErrCut  = errors.New("the stream ends inside a record") // so the reply is not complete
)

// Cut is the fault of a stream that ended before its reply did, by the error of the read; nil where the read ended well. Servers that see
// their client leave may end in good order, so the context is asked first.
func Cut(ctx context.Context, err error) *fault.Error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return wait.Broken(ctx, "", err)
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrLong):
		return fault.New(fault.Unavailable, "the model server's reply cannot be read: %w", err)
	case err == nil, err == io.EOF, errors.Is(err, ErrCut):
		return fault.New(fault.Unavailable, "%w", ErrUnfinished)
	}
	return wait.Broken(ctx, "", err)
}

// Scratch is what a stream needs to read records, kept from one stream to the next. Lines are parsed where they
// lie, so a token costs no allocation.
type Scratch struct {
	in     *bufio.Reader
	long   []byte // a record that did not fit into in
	parser fastjson.Parser
	Grown  bool // some record was longer than KeepRecord: the buffer is not used again
}

// NewScratch makes one with a small buffer: long records are rare, open streams are not.
func NewScratch(r io.Reader) *Scratch { return &Scratch{in: bufio.NewReaderSize(r, 4096)} }

// Scratches keep what the streams of one client need. The zero value is ready.
type Scratches struct{ pool sync.Pool }

// Get gives what is needed to read r.
func (p *Scratches) Get(r io.Reader) *Scratch {
	s, ok := p.pool.Get().(*Scratch)
	if !ok {
		return NewScratch(r)
	}
	s.in.Reset(r)
	return s
}

// Put keeps a stream's buffers for the next one, unless they have grown large.
func (p *Scratches) Put(s *Scratch) {
	s.in.Reset(nil)
	if !s.Grown {
		p.pool.Put(s)
	}
}

// Ahead is the next line with its line feed, if all of it has come already; else it is empty. The line stays the next one
// until Skip takes it.
func (s *Scratch) Ahead() []byte {
	have, _ := s.in.Peek(s.in.Buffered()) // never more than there is
	return have[:bytes.IndexByte(have, '\n')+1]
}

// Skip takes n bytes that Ahead has shown.
func (s *Scratch) Skip(n int) { s.in.Discard(n) }

// Next returns the next line that is not blank, without its end. It is valid until the following call.
// The error is io.EOF behind the last line; a last line without a line feed counts when whole says so.
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

// Line reads up to and including a line feed, into s.long when the line is longer than the reader's buffer. The
// time is linear in the line's length. The error is ErrLong beyond MaxRecord, else the reader's, with what came
// before it.
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

// Parse reads one record. The value is valid until the following call. Halves of surrogate pairs become U+FFFD
// first: fastjson would leave them in the text as the six characters \ud800.
func (s *Scratch) Parse(line []byte) (*fastjson.Value, error) {
	chat.MendSurrogates(line)
	return s.parser.ParseBytes(line)
}
