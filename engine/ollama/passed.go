package ollama

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// ours are headers of an answer that are for the client of a server, not for that of a proxy: a cookie or a
// redirection would take the client past this program.
var ours = []string{"Set-Cookie", "Location", "Refresh", "Clear-Site-Data", "Alt-Svc"}

// passable makes of a server's answer one that can be passed on unread; an error when there is no such. isReply
// says that a model answers, so that the answer ends with a record that says so. However the server ends, the
// client's answer has one end: a document comes whole or as 502, a stream in whole records, with an error record
// where the server breaks off. Forms that are not known pass as they are.
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
	// A reply as text/plain is a stream of records too: some gateways label it so.
	// A reply under another label, as text/plain, is a stream of records too.
	case form == "application/x-ndjson", isReply && form != "text/event-stream":
		pass(resp, &records{isReply: isReply, names: n})
	case form == "text/event-stream":
		pass(resp, &records{events: true, isReply: isReply})
	}
	return nil
}

// passError reads an error whole. One that is no error of Ollama's becomes ours: a gateway's page says nothing to
// a program.
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

// passDocument reads a document whole before any of it is passed on, unless it is longer than a record may be (16
// MiB): half a document behind a 200 looks like a whole one to many clients.
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
		return fault.New(fault.Unavailable, "the model server ended its reply in the middle: its log may say why")
	default:
		replace(resp, bytes.NewReader(text), len(text))
	}
	return nil
}

// replace has an answer read from elsewhere. Length -1: nobody knows, so the header goes, and the answer is sent
// in chunks.
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

// pass has an answer read record by record. Its length is not known then: an error may stand at its end.
func pass(resp *http.Response, r *records) {
	r.body, r.scratch = resp.Body, upstream.NewScratch(resp.Body)
	resp.Body, resp.ContentLength = r, -1
	resp.Header.Del("Content-Length")
}

// records are an answer, a record a line, of which only whole ones are passed on: as they are, and behind them an
// error if the server did not end well. Half a record helps nobody, and a client that counts on an end gets one.
type records struct {
	events  bool // server-sent events: the lines of one belong together
	isReply bool // the last record says that it is the last
	names   names

	body    io.ReadCloser
	scratch *upstream.Scratch
	out     []byte // what the next reads give
	event   []byte // the begun event
	done    bool   // the last record has come
	over    bool
	failed  error // how it ended, if not well
}

// Read gives the records that have come. What is in the buffer already goes with the first one, up to KeepRecord:
// a burst is one write, and a lone record goes at once.
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

// next takes one line. A last line without its line feed may be a whole record, as far as its JSON is.
func (r *records) next() {
	line, err := r.scratch.Line()
	whole := err == nil
	switch {
	case err == io.EOF && len(line) > 0: // it may have everything but its end
	case err == io.EOF:
		r.end(nil)
		return
	case err != nil:
		r.end(err)
		return
	}
	if r.events {
		err = r.eventLine(line, whole)
	} else {
		err = r.record(line, whole)
	}
	if err != nil || !whole {
		r.end(err)
	}
}

// record takes one record. A final one is told by "done" in a model's reply only; a pull's progress ends with the
// stream. An error record is an end everywhere.
func (r *records) record(line []byte, whole bool) error {
	if len(bytes.TrimSpace(line)) > 0 {
		if r.done {
			r.over = true // what comes behind the end belongs to nobody
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

// names are how records begin that name the model as its server does, and as the client does. The zero value: both call it the
// same.
type names struct{ theirs, ours []byte }

func namesOf(theirs, ours string) (n names) {
	const key = `{"model":`
	if theirs != ours {
		n = names{chat.AppendQuoted([]byte(key), theirs), chat.AppendQuoted([]byte(key), ours)}
	}
	return n
}

// told is a record with the client's name for the model. Ollama writes the name at the start of each; whatever begins in another
// way stays as it is.
func (n names) told(record []byte) []byte {
	if rest, ok := bytes.CutPrefix(record, n.theirs); ok && n.theirs != nil {
		return append(slices.Clip(n.ours), rest...)
	}
	return record
}

// eventLine takes one line of an event, which is passed on when an empty one ends it. Behind [DONE] nothing need
// follow.
func (r *records) eventLine(line []byte, whole bool) error {
	r.event = append(r.event, line...)
	switch {
	case !whole:
		return upstream.ErrCut
	case len(r.event) > upstream.MaxRecord:
		return upstream.ErrLong
	case len(bytes.TrimSpace(line)) == 0:
		r.done = r.done || bytes.HasPrefix(r.event, []byte("data: [DONE]"))
		r.out, r.event = append(r.out, r.event...), r.event[:0]
	}
	return nil
}

// end ends the answer: well when it is complete, else with a record that says why not, in the form of the stream:
// an event in OpenAI's form, or a line in Ollama's.
func (r *records) end(err error) {
	if r.over = true; r.done || err == nil && !r.isReply && len(r.event) == 0 {
		return
	}
	if r.failed = cmp.Or(err, upstream.ErrCut); r.events {
		r.out = append(append(append(r.out, "data: "...), fault.OpenAI(r.fault())...), "\n\n"...)
		return
	}
	if n := len(r.out); n > 0 && r.out[n-1] != '\n' {
		r.out = append(r.out, '\n')
	}
	r.out = append(append(r.out, fault.Ollama(r.fault())...), '\n')
}

// fault is how the answer ended, for the client.
func (r *records) fault() *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(r.failed, &f):
		return f
	case errors.Is(r.failed, upstream.ErrLong):
		return fault.New(fault.Unavailable, "the model server's reply cannot be read: %w", upstream.ErrLong)
	}
	return fault.New(fault.Unavailable, "the model server ended its reply in the middle: its log may say why")
}

// Broken is why the answer did not end well; nil if it did, as far as it was read. It is for the log and the trace
// of whoever passes the answer on, since the client sees a record like any other.
func (r *records) Broken() error {
	if r.failed == nil {
		return nil
	}
	return r.fault()
}

// Close ends the answer.
func (r *records) Close() error { return r.body.Close() }
