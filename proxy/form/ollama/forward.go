package ollama

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/front"
	"toolnorm/internal/jsonscan"
	"toolnorm/internal/jsontree"
	"toolnorm/proxy/exchange"
)

// passOn passes a request that names a model on to that model's server. The reply is passed on
// unread, because it contains no calls. It returns an error if the server does not know Ollama's
// API or cannot be reached.
func (s *Server) passOn(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
	body, rt, err := s.asked(w, r, x, func(*fastjson.Value) bool { return true },
		func(*fastjson.Value) {})
	if err != nil {
		return err
	}
	if rt == nil {
		return fault.New(fault.Invalid, "the server of %q does not speak Ollama's API; ask at /v1",
			x.Model)
	}
	return s.forward(w, r, x, rt, body)
}

// change passes on a request that changes the models of the first server. Only administrators get
// this far (auth.Guard). The whole body is read first, because the first write of an answer closes
// the rest of a request's body, and a model server may answer before it has read everything. It
// returns an error if the body is too large, or if the server has another API or cannot be reached.
func (s *Server) change(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
	body, err := s.Run.Body(w, r)
	if err != nil {
		return err
	}
	return s.toFirst(w, r, x, body)
}

// upload passes a model's file on to the first server, for administrators. The file may have many
// gigabytes, so it is passed on unread, and the limit for requests does not apply. It returns an
// error if that server does not have Ollama's API or cannot be reached.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
	front.Upload(r)
	return s.toFirst(w, r, x, nil)
}

// toFirst passes a request on to the first model server, and copies its answer to the client. A nil
// body stands for the request's own body. It returns an error if that server does not have Ollama's
// API or cannot be reached.
func (s *Server) toFirst(w http.ResponseWriter, r *http.Request, x *exchange.Record,
	body []byte) error {
	rt, _, err := s.Upstream.Server(r.Context(), "", nil)
	if err != nil {
		return err
	}
	if rt == nil {
		return fault.New(fault.NotFound, "the first model server does not speak Ollama's API")
	}
	return s.forward(w, r, x, rt, body)
}

// secret lists headers that are meant for this server and must not reach the model server, such as
// a key for this server. Origin is one of them, because this server has already decided whether the
// page may ask.
var secret = []string{"Authorization", "Api-Key", "X-Api-Key", "Cookie", "Origin", "Referer"}

// forward passes a request on and copies its answer to the client as it arrives. A nil body stands
// for the request's own body. It removes the CORS headers of the model server, because this server
// decides which pages may read an answer. It never follows a redirection. The transport ends a
// broken answer with a record that says why. forward returns an error if the server cannot be
// reached or the answer was broken.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, x *exchange.Record,
	rt http.RoundTripper, body []byte) (err error) {
	x.Meta.Strategy = "forwarded"
	if body != nil {
		r = r.Clone(r.Context())
		r.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(body)), nil
		}
		r.Body, _ = r.GetBody()
		r.ContentLength = int64(len(body))
	}
	var from io.Reader // the answer
	p := &httputil.ReverseProxy{
		Transport: rt,
		Rewrite: func(p *httputil.ProxyRequest) {
			for _, name := range secret {
				p.Out.Header.Del(name)
			}
		},
		// Flush at once: a record that waits for the next one would look like a model that has
		// stopped.
		FlushInterval: -1,
		ModifyResponse: func(resp *http.Response) error {
			for name := range resp.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					resp.Header.Del(name)
				}
			}
			from = resp.Body
			return nil
		},
		// the client sees that the answer breaks off, so it need not be logged here
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, e error) { err = e },
	}
	to := &patient{ResponseWriter: w, stall: s.Run.Stall}
	p.ServeHTTP(to, r)
	x.Count = countsIn(to.tail)
	if b, ok := from.(interface{ Broken() error }); ok { // the last record has told the client
		err = b.Broken()
	}
	return err
}

// patient is a writer that fails if the client reads nothing for longer than stall. Otherwise a
// client that stops reading would occupy a place at the model server for ever.
type patient struct {
	http.ResponseWriter
	stall    time.Duration
	deadline time.Time
	tail     []byte // the last bytes that were written
}

// Write implements io.Writer. Each write may extend the time that the client has to read. To save
// work, that is done only if less than half of the time is left, since a fast model writes hundreds
// of records a second. It returns an error if the client has read nothing for that time.
func (p *patient) Write(b []byte) (int, error) {
	if now := time.Now(); p.stall > 0 && p.deadline.Sub(now) < p.stall/2 {
		p.deadline = now.Add(p.stall)
		// Only the writers of tests have no deadlines, so the error is ignored.
		_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(p.deadline)
	}
	p.tail = append(p.tail, b[max(0, len(b)-tailSize):]...)
	p.tail = append(p.tail[:0], p.tail[max(0, len(p.tail)-tailSize):]...)
	return p.ResponseWriter.Write(b)
}

// tailSize is how many bytes from the end of an answer are kept. The token counts are the last
// members of the last record.
const tailSize = 512

// countsIn returns the token counts in the end of an answer; a missing count is 0. The members are
// searched for one by one, because the JSON before them is cut off.
func countsIn(tail []byte) chat.Counts {
	number := func(name string) (n int) {
		at := bytes.LastIndex(tail, []byte(`"`+name+`":`))
		if at < 0 {
			return 0
		}
		for _, c := range bytes.TrimLeft(tail[at+len(name)+3:], " ") {
			if c < '0' || c > '9' || n > 1<<30 {
				break
			}
			n = 10*n + int(c-'0')
		}
		return n
	}
	return chat.Counts{Prompt: number("prompt_eval_count"),
		Completion: number("eval_count")}.FromCache(number("prompt_eval_cached_count"))
}

// Unwrap returns the underlying writer, by which http.ResponseController flushes.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// modelMembers returns the names of the members of a request that may name its model. It returns
// nil if v is not an object.
func modelMembers(v *fastjson.Value) (keys []string) {
	if o, err := v.Object(); err == nil {
		o.Visit(func(key []byte, _ *fastjson.Value) {
			if namesModel(string(key)) {
				keys = append(keys, string(key))
			}
		})
	}
	return keys
}

// renameModel returns the body of a request, a JSON object, with the model named as its server
// does. For example, the server box knows the model box/qwen3 as qwen3. Every other byte stays as
// the client wrote it. The memory of body is reused.
//
// If several members name a model, in upper or lower case, the server reads the last of them and
// this program the first. So only the one that was checked here is sent.
func renameModel(body []byte, name string) []byte {
	named := chat.AppendShortQuoted([]byte(`"model":`), name)
	for at, before := bytes.IndexByte(body, '{')+1, 0; ; {
		from := at + len(body[at:]) - len(bytes.TrimLeft(body[at:], " \t\r\n,"))
		if body[from] == '}' {
			return body
		}
		var key string
		value := from + jsontree.StringEnd(body[from:])
		_ = json.Unmarshal(body[from:value], &key) // the body was parsed before
		value += bytes.IndexByte(body[value:], ':') + 1
		to := value + new(jsonscan.Scanner).Add(body[value:])
		if at = to; !namesModel(key) {
			before = to
			continue
		}
		if named == nil { // a second one goes with the comma in front of it
			from = before
		}
		body = slices.Replace(body, from, to, named...)
		at, named = from+len(named), nil
		before = at
	}
}

// namesModel reports whether a member of a request is one that may name its model.
func namesModel(key string) bool {
	return strings.EqualFold(key, "name") || strings.EqualFold(key, "model")
}
