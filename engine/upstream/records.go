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
const maxRecord = 16 << 20

// keepRecord is the longest buffer that goes back to the pool.
const keepRecord = 64 << 10

var (
	errLong = errors.New("a record is longer than 16 MiB")
	errCut  = errors.New("the stream ends inside a record")
)

// scratch is what a stream needs to read records, kept from one stream to the next.
type scratch struct {
	in     *bufio.Reader
	long   []byte // a record that did not fit into in
	parser fastjson.Parser
	grown  bool // some record was longer than keepRecord
}

// newScratch makes one with a small buffer: long records are rare, open streams are not.
func newScratch(r io.Reader) *scratch { return &scratch{in: bufio.NewReaderSize(r, 4096)} }

// scratches keep what the streams of one client need. The zero value is ready.
type scratches struct{ pool sync.Pool }

// get gives what is needed to read r.
func (p *scratches) get(r io.Reader) *scratch {
	s, ok := p.pool.Get().(*scratch)
	if !ok {
		return newScratch(r)
	}
	s.in.Reset(r)
	return s
}

// put keeps a stream's buffers for the next one, unless they have grown large.
func (p *scratches) put(s *scratch) {
	s.in.Reset(nil)
	if !s.grown {
		p.pool.Put(s)
	}
}

// waiting says that a whole line has come already.
func (s *scratch) waiting() bool {
	have, _ := s.in.Peek(s.in.Buffered()) // never more than there is
	return bytes.IndexByte(have, '\n') >= 0
}

// next returns the next line that is not blank, without its end. It is valid until the following call.
// The error is io.EOF behind the last line; a last line without a line feed counts when whole says so.
func (s *scratch) next() (line []byte, whole bool, err error) {
	for {
		line, err = s.line()
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

// line reads up to and including a line feed, into s.long when the line is longer than the reader's buffer.
func (s *scratch) line() ([]byte, error) {
	part, err := s.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return part, err
	}
	s.long = s.long[:0]
	for err == bufio.ErrBufferFull {
		if len(s.long)+len(part) > maxRecord {
			return nil, errLong
		}
		s.long = append(s.long, part...)
		part, err = s.in.ReadSlice('\n')
	}
	s.long = append(s.long, part...)
	if len(s.long) > maxRecord {
		return nil, errLong
	}
	s.grown = s.grown || len(s.long) > keepRecord
	return s.long, err
}

// parse reads one record. The value is valid until the following call.
func (s *scratch) parse(line []byte) (*fastjson.Value, error) {
	chat.MendSurrogates(line)
	return s.parser.ParseBytes(line)
}
