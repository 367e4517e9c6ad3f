package mcpserver

import (
	"cmp"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// readBody reads a request whole, within its limits.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *rpcError) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fail(codeRequest, "a message has the Content-Type application/json").withStatus(http.StatusUnsupportedMediaType)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fail(codeRequest, "a message may have %d bytes", s.cfg.MaxBody).withStatus(http.StatusRequestEntityTooLarge)
	case err != nil:
		return nil, fail(codeParse, "the message broke off").withStatus(http.StatusBadRequest)
	}
	return body, nil
}

// readOne reads a request that is a single message.
func (s *Server) readOne(w http.ResponseWriter, r *http.Request) (message, *rpcError) {
	body, fault := s.readBody(w, r)
	if fault != nil {
		return message{}, fault
	}
	return readMessage(body)
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, id []byte, fault *rpcError) {
	s.write(w, frame{body: fault.frame(id), status: fault.httpStatus(false)})
}

// write answers with one frame. A result is written as it is, since it may be large and sent to many.
func (s *Server) write(w http.ResponseWriter, f frame) {
	head, tail := []byte(nil), ""
	if f.id != nil {
		head, tail = appendHead(make([]byte, 0, 64), f.id), "}"
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(head)+len(f.body)+len(tail)))
	h.Set("Cache-Control", "no-store")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.Stall)) // a recorder in a test has no deadlines
	w.WriteHeader(cmp.Or(f.status, http.StatusOK))
	for _, part := range [][]byte{head, f.body, []byte(tail)} {
		_, _ = w.Write(part) // a client that has gone needs no answer
	}
}

// busy says that there is no room now.
func (s *Server) busy(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	s.refuse(w, nil, fail(codeInternal, "%s; try again in a second", why).withStatus(http.StatusServiceUnavailable))
}

// tooMany says after how long a client may go on.
func (s *Server) tooMany(w http.ResponseWriter, wait time.Duration) {
	seconds := int(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	s.refuse(w, nil, fail(codeInternal, "too many messages; try again in %d s", seconds).withStatus(http.StatusTooManyRequests))
}
