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

// RoundTrip passes a request of Ollama's own API on as it is: path, query, header and body. Its
// host is the server's, whatever the request says. There is no time limit besides the request's
// context: pulling a model takes what it takes. The path goes on as it was escaped, so that nothing
// in it is decoded twice. It is the transport that is asked: a redirection is the server's answer,
// for passable to judge.
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
		return nil, wait.Broken(r.Context(), o.calls.Gone, err)
	}
	return resp, nil
}

// Replies are the paths of Ollama's API at which a model answers, so that the waits for a model
// hold. What else is passed on, as pulling a model, takes what it takes.
var Replies = []string{"/api/generate", "/api/chat", "/api/embed", "/api/embeddings"}

// Watched returns a transport to an Ollama on which what is passed on unread ends, too: a wait for
// a model's reply that is longer than t allows, and a server that breaks, become an error, or the
// last record of the answer so far. Without it a client would see its connection break, which
// Python's http calls IncompleteRead, and not learn why. Records name the model as the client calls
// it: a client that compares the name with what it asked for would stumble over the server's.
func Watched(rt http.RoundTripper, t wait.Timeouts, called, client string) http.RoundTripper {
	return &watched{rt, t, namesOf(called, client)}
}

type watched struct {
	way    http.RoundTripper
	limits wait.Timeouts // of replies; nothing bounds the rest
	names  names
}

// RoundTrip sends a request and waits for the head of its answer. Behind the head the waits go on
// with the reads of the body; they end with its Close, which a caller owes every answer.
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
	resp.Body = &watchedBody{Reader: p.Reader(resp.Body, first, later), asked: r.Context(), ctx: ctx, body: resp.Body, pulse: p}
	if err := passable(resp, isReply, w.names); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// cause returns err, or, if the caller ended the request with a fault of its own, that fault: a
// server that is stopped says so. Under mute such a cause is not seen, since contexts find it by a
// value, and the client was told that it had gone away.
func cause(asked context.Context, err error) error {
	var f *fault.Error
	if errors.As(context.Cause(asked), &f) {
		return f
	}
	return err
}

// mute is a context without its values: one of them has net/http pass on what a server says before
// its answer, as often as it says it. httputil.ReverseProxy sets such a trace, and a server that
// sends 1xx heads without end would be passed on without end.
type mute struct{ context.Context }

// Value finds nothing.
func (mute) Value(any) any { return nil }

// watchedBody is an answer whose reads are watched.
type watchedBody struct {
	io.Reader
	asked context.Context // of the client
	ctx   context.Context // of the request; its cause says why a read broke off
	body  io.Closer
	pulse *wait.Pulse
}

// Read reads the answer. What breaks it off is a fault.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = cause(b.asked, wait.Broken(b.ctx, "", err))
	}
	return n, err
}

// Close ends the answer and the watching.
func (b *watchedBody) Close() error {
	b.pulse.Stop()
	return b.body.Close()
}

// ours lists headers of an answer that are meant for a direct client of the server, not for the
// client of a proxy: a cookie or a redirection would take the client past this program.
var ours = []string{"Set-Cookie", "Location", "Refresh", "Clear-Site-Data", "Alt-Svc"}

// passable changes a server's answer so that it can be passed on unread; it fails when that is not
// possible. isReply says that a model answers, so that the answer ends with a record that says so.
// However the server ends, the client's answer has one end: a document comes whole or as 502, a
// stream in whole records, with an error record where the server breaks off. Forms that are not
// known pass as they are.
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
		return fault.New(fault.Unable, "the model server sends its clients elsewhere (%d %s): set its URL to where it really is", resp.StatusCode, http.StatusText(resp.StatusCode))
	case resp.StatusCode >= 400:
		return passError(resp, form)
	case form == "application/json":
		return passDocument(resp, n)
	// A reply under another label, as text/plain, is a stream of records too.
	case form == "application/x-ndjson", isReply:
		// Its length is not known then: an error may stand at its end.
		resp.Body, resp.ContentLength = &records{body: resp.Body, scratch: upstream.NewScratch(resp.Body), isReply: isReply, names: n}, -1
		resp.Header.Del("Content-Length")
	}
	return nil
}

// passError reads the whole error. An error that is not in Ollama's form is replaced by one in that
// form: a gateway's page says nothing to a program.
func passError(resp *http.Response, form string) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, upstream.MaxError+1))
	if err != nil {
		return err
	}
	if form == "text/html" || len(text) > upstream.MaxError {
		return upstream.Refused(resp.StatusCode, resp.Header, text[:min(len(text), upstream.MaxError)])
	}
	replace(resp, bytes.NewReader(text), len(text))
	return nil
}

// passDocument reads the whole document before any of it is passed on, unless it is longer than a
// record may be (16 MiB): half a document behind a 200 looks like a whole one to many clients.
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

// replace makes an answer's body read from another reader. Length -1 means that the length is not
// known: the header goes, and the answer is sent in chunks.
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

// records is an answer with one record per line, of which only complete records are passed on
// unchanged, followed by an error if the server did not end properly. Half a record is useless, and
// a client that relies on a final record gets one.
type records struct {
	isReply bool // the last record says that it is the last
	names   names

	body    io.ReadCloser
	scratch *upstream.Scratch
	out     []byte // what the next reads give
	done    bool   // the last record has come
	over    bool
	failed  *fault.Error // how it ended, if not well
}

// Read reads the records that have come. What is in the buffer already goes with the first one, up
// to KeepRecord: a burst is one write, and a lone record goes at once.
func (r *records) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.over {
			return 0, io.EOF
		}
		// The first record is waited for; those that have come already go with it.
		for more := true; more; more = !r.over && len(r.out) < upstream.KeepRecord && len(r.scratch.Ahead()) > 0 {
			r.next()
		}
	}
	n := copy(p, r.out)
	if r.out = r.out[n:]; len(r.out) == 0 {
		r.out = nil // a stream is mostly idle
	}
	return n, nil
}

// next reads one line. A last line without its line feed may be a whole record, as far as its JSON
// is.
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

// record reads one record. "done" tells the final one in a model's reply only; a pull's progress
// ends with the stream. An error record is an end everywhere.
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
		r.done = v.GetBool("done") && r.isReply || v.Exists("error")
	}
	r.out = append(r.out, r.names.told(line)...)
	return nil
}

// names are how records begin that name the model as its server does, and as the client does. The
// zero value: both call it the same.
type names struct{ theirs, ours []byte }

func namesOf(theirs, ours string) (n names) {
	const key = `{"model":`
	if theirs != ours {
		n = names{chat.AppendQuoted([]byte(key), theirs), chat.AppendQuoted([]byte(key), ours)}
	}
	return n
}

// told returns a record with the client's name for the model. Ollama writes the name at the start
// of each; a record that begins in another way stays as it is.
func (n names) told(record []byte) []byte {
	if rest, ok := bytes.CutPrefix(record, n.theirs); ok && n.theirs != nil {
		return append(slices.Clip(n.ours), rest...)
	}
	return record
}

// end ends the answer: well when it is complete, else with a record that says why not.
func (r *records) end(err error) {
	if r.over = true; r.done || err == nil && !r.isReply {
		return
	}
	r.failed = upstream.Cut(context.Background(), err) // whoever left has ended the read with a fault
	if n := len(r.out); n > 0 && r.out[n-1] != '\n' {
		r.out = append(r.out, '\n')
	}
	r.out = append(append(r.out, fault.Ollama(r.failed)...), '\n')
}

// Broken returns why the answer did not end well, or nil if it did, as far as it was read. Callers
// that pass the answer on need it for their log and trace, since the client sees a record like any
// other.
func (r *records) Broken() error {
	if r.failed == nil {
		return nil
	}
	return r.failed
}

// Close ends the answer.
func (r *records) Close() error { return r.body.Close() }
