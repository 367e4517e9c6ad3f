package upstream

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

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

// CannotEmbed is err, as the client's fault when it says that the model cannot embed.
func CannotEmbed(model string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && strings.Contains(f.Message, "does not support embeddings") {
		return &fault.Error{Kind: fault.Invalid, Param: "model", Message: "the model " + model + " cannot embed", Cause: f}
	}
	return err
}
