package upstream

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Documents keep what long answers that come whole are read into. Unlike the buffers of streams these are in use only while an
// answer is read, so that the garbage collector decides how many stay. The zero value is ready.
type Documents struct{ pool sync.Pool }

// mostKept is the longest answer whose buffers are kept, in bytes. Those of a request of 15 MB were 32 MB that served nobody while its reply came.
const mostKept = 4 << 20

// document is what one answer is read into.
type document struct {
	source bytes.Buffer
	text   []byte // of the string, decoded
	parser fastjson.Parser
}

// Read reads an answer of at most limit bytes, of which so many are expected, and gives the string at that path; empty when there is
// none. A prompt is about as long as what it was rendered from.
func (p *Documents) Read(r io.Reader, limit, expected int64, path ...string) (string, error) {
	d, ok := p.pool.Get().(*document)
	if !ok {
		d = new(document)
	}
	if expected < mostKept {
		defer p.pool.Put(d)
	}
	d.source.Reset()
	d.source.Grow(int(min(max(expected+expected/16, 0), limit)) + bytes.MinRead)
	if _, err := d.source.ReadFrom(io.LimitReader(r, limit)); err != nil {
		return "", err
	}
	if d.quick(path) {
		return string(d.text), nil
	}
	chat.MendSurrogates(d.source.Bytes())
	v, err := d.parser.ParseBytes(d.source.Bytes())
	if err != nil {
		return "", fault.New(fault.Unavailable, "the model server's rendering cannot be read: %w", err)
	}
	return string(v.GetStringBytes(path...)), nil
}

// quick finds the string by its quotes, and says no of a document that is unlike what servers write:
//
//	{"model":"qwen3","created_at":"…","done":false,"_debug_info":{"rendered_template":"\u003c|im_start|\u003euser\n…"}}
//
// A prompt is the whole conversation, and full of marks and line feeds, that is of escapes: decoding it so takes a tenth of
// the time. A quote in a string is escaped, so what is looked for can only be the members' names; braces in front of it
// other than the document's own say that they may be another object's.
func (d *document) quick(path []string) bool {
	names := []byte(`"` + strings.Join(path, `":{"`) + `":"`)
	front, rest, ok := bytes.Cut(d.source.Bytes(), names)
	if !ok || bytes.Count(front, []byte("{"))-bytes.Count(front, []byte("}")) != 1 {
		return false
	}
	text, behind, ok := Unquoted(slices.Grow(d.text[:0], len(rest)), rest)
	if !ok || string(bytes.TrimSpace(behind)) != strings.Repeat("}", len(path)) {
		return false
	}
	d.text = text
	return true
}

// Unquoted appends a string, of which the opening quote was read, to dst, and gives what stands behind it. Escapes
// beyond ASCII are not ok: they may be halves of pairs. Those of ASCII are frequent: Ollama writes < > and & as
// \u003c, \u003e and \u0026.
func Unquoted(dst, rest []byte) (_, behind []byte, ok bool) {
	quote := bytes.IndexByte(rest, '"') // the next one; it is looked for once, or a long text without any took the square of its length
	for quote >= 0 {
		at := bytes.IndexByte(rest[:quote], '\\')
		if at < 0 {
			return append(dst, rest[:quote]...), rest[quote+1:], true
		}
		dst = append(dst, rest[:at]...)
		c, size := escaped(rest[at+1:])
		if size == 0 {
			return nil, nil, false
		}
		dst, rest = append(dst, c), rest[at+1+size:]
		if quote -= at + 1 + size; quote < 0 { // it was the one that is escaped
			quote = bytes.IndexByte(rest, '"')
		}
	}
	return nil, nil, false
}

// escaped is the byte that an escape stands for, and the length of it behind its backslash; 0 when it is none of ASCII.
func escaped(rest []byte) (c byte, size int) {
	if len(rest) == 0 {
		return 0, 0
	}
	switch c := rest[0]; c {
	case '"', '\\', '/':
		return c, 1
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case 'b':
		return '\b', 1
	case 'f':
		return '\f', 1
	}
	if len(rest) < 5 || rest[0] != 'u' || rest[1] != '0' || rest[2] != '0' || rest[3] > '7' {
		return 0, 0
	}
	high, low := hexDigit(rest[3]), hexDigit(rest[4])
	if high < 0 || low < 0 {
		return 0, 0
	}
	return byte(high<<4 | low), 5
}

// hexDigit is the value of a hexadecimal digit, -1 of anything else.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
