package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Stdio answers one client on two streams, with one message per line: it reads the client's
// messages from the stream in, and writes answers to the stream out. When the input has ended, it
// waits for the answers at most for the grace period, and then returns nil. The waiting is for
// scripts whose input ends immediately, such as echo '{"jsonrpc":"2.0",…}' | toolnorm mcp. It
// returns an error if ctx ends first, or if one of the streams fails.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer,
	grace time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled) // ends the tools that still run
	c := &conn{session: &session{id: newUUID()}, ctx: ctx, box: newOutbox()}
	defer s.engine.hub.add(newsFor(c))()
	defer s.cfg.Gateway.Left(c.id)
	read, written := make(chan error, 1), make(chan error, 1)
	go func() { read <- s.readLines(c, in) }()        // ends with in, which may outlast us
	go func() { written <- writeLines(out, c.box) }() // ends with the outbox
	var err error
	select {
	// A client that closes its end may still read what it has asked for.
	case err = <-read:
		c.settle(grace)
	case err = <-written:
		return fmt.Errorf("write to the MCP client: %w", err)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.box.end(io.EOF)
	if werr := <-written; err == io.EOF {
		err = werr
	}
	return err
}

// settle waits until the conn's messages are answered, at most for the grace period. It polls every
// millisecond, since it runs only once, at the end.
func (c *conn) settle(grace time.Duration) {
	for end := time.Now().Add(grace); c.pending.Load() > 0 && time.Now().Before(end) &&
		c.ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
}

// readLines reads lines from in and submits the messages in them. A line that is no valid message
// is answered with an error on the stream, since stdio has no status as HTTP has. readLines returns
// when it cannot read or answer; at the end of in, the error is io.EOF.
func (s *Server) readLines(c *conn, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r, int(s.cfg.MaxBody))
		if err != nil && !errors.Is(err, errLong) {
			return err
		}
		all, rpcErr := c.split(line)
		if err != nil {
			all, rpcErr = nil, fail(codeRequest, "a message may have at most %d bytes",
				s.cfg.MaxBody)
		}
		if rpcErr != nil {
			if err := c.box.send(c.ctx, frame{body: rpcErr.frame(nil)}); err != nil {
				return err
			}
		}
		for _, raw := range all {
			if err := s.queue.receive(c.ctx, c, raw); err != nil {
				return err
			}
		}
	}
}

// split returns the messages in what a client has sent: one message, or all those of a batch. It
// returns an error for an invalid batch, and for any batch if the client's MCP revision has none.
func (c *conn) split(raw []byte) ([]json.RawMessage, *rpcError) {
	switch {
	case !isBatch(raw):
		return []json.RawMessage{raw}, nil
	case c.now().version > oldest:
		return nil, noBatches()
	}
	return readBatch(raw)
}

// receive submits a message of a client, whose sender is in ctx. If the message cannot be accepted,
// the client gets an error on the stream. receive returns an error if that cannot be sent.
func (q *queue) receive(ctx context.Context, c *conn, raw []byte) error {
	m, rpcErr := readMessage(raw)
	m.ctx = ctx
	if rpcErr == nil && q.submit(c, m) != nil {
		rpcErr = fail(codeInternal, "%v; send this one again later", errBusy)
	}
	if rpcErr == nil {
		return nil
	}
	return c.box.send(c.ctx, frame{body: rpcErr.frame(m.id)})
}

// errLong is returned for a line that is too long and was skipped. The id of its message is
// unknown, so the answer has the id null.
var errLong = errors.New("the line is too long")

// readLine returns the next line that is not empty, without its end; the last line may lack an end.
// A line of more than longest bytes is skipped without storing it, and the error is errLong, so the
// next message can be read as usual. At the end of the input the error is io.EOF.
func readLine(r *bufio.Reader, longest int) (line []byte, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > longest; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (err != io.EOF || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// writeLines writes the frames of an outbox, one per line, until the outbox ends. A frame contains
// no line break, since its JSON is compact, and breaks in texts are \n. It returns an error if w
// cannot be written to.
func writeLines(w io.Writer, b *outbox) error {
	for {
		frames := b.take()
		for _, f := range frames {
			if _, err := w.Write(append(f.append(nil), '\n')); err != nil {
				b.end(err)
				return err
			}
		}
		if len(frames) == 0 {
			if b.ended() != nil {
				return nil
			}
			<-b.more
		}
	}
}
