package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/internal/jsontree"
)

// plainer is a reader that passes a server's messages on in a form that mcp-go can read. mcp-go
// drops a message that it cannot read. The request would then wait for its time limit, or the
// server would seem dead.
type plainer struct {
	in   *bufio.Reader
	unit unit
	rest []byte // what is read and was not returned yet
	err  error  // returned after rest
}

// newPlainer returns a plainer that reads from the reader in. The parameter unit says whether in
// has lines, events or a whole body.
func newPlainer(in io.Reader, unit unit) *plainer {
	return &plainer{in: bufio.NewReader(in), unit: unit}
}

// Read implements io.Reader. A line, or a body, is returned when it is complete. It returns the
// error of the reader from which it reads.
func (p *plainer) Read(b []byte) (int, error) {
	if len(p.rest) == 0 && p.err == nil {
		if p.unit == wholeBody {
			if p.rest, p.err = io.ReadAll(p.in); p.err == nil {
				p.err = io.EOF
			}
		} else {
			p.rest, p.err = p.in.ReadBytes('\n')
		}
		p.rest = p.plain(p.rest)
	}
	n := copy(b, p.rest)
	if p.rest = p.rest[n:]; n > 0 {
		return n, nil
	}
	return 0, p.err
}

// plain returns what was read, a line, an event or a whole body, with its message in the form that
// mcp-go can read (see plainMessage). An event without a message is returned unchanged.
func (p *plainer) plain(text []byte) []byte {
	message, mark := text, ""
	if p.unit == oneEvent {
		after, ok := bytes.CutPrefix(text, []byte(messageStart))
		if !ok {
			return text
		}
		message, mark = after, messageStart
	}
	out, changed := plainMessage(message)
	if !changed {
		return text
	}
	return append(append([]byte(mark), out...), '\n')
}

// messageBegin is how nearly all programs begin a message.
var messageBegin = []byte(`{"jsonrpc"`)

// fraction matches an id that is a number with a fraction or an exponent. mcp-go finds no request
// with such an id.
var fraction = regexp.MustCompile(`"id"\s*:\s*\d+[.eE]`)

// plainMessage converts a message that mcp-go cannot read into one that it can, and reports whether
// the result differs from text. It drops a byte order mark, and output of the program that stands
// before the message on its line. NaN and Infinity become null; Python and JavaScript write them,
// and JSON does not have them. An error gets a number as its code and a text as its message:
// programs write "ENOENT" or -32000.0. A list of one message, which protocol 2025-03-26 allowed,
// becomes that message, and the id 1.0 becomes 1.
func plainMessage(text []byte) (out []byte, changed bool) {
	out = bytes.TrimPrefix(bytes.TrimSpace(text), []byte("\uFEFF"))
	if i := bytes.Index(out, messageBegin); i > 0 && !json.Valid(out) {
		out = out[i:]
	}
	changed = len(out) != len(bytes.TrimSpace(text))
	if len(out) > 0 && out[0] == '{' && !json.Valid(out) {
		out, changed = finite(out), true
	}
	if len(out) > 0 && out[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(out, &list) == nil && len(list) == 1 {
			out, changed = list[0], true
		}
	}
	if fraction.Match(out) {
		if o, err := readObject(out); err == nil {
			if n, err := strconv.ParseFloat(string(o.get("id")), 64); err == nil &&
				n == math.Trunc(n) && math.Abs(n) < math.MaxInt32 {
				o, _ = o.with("id", int(n)) // a number always encodes
				out, changed = o.text(), true
			}
		}
	}
	if bytes.Contains(out, []byte(`"error"`)) {
		if o, err := readObject(out); err == nil {
			if odd := o.get("error"); odd != nil && string(odd) != "null" && !isError(odd) {
				o, _ = o.with("error", plainError(odd)) // numbers and texts always encode
				out, changed = o.text(), true
			}
		}
	}
	return out, changed && json.Valid(out)
}

// isError reports whether mcp-go can read a JSON value as an error with a message.
func isError(value json.RawMessage) bool {
	var e mcp.JSONRPCErrorDetails
	return json.Unmarshal(value, &e) == nil && e.Message != ""
}

// plainError returns the error in a JSON value. A code that is not a number is part of the message.
func plainError(value json.RawMessage) mcp.JSONRPCErrorDetails {
	o, err := readObject(value)
	if err != nil {
		return mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: said(value)}
	}
	code := said(o.get("code"))
	e := mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: cmp.Or(said(o.get("message")),
		said(o.get("data")), "it gives no reason")}
	switch n, err := strconv.ParseFloat(code, 64); {
	case err == nil && math.Abs(n) < math.MaxInt32:
		e.Code = int(n)
	case code != "":
		e.Message = fmt.Sprintf("%s (%s)", e.Message, code)
	}
	if data := o.get("data"); data != nil {
		e.Data = data
	}
	return e
}

// finite returns JSON with null in place of NaN and Infinity, which are not valid JSON.
func finite(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		n := 1
		if text[0] == '"' {
			n = jsontree.StringEnd(text)
		}
		for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
			if after, ok := bytes.CutPrefix(text, []byte(word)); ok {
				out, text, n = append(out, "null"...), after, 0
			}
		}
		out, text = append(out, text[:n]...), text[n:]
	}
	return out
}
