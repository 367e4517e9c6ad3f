package upstream

import (
	"context"
	"io"
	"net/http"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Stream is what the sources of all servers' replies share: events that were read are given out one by one, and Read reads
// more. One goroutine reads it, and nothing is read before it is asked for, so a slow client slows the server down.
type Stream struct {
	Ctx     context.Context // ends the reads; its cause says why
	In      *wait.Reader    // what the server sends, each read a wait
	Header  http.Header     // of the answer
	Scratch *Scratch        // the records; nil once it is closed
	Read    func() error    // queues what the next record holds; its error is what ends the stream behind that
	Text    chat.Strings    // fragments of a few bytes share one allocation
	Queue   []chat.Event    // what the last record held; its memory is used again

	body io.ReadCloser
	pool *Scratches
	head int   // Queue[:head] has been given out
	over error // what Next returns once the queue is empty
}

// Stream is one over the body of an answer, of which in reads.
func (p *Scratches) Stream(ctx context.Context, body io.ReadCloser, in *wait.Reader) Stream {
	return Stream{Ctx: ctx, In: in, Scratch: p.Get(in), body: body, pool: p}
}

// Next gives the next event. What a record held is given out to the end before its error: text in front of a fault
// has been written and belongs to the client.
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

// Close stops the upstream: at once when the reply is not complete, else so that the connection can be used again. A server takes a
// closed connection as the sign to stop generating (Ollama 0.24 answered the next request 0.11 s later), so nothing is read on
// for a client that has gone.
func (s *Stream) Close() error {
	if s.Scratch == nil {
		return nil
	}
	if s.over == io.EOF {
		stop := time.AfterFunc(DrainTime, func() { s.body.Close() })
		// Behind the last record there is only the end of the chunks. What is longer, or does not come, costs the
		// connection.
		io.Copy(io.Discard, io.LimitReader(s.body, 4096))
		stop.Stop()
	} else {
		s.over = fault.New(fault.Canceled, "the reply was closed")
	}
	s.pool.Put(s.Scratch)
	s.Scratch, s.Queue, s.head = nil, nil, 0
	return s.body.Close()
}
