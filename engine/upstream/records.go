package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// maxRecord is the longest record that is read, in bytes. A whole call is one record.
const MaxRecord = 16 << 20

// keepRecord is the longest buffer that goes back to the pool.
const KeepRecord = 64 << 10

var (
	ErrLong = errors.New("a record is longer than 16 MiB")  // nothing more of the stream can be read
	ErrCut  = errors.New("the stream ends inside a record") // so the reply is not complete
)

// Scratch is what a stream needs to read records, kept from one stream to the next.
type Scratch struct {
	in     *bufio.Reader
	long   []byte // a record that did not fit into in
	parser fastjson.Parser
	Grown  bool // some record was longer than keepRecord
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

// Waiting says that a whole line has come already.
func (s *Scratch) Waiting() bool {
	have, _ := s.in.Peek(s.in.Buffered()) // never more than there is
	return bytes.IndexByte(have, '\n') >= 0
}

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

// Line reads up to and including a line feed, into s.long when the line is longer than the reader's buffer.
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

// Parse reads one record. The value is valid until the following call.
func (s *Scratch) Parse(line []byte) (*fastjson.Value, error) {
	chat.MendSurrogates(line)
	return s.parser.ParseBytes(line)
}
