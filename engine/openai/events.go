package openai

import (
	"bytes"
	"io"

	"github.com/valyala/fastjson"

	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// sseReader reads server-sent events (WHATWG HTML, 9.2) whose data is JSON. Lines may end in LF, CR
// or both and be 16 MiB long. It accepts more than the specification: an event without a blank line
// after it, if a data line is JSON by itself; JSON without "data:" before it; and the field "error"
// of old llama-servers. Such text is always a reply that the server meant, so being strict would
// only lose it.
type sseReader struct {
	scratch *upstream.Scratch
	rest    []byte // of the line that was read, after a CR
	final   error  // the error after the last line
	partial []byte // data lines that are not JSON by themselves
}

// next returns the data of the next event, valid until the following call. done is true if the
// event was [DONE] in place of JSON. The error is io.EOF after the last event, upstream.ErrCut
// inside an event, and upstream.ErrLong for an event longer than MaxRecord. A data line that is not
// JSON by itself may be a part of an event of several lines, so it waits for the rest.
func (r *sseReader) next() (v *fastjson.Value, done bool, err error) {
	for {
		line, err := r.line()
		if err != nil {
			if err == io.EOF && len(r.partial) > 0 {
				return r.joined(upstream.ErrCut)
			}
			return nil, false, err
		}
		if len(line) == 0 && len(r.partial) > 0 {
			return r.joined(nil)
		}
		data, ok := dataOf(line)
		switch {
		case !ok || len(data) == 0:
		case string(data) == "[DONE]":
			return nil, true, nil
		case len(r.partial) > 0:
			if len(r.partial)+len(data) > upstream.MaxRecord {
				return nil, false, upstream.ErrLong
			}
			r.partial = append(append(r.partial, '\n'), data...)
		default:
			if v, err := r.scratch.Parse(data); err == nil {
				return v, false, nil
			}
			r.partial = append(r.partial, data...)
		}
	}
}

// joined returns the JSON of the event that consists of all data lines so far. They are joined by a
// line feed, as the specification demands, which is white space in JSON. If the result is not JSON,
// joined returns the error bad or, if bad is nil, an error that says that it is not JSON. The
// second result, which for next means [DONE], is always false.
func (r *sseReader) joined(bad error) (*fastjson.Value, bool, error) {
	v, err := r.scratch.Parse(r.partial)
	r.partial = nil
	if err != nil && bad == nil {
		bad = fault.New(fault.Unavailable, "the model server sent an event that is no JSON: %w",
			err)
	}
	if err != nil {
		return nil, false, bad
	}
	return v, false, nil
}

// line returns the next line without its end, or the error of the reader. The line may be blank. It
// reads text up to a line feed. A CR before the line feed also ends a line, and the text after the
// CR is kept in r.rest for the next call. A stream that has only CRs is therefore read whole before
// its first line is returned.
func (r *sseReader) line() ([]byte, error) {
	if r.rest == nil {
		if r.final != nil {
			return nil, r.final
		}
		line, err := r.scratch.Line()
		r.final = err
		if err != nil && len(line) == 0 {
			return nil, err
		}
		r.rest = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	}
	line, rest, more := bytes.Cut(r.rest, []byte("\r"))
	r.rest = nil
	if more {
		r.rest = rest
	}
	return line, nil
}

// dataOf returns the data of a line. It returns false for comments (": keep-alive") and other
// fields (event, id, retry), which say nothing that the data does not. Old llama-servers write
// error: {"code":500,…} in place of data.
func dataOf(line []byte) (data []byte, ok bool) {
	if len(line) > 0 && line[0] == '{' {
		return line, true
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "data":
		return value, true
	case "error":
		return append(append([]byte(`{"error":`), value...), '}'), true
	}
	return nil, false
}
