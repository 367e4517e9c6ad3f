package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// RoundTrip implements http.RoundTripper. It passes a request of Ollama's own API on as it is:
// path, query, header and body. The host becomes the server's. The only time limit is the request's
// context, since pulling a model may take long. The path keeps its escapes, so that nothing in it
// is decoded twice. The transport is called directly, so a redirection is returned as the server's
// answer, which passable handles. It returns a fault if the server cannot be reached.
func (o *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(o.base + r.URL.EscapedPath())
	if err != nil {
		return nil, err
	}
	to.RawQuery = r.URL.RawQuery
	out := r.Clone(r.Context())
	out.URL, out.Host = to, ""
	resp, err := o.calls.HTTP.Transport.RoundTrip(out)
	if err != nil {
		return nil, wait.AsFault(r.Context(), o.calls.Gone, err)
	}
	return resp, nil
}

// Replies are the paths of Ollama's API at which a model answers. To these the limits on waiting
// for a model apply. Other requests, such as pulling a model, may take any time.
var Replies = []string{"/api/generate", "/api/chat", "/api/embed", "/api/embeddings"}

// WatchAnswers returns a transport to an Ollama server whose answers always end properly, although
// they are passed on unread. A model's reply may take longer than t allows, or the server may break
// off. Then the client gets an error answer, or, if the answer has begun, an error as its last
// record. Without this a client would see its connection break, which Python's http calls
// IncompleteRead, and not learn why. The parameter called is the model's name on the server, and
// client is the client's name for it. Records get the client's name, because some clients compare
// it with what they asked for.
func WatchAnswers(rt http.RoundTripper, t wait.Timeouts, called, client string) http.RoundTripper {
	return &watched{rt, t, namesOf(called, client)}
}

// watched is the transport that WatchAnswers returns.
type watched struct {
	way    http.RoundTripper
	limits wait.Timeouts // for replies; other answers have no limits
	names  names
}

// RoundTrip implements http.RoundTripper: it sends a request and waits for the header of its
// answer. After that the limits apply to the reads of the body, until its Close, which the caller
// must call for every answer. It returns an error if the wait is too long, if the server cannot be
// reached, or if its answer cannot be passed on.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	isReply := slices.Contains(Replies, r.URL.Path)
	ctx, p := wait.NewPulse(mute{r.Context()}, nil, w.limits)
	var first, later wait.Limit
	if isReply {
		// It is not known here whether the request has tools, so a call may be held back.
		first, later = p.UntilFirst(), p.Withheld()
	}
	p.Begin(first)
	resp, err := w.way.RoundTrip(r.WithContext(ctx))
	p.End()
	if err != nil {
		p.Stop()
		return nil, cause(r.Context(), err)
	}
	resp.Body = &watchedBody{Reader: p.Reader(resp.Body, first, later), asked: r.Context(),
		ctx: ctx, body: resp.Body, pulse: p}
	if err := passable(resp, isReply, w.names); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// cause returns the error for a request that failed with err. The parameter asked is the context of
// the caller. If the caller ended it with a fault as its cause, for example because this server is
// being stopped, cause returns that fault, and otherwise err. The transport cannot see this cause,
// because its context hides it (see mute), so its error would say that the client had gone away.
func cause(asked context.Context, err error) error {
	var f *fault.Error
	if errors.As(context.Cause(asked), &f) {
		return f
	}
	return err
}

// mute is a context that hides the values of the context inside it. One of these is the trace that
// httputil.ReverseProxy sets. With this trace net/http passes on every 1xx header that a server
// sends before its answer, and a server could send such headers without end.
type mute struct{ context.Context }

// Value returns nil for every key.
func (mute) Value(any) any { return nil }

// watchedBody is the body of an answer whose reads have time limits.
type watchedBody struct {
	io.Reader
	asked context.Context // the client's context
	ctx   context.Context // the request's context; its cause says why a read broke off
	body  io.Closer
	pulse *wait.Pulse
}

// Read implements io.Reader. An error that breaks the answer off is returned as a fault.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.asked, wait.AsFault(b.ctx, "", err))
	}
	return n, err
}

// Close implements io.Closer. It closes the answer and stops watching it. It returns the error of
// closing.
func (b *watchedBody) Close() error {
	b.pulse.Stop()
	return b.body.Close()
}

// ours lists headers of an answer that are meant for a direct client of the server, and are
// removed. A cookie or a redirection would lead the client of this proxy past this program.
var ours = []string{"Set-Cookie", "Location", "Refresh", "Clear-Site-Data", "Alt-Svc"}

// passable changes a server's answer so that it can be passed on unread, and still ends properly if
// the server breaks off. A JSON document is read whole first. A stream is passed on in whole
// records, with an error as its last record if the server breaks off. If isReply is true, a model
// answers, so that its stream must have a final record. An answer of an unknown form is passed on
// unchanged. It returns an error if the server redirects its clients, or if a document or an error
// answer cannot be read.
func passable(resp *http.Response, isReply bool, n names) error {
	for _, name := range ours {
		resp.Header.Del(name)
	}
	if resp.Request != nil && resp.Request.Method == http.MethodHead {
		return nil
	}
	form, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode < 200, resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fault.New(fault.Unable,
			"the model server sends its clients elsewhere (%d %s): set its URL to where it really is", resp.StatusCode, http.StatusText(resp.StatusCode))
	case resp.StatusCode >= 400:
		return passError(resp, form)
	case form == "application/json":
		return passDocument(resp, n)
	// A reply with another content type, such as text/plain, is a stream of records too.
	case form == "application/x-ndjson", isReply:
		// Its length is not known then, since an error may be added at its end.
		resp.Body, resp.ContentLength = &records{body: resp.Body,
			scratch: upstream.NewScratch(resp.Body), isReply: isReply, names: n}, -1
		resp.Header.Del("Content-Length")
	}
	return nil
}

// passError reads the whole body of an error answer, so that it can be passed on. It returns a
// fault instead if the answer is too long or HTML (text/html, the parameter form), because programs
// cannot read a gateway's page, and an error if reading fails.
func passError(resp *http.Response, form string) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, upstream.MaxError+1))
	if err != nil {
		return err
	}
	if form == "text/html" || len(text) > upstream.MaxError {
		return upstream.RefusalOf(resp.StatusCode, resp.Header,
			text[:min(len(text), upstream.MaxError)])
	}
	replace(resp, bytes.NewReader(text), len(text))
	return nil
}

// passDocument reads the whole document before any of it is passed on, unless it is longer than a
// record may be (16 MiB). Half a document after a status 200 looks complete to many clients. It
// returns an error if reading fails, or if the document is not JSON.
func passDocument(resp *http.Response, n names) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, upstream.MaxRecord))
	long := len(text) == upstream.MaxRecord
	text = n.told(text)
	switch {
	case err != nil:
		return err
	case long:
		replace(resp, io.MultiReader(bytes.NewReader(text), resp.Body), -1)
	case !json.Valid(text):
		return fault.New(fault.Unavailable, "%w", upstream.ErrUnfinished)
	default:
		replace(resp, bytes.NewReader(text), len(text))
	}
	return nil
}

// replace makes the body of an answer read from another reader. If length is -1, the length is not
// known, so the header with the length is removed, and the answer is sent in chunks.
func replace(resp *http.Response, from io.Reader, length int) {
	resp.Body = struct {
		io.Reader
		io.Closer
	}{from, resp.Body}
	resp.ContentLength = int64(length)
	resp.Header.Del("Content-Length")
	if length >= 0 {
		resp.Header.Set("Content-Length", strconv.Itoa(length))
	}
}

// records is the body of an answer with one record per line. Only complete records are passed on,
// because half a record is useless. If the server does not end properly, the last record is an
// error, for clients that rely on a final record.
type records struct {
	isReply bool // the final record says that it is the last
	names   names

	body    io.ReadCloser
	scratch *upstream.Scratch
	out     []byte // what the next reads return
	done    bool   // the last record has come
	over    bool
	failed  *fault.Error // why the answer did not end properly; nil: it did
}

// Read implements io.Reader. It returns the records that have arrived. Records that are already in
// the buffer are returned with the first one, up to KeepRecord, so that many at once become one
// write, and a single record is passed on at once. Errors of the server are records as well, so the
// only error is io.EOF.
func (r *records) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.over {
			return 0, io.EOF
		}
		// This waits for the first record, and adds those that have arrived already.
		for more := true; more; more = !r.over && len(r.out) < upstream.KeepRecord &&
			len(r.scratch.Ahead()) > 0 {
			r.next()
		}
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) == 0 {
		r.out = nil // a stream is mostly idle
	}
	return n, nil
}

// next reads one line and passes it to the method record. If there is no line, it ends the answer.
// A last line without its line feed is a whole record if its JSON is complete.
func (r *records) next() {
	line, err := r.scratch.Line()
	whole := err == nil
	switch {
	case err == io.EOF && len(line) == 0:
		r.end(nil)
		return
	case err != nil && err != io.EOF:
		r.end(err)
		return
	}
	if err = r.record(line, whole); err != nil || !whole {
		r.end(err)
	}
}

// record adds one record to the answer for the client. In a model's reply "done" marks the final
// record, but the progress of a pull simply ends with the stream. An error record ends any answer.
// record returns an error if the line is not JSON; this is upstream.ErrCut if whole is false, as
// for a last line without its line feed.
func (r *records) record(line []byte, whole bool) error {
	if len(bytes.TrimSpace(line)) > 0 {
		if r.done {
			r.over = true // what comes after the end is ignored
			return nil
		}
		v, err := r.scratch.Parse(line)
		switch {
		case err != nil && !whole:
			return upstream.ErrCut
		case err != nil:
			return fault.New(fault.Unavailable, "the model server sent a record that is no JSON")
		}
		r.done = v.GetBool("done") && r.isReply || upstream.ErrorIn(v) != nil
	}
	r.out = append(r.out, r.names.told(line)...)
	return nil
}

// names has the two texts with which a record may begin: one with the server's name for the model,
// and one with the client's name. In the zero value both names are the same.
type names struct{ theirs, ours []byte }

// namesOf returns the beginnings of records with the model's name at the server (theirs) and with
// its name at the client (ours). If the names are the same, it returns the zero value.
func namesOf(theirs, ours string) (n names) {
	const key = `{"model":`
	if theirs != ours {
		n = names{chat.AppendQuoted([]byte(key), theirs), chat.AppendQuoted([]byte(key), ours)}
	}
	return n
}

// told returns a record in which the model has the client's name. Ollama writes the name at the
// start of each record. A record that begins differently is returned unchanged.
func (n names) told(record []byte) []byte {
	if rest, ok := bytes.CutPrefix(record, n.theirs); ok && n.theirs != nil {
		return append(slices.Clip(n.ours), rest...)
	}
	return record
}

// end ends the answer. If the answer is not complete, end adds a record that says why.
func (r *records) end(err error) {
	if r.over = true; r.done || err == nil && !r.isReply {
		return
	}
	// if the client left, err is a fault that says so
	r.failed = upstream.Cut(context.Background(), err)
	if n := len(r.out); n > 0 && r.out[n-1] != '\n' {
		r.out = append(r.out, '\n')
	}
	r.out = append(append(r.out, fault.Ollama(r.failed)...), '\n')
}

// Broken returns why the answer did not end well, or nil if it did, as far as it was read. Callers
// that pass the answer on need this for their log and trace, because in the answer the error is a
// record like any other.
func (r *records) Broken() error {
	if r.failed == nil {
		return nil
	}
	return r.failed
}

// Close implements io.Closer: it closes the server's answer, and returns the error of that.
func (r *records) Close() error { return r.body.Close() }
