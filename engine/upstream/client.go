package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

const (
	QuickTime = 10 * time.Second // for calls that need no model
	MaxError  = 64 << 10         // bytes read of an error's body
	maxHeader = 256 << 10        // bytes of an answer's head; those of model servers have a few hundred
	MaxRender = 64 << 20         // bytes read of a rendered prompt
)

// MaxVectors is how much of an answer full of vectors is read, in bytes: 16,384 texts of 4,096 dimensions in some
// 12 digits are less.
const MaxVectors = 1 << 30

// DrainTime is how long a finished stream is waited for, so that its connection can serve the next one. Longer
// would hold the client's reply open; a new connection costs less.
const DrainTime = 50 * time.Millisecond

// ErrUnfinished is the cause of a fault where a server ends a reply in good order, but before its end.
var ErrUnfinished = errors.New("the model server ended its reply in the middle: its log may say why")

// Transport is made for many streams to one host. It has no time limit on answers: Ollama sends its headers with
// the first record, and the Pulse watches that wait. Nothing is compressed, since compression holds bytes back. Go
// keeps two idle connections a host by default, so that above two streams every request would dial anew. Buffers
// are 4 KiB: 16 KiB on both sides would cost 32 KiB for each idle stream.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
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

// HTTP is an http.Client over a transport; nil means the network. Redirections are not followed: a POST would become a GET, and
// the answer one of another server.
func HTTP(rt http.RoundTripper) *http.Client {
	if rt == nil {
		rt = Transport()
	}
	return &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Caller posts the requests that a reply waits for, to one server. While that is busy they wait in its queue: a llama-server
// says 503 "Loading model" until it has, and that wait may last as long as a load.
type Caller struct {
	Do      func(ctx context.Context, url string, body []byte) (*http.Response, error) // waits for the head of the answer
	Refused func(resp *http.Response, text []byte) *fault.Error                        // what an answer means that is not 200
	Queue   wait.Queue
}

// Body is a request that writes itself: one with so much text in it that encoding/json, which copies everything twice and looks
// at each byte by itself, would be most of what a request costs.
type Body interface {
	JSON() (json.RawMessage, error)
}

// Post sends a body as JSON; the answer is 200, or an error. A page behind a 200 is one too (Misplaced): a web interface at
// that address, say.
// Marks are written as they are: a prompt is full of them, and longer with each as \u003c. A body that is a Body writes itself.
func (c *Caller) Post(ctx context.Context, p *wait.Pulse, url string, body any, w wait.Limit) (*http.Response, error) {
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
		resp, err := c.Do(ctx, url, data)
		p.End()
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			defer resp.Body.Close()
			text, _ := io.ReadAll(io.LimitReader(p.Reader(resp.Body, w, wait.Limit{}), MaxError))
			return nil, c.Refused(resp, text)
		}
		if err := Misplaced(resp); err != nil {
			return nil, errors.Join(err, resp.Body.Close())
		}
		return resp, nil
	})
}

// Document posts a request that is answered by one document, of which most bytes are read.
func (c *Caller) Document(ctx context.Context, p *wait.Pulse, url string, body any, first, later wait.Limit, most int64) ([]byte, error) {
	resp, err := c.Post(ctx, p, url, body, first)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(p.Reader(resp.Body, first, later), most))
	if err != nil {
		return nil, wait.Broken(ctx, "", err)
	}
	return data, nil
}

// CannotEmbed is err, as the client's fault when it says that the model cannot embed.
func CannotEmbed(model string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && strings.Contains(f.Message, "does not support embeddings") {
		return &fault.Error{Kind: fault.Invalid, Param: "model", Message: "the model " + model + " cannot embed", Cause: f}
	}
	return err
}
