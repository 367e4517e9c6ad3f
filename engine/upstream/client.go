package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

const (
	QuickTime = 10 * time.Second // for calls that need no model
	MaxError  = 64 << 10         // bytes read of an error's body
	// bytes of an answer's header; those of model servers have a few hundred
	maxHeader = 256 << 10
	MaxRender = 64 << 20 // bytes read of a rendered prompt
)

// maxVectors is how many bytes are read of an answer with vectors. 16,384 texts of 4,096 dimensions
// with some 12 digits each take less.
const maxVectors = 1 << 30

// DrainTime is how long to wait for the end of a finished stream, so that its connection can be
// used for the next one. A longer wait would delay the end of the client's reply, and a new
// connection costs less.
const DrainTime = 50 * time.Millisecond

// ErrUnfinished is the cause of a fault if a server closes a reply properly, but before its end.
var ErrUnfinished = errors.New(
	"the model server ended its reply in the middle: its log may say why")

// Transport returns a transport for many streams to one host. It has no time limit on answers,
// because Ollama sends its headers with the first record, and the Pulse watches that wait. Nothing
// is compressed, since compression holds bytes back. It keeps more idle connections than the two
// per host that Go keeps by default, because with more than two streams every request would dial
// anew. Buffers have 4 KiB, since 16 KiB on both sides would cost 32 KiB for each idle stream.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second,
			KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        90 * time.Second,
		ReadBufferSize:         4 << 10,
		WriteBufferSize:        4 << 10,
	}
}

// HTTP returns an http.Client with the given transport. If rt is nil, it uses the result of the
// function Transport. The client does not follow redirections, because a POST would become a GET,
// and the answer would come from another server.
func HTTP(rt http.RoundTripper) *http.Client {
	if rt == nil {
		rt = Transport()
	}
	return &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// Caller sends requests to one server and reads the answers. While the server is busy, requests for
// a reply wait in the Queue. Ollama says 503 "server busy, please try again" if OLLAMA_MAX_QUEUE
// requests wait already, and a llama-server says 503 "Loading model" until the model is loaded.
type Caller struct {
	HTTP *http.Client
	// headers that are added to every request
	Header http.Header
	// the error message if the server cannot be reached
	Gone string
	// returns the fault for an answer other than 200
	Refused func(resp *http.Response, text []byte) *fault.Error
	Queue   wait.Queue

	scratches Scratches
	documents Documents
}

// send sends a request and waits for the header of the answer. A nil body sends no body. It returns
// a fault if the server cannot be reached or ctx ends.
func (c *Caller) send(ctx context.Context, method, url string, body []byte) (
	*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// This key is not sent: it allows http.Transport to send a POST again when a kept connection
	// turns out to be closed, as a llama-server closes one after its hundredth request, and a load
	// balancer after its own time.
	req.Header["Idempotency-Key"] = nil
	maps.Copy(req.Header, c.Header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	setConversation(ctx, req.Header)
	// the caller's trace continues at the server
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, wait.AsFault(ctx, c.Gone, err)
	}
	return resp, nil
}

// Quick requests a JSON document that needs no model, within QuickTime, and decodes it into the
// last argument. It uses POST if body is not nil. It returns an error if the server cannot be
// reached, refuses, or sends no JSON. At most MaxRender bytes of an answer are read, since a
// description of a model with its vocabulary has some 20 MB.
func (c *Caller) Quick(ctx context.Context, url string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, QuickTime)
	defer cancel()
	method, data := http.MethodGet, json.RawMessage(nil)
	if body != nil {
		method = http.MethodPost
		data, _ = chat.JSON(body) // cannot fail: names of models and switches
	}
	resp, err := c.send(ctx, method, url, data)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxRender))
	switch {
	case err != nil:
		return wait.AsFault(ctx, "", err)
	case resp.StatusCode != http.StatusOK:
		return c.Refused(resp, text)
	// servers that imitate others send an empty answer when they have nothing to say
	case len(text) == 0:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fault.New(fault.Unavailable, "the answer of %s cannot be read: %v", url, err)
	}
	return nil
}

// Body is a request that encodes itself. It is for requests with so much text that encoding/json,
// which copies everything twice and looks at every byte, would make up most of the request's cost.
type Body interface {
	JSON() (json.RawMessage, error)
}

// Post sends a body as JSON, and returns the answer if its status is 200. Any other status is an
// error, and so is a web page with status 200 (PageFault), for example from a web interface at that
// address. The characters < > and & are not escaped, because a prompt is full of them, and each
// would become longer as \u003c. A body that implements Body encodes itself.
func (c *Caller) Post(ctx context.Context, p *wait.Pulse, url string, body any, w wait.Limit) (
	*http.Response, error) {
	write := func() (json.RawMessage, error) { return chat.JSON(body) }
	if b, ok := body.(Body); ok {
		write = b.JSON
	}
	data, err := write()
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	return c.Queue.Pass(ctx, p, func() (*http.Response, error) {
		p.Begin(w)
		resp, err := c.send(ctx, http.MethodPost, url, data)
		p.End()
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			defer resp.Body.Close()
			text, _ := io.ReadAll(io.LimitReader(p.Reader(resp.Body, w, wait.Limit{}), MaxError))
			return nil, c.Refused(resp, text)
		}
		if err := PageFault(resp); err != nil {
			return nil, errors.Join(err, resp.Body.Close())
		}
		return resp, nil
	})
}

// Embed posts texts and decodes their vectors into reply, whose type has the form of the server's
// answer. It returns an error if the request fails. If the model makes no vectors, the error is
// fault.Invalid. The answer is one document, whose first byte comes when all texts are read.
func (c *Caller) Embed(ctx context.Context, p *wait.Pulse, url, model string, texts,
	reply any) error {
	resp, err := c.Post(ctx, p, url, texts, p.UntilFirst())
	if err != nil {
		return Meant(err, "does not support embeddings", "model", "the model "+model+
			" cannot embed")
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(p.Reader(resp.Body, p.UntilFirst(), p.Later()),
		maxVectors))
	if err != nil {
		return wait.AsFault(ctx, "", err)
	}
	if err = json.Unmarshal(data, reply); err == nil && hasNull(data) {
		err = errors.New("null stands in place of a vector or a number")
	}
	if err != nil {
		return fault.New(fault.Unavailable, "the model server's embeddings cannot be read: %w", err)
	}
	return nil
}

// hasNull reports whether a list in a document has null as an element. llama-server writes null for
// a number that it could not compute, and encoding/json reads it as zero.
func hasNull(document []byte) bool {
	null := []byte("null")
	for before, rest, ok := bytes.Cut(document, null); ok; before, rest, ok = bytes.Cut(rest, null) {
		before = bytes.TrimRight(before, " \t\r\n")
		if bytes.HasSuffix(before, []byte("[")) || bytes.HasSuffix(before, []byte(",")) {
			return true
		}
	}
	return false
}

// Text posts a request that is answered by one document, and returns the string at path in the
// document, or "" if there is none. The string is the prompt that a server renders, which may be
// megabytes. The server may have to load the model for it. Text returns an error if the request
// fails or the document cannot be read.
func (c *Caller) Text(ctx context.Context, p *wait.Pulse, url string, body any, path ...string) (
	string, error) {
	resp, err := c.Post(ctx, p, url, body, p.Loading())
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := c.documents.Read(p.Reader(resp.Body, p.Loading(), wait.Limit{}), MaxRender,
		resp.Request.ContentLength, path...)
	// The error for a document that was read but has no rendering explains itself; any other error
	// is one of the connection.
	if _, unread := errors.AsType[*fault.Error](err); err != nil && !unread {
		return "", wait.AsFault(ctx, "", err)
	}
	return text, err
}

// Stream posts a request whose reply is a stream of records, and returns the stream. Servers send
// their header with the first record, so the wait for the header covers loading the model and
// reading the prompt. The parameter first limits this wait, and the parameter later each wait after
// it. Stream returns an error if the server refuses or cannot be reached.
func (c *Caller) Stream(ctx context.Context, p *wait.Pulse, url string, body any, first,
	later wait.Limit) (Stream, error) {
	resp, err := c.Post(ctx, p, url, body, first)
	if err != nil {
		return Stream{}, err
	}
	s := c.scratches.Stream(ctx, resp.Body, p.Reader(resp.Body, first, later))
	s.Header = resp.Header
	return s, nil
}

// Meant returns a fault.Invalid for the client, with the field of the request that is wrong, if the
// server's message contains the given words. Otherwise it returns err itself. It is for abilities
// that a model does not have, which its server reports as a failure of its own.
func Meant(err error, words, param, message string) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && strings.Contains(f.Message, words) {
		return &fault.Error{Kind: fault.Invalid, Param: param, Message: message, Cause: f}
	}
	return err
}

// InProcess returns a transport to a handler in this process, without sockets. Each request has a
// connection of its own, which is a pipe. At the other end of the pipe net/http runs the handler.
// So the demo is a model server like any other, but needs no port. A client that leaves ends the
// handler's context, and a handler that panics aborts its answer.
func InProcess(h http.Handler) http.RoundTripper {
	t := Transport()
	// a pipe costs nothing to make, and an idle one would keep its goroutines alive
	t.Proxy, t.DisableKeepAlives = nil, true
	t.DialContext = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
		go s.Serve(&once{server}) // returns at once; the connection is still served
		return client, nil
	}
	return t
}

// once is a listener that accepts one connection.
type once struct{ conn net.Conn }

// Accept implements net.Listener. It returns the connection the first time, and net.ErrClosed after
// that.
func (l *once) Accept() (c net.Conn, err error) {
	if c, l.conn = l.conn, nil; c == nil {
		err = net.ErrClosed
	}
	return c, err
}

// Close implements net.Listener. It does nothing and returns nil, because the connection belongs to
// the server.
func (l *once) Close() error { return nil }

// Addr implements net.Listener. It returns an address that is never dialed.
func (l *once) Addr() net.Addr { return &net.UnixAddr{} }

// SetBody gives a request another body. The transport may read it again when a connection that it
// keeps turns out to be closed, so all fields that describe the body have to change together.
func SetBody(r *http.Request, body []byte) {
	again := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) }
	r.Body, r.ContentLength = again(), int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return again(), nil }
}
