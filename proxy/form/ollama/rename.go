package ollama

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/valyala/fastjson"
)

// renamed is a body whose model has the name that its server knows. A model without another name leaves every byte.
// A client asks for box/qwen3 and the server box knows qwen3: the field is the only one that is rewritten.
func renamed(body []byte, from, to string) []byte {
	if from == to {
		return body
	}
	v, err := fastjson.ParseBytes(body)
	if err != nil {
		return body // it was parsed before
	}
	name, err := json.Marshal(to)
	if err != nil {
		return body
	}
	v.Del("name")
	v.Set("model", fastjson.MustParseBytes(name))
	return v.MarshalTo(nil)
}

// calledBack lets the records of an answer name the model as the client does, where its server has another name for it.
// Ollama writes the name at the start of each record; whatever begins in another way stays as it is.
// A compressed answer is left alone, and so is one that is no JSON. The length is no longer known once a name
// changes.
func calledBack(resp *http.Response, from, to string) {
	kind := resp.Header.Get("Content-Type")
	if from == to || resp.Header.Get("Content-Encoding") != "" || !strings.Contains(kind, "json") {
		return
	}
	theirs, _ := json.Marshal(from)
	ours, _ := json.Marshal(to)
	const key = `{"model":`
	resp.Body = &caller{ReadCloser: resp.Body, theirs: []byte(key + string(theirs)), ours: []byte(key + string(ours)), begins: true}
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
}

// caller reads records whose beginning is replaced.
// A client that compares the name with the one that it asked for would stumble over the server's.
type caller struct {
	io.ReadCloser
	theirs, ours []byte
	begins       bool   // the next byte that is read begins a record
	start        []byte // of a record, as long as it may be theirs
	out          []byte // to be given to the reader
	err          error
	buf          [4 << 10]byte
}

// Read gives what is ready. Nothing waits but the start of a record, which comes in one piece with its rest.
func (c *caller) Read(p []byte) (int, error) {
	for len(c.out) == 0 && c.err == nil {
		var n int
		n, c.err = c.ReadCloser.Read(c.buf[:])
		c.take(c.buf[:n])
	}
	if c.err != nil && len(c.start) > 0 { // the answer ends inside it
		c.out, c.start = append(c.out, c.start...), nil
	}
	if len(c.out) == 0 {
		return 0, c.err
	}
	n := copy(p, c.out)
	c.out = append(c.out[:0], c.out[n:]...)
	return n, nil
}

// take moves what was read to what is given.
// A name may be cut by any read, so the beginning of a record is compared as far as it has come.
func (c *caller) take(b []byte) {
	for len(b) > 0 {
		if !c.begins {
			line := bytes.IndexByte(b, '\n') + 1
			c.begins = line > 0
			if line == 0 {
				line = len(b)
			}
			c.out, b = append(c.out, b[:line]...), b[line:]
			continue
		}
		n := min(len(b), len(c.theirs)-len(c.start))
		c.start, b = append(c.start, b[:n]...), b[n:]
		switch {
		case !bytes.HasPrefix(c.theirs, c.start): // what was read is read again as any text
			b = append(c.start, b...)
			c.start, c.begins = nil, false
		case len(c.start) == len(c.theirs):
			c.out = append(c.out, c.ours...)
			c.start, c.begins = nil, false
		}
	}
}
