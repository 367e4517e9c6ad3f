package upstream

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Documents read answers that are one document with one long string, which is the prompt that a
// server renders. The string is decoded while it arrives, so that a prompt of megabytes is in
// memory only once. The zero value is ready to use.
type Documents struct{ pool sync.Pool }

// front is how many bytes of an answer are searched for the beginning of the string, and how many
// are then decoded at a time.
const front = 32 << 10

// document reads one answer of a server, a JSON document of which one string is wanted.
type document struct {
	bufio.Reader
	// a decoded piece of the string; no escape is shorter than its character
	decoded [front]byte
}

// Read reads an answer of at most limit bytes, and returns the string at path, or "" if there is
// none. It returns an error if the answer breaks off or is not JSON. The parameter expected is an
// estimate of the string's length: a prompt is about as long as the request from which it was
// rendered.
func (p *Documents) Read(r io.Reader, limit, expected int64, path ...string) (string, error) {
	d, ok := p.pool.Get().(*document)
	if !ok {
		d = &document{Reader: *bufio.NewReaderSize(nil, front)}
	}
	d.Reset(io.LimitReader(r, limit))
	defer func() { d.Reset(nil); p.pool.Put(d) }()
	head, err := d.beginning(path)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if len(head) > 0 {
		text.Grow(int(min(max(expected+expected/16, 0), limit)))
		if err := d.unquote(&text); err != nil {
			return "", err
		}
	}
	rest, err := io.ReadAll(d)
	if err != nil {
		return "", err
	}
	if behind, ok := bytes.CutPrefix(rest, []byte(`"`)); ok && len(head) > 0 &&
		string(bytes.TrimSpace(behind)) == strings.Repeat("}", len(path)) {
		return text.String(), nil
	}
	return parseString(slices.Concat(chat.AppendEscaped(head, text.String()), rest), path)
}

// beginning returns the start of a JSON document, up to and including the opening quote of the
// string at path, and moves the reader past it. It returns nil and reads nothing if it does not
// find the string. It only finds names in the form that servers write, without blanks:
//
//	{"model":"qwen3","created_at":"…","done":false,"_debug_info":{"rendered_template":"\u003c|im_start|\u003euser\n…"}}
//
// The string is a prompt: the whole conversation, full of escaped line feeds and tags. Finding it
// in this way takes a tenth of the time of decoding the document. A quote inside a JSON string is
// escaped, so a match can only be names of members. A match inside an object that the path does not
// name is ignored.
func (d *document) beginning(path []string) ([]byte, error) {
	head, err := d.Peek(front)
	if err != nil && err != io.EOF {
		return nil, err
	}
	names := []byte(`"` + strings.Join(path, `":{"`) + `":"`)
	before, _, ok := bytes.Cut(head, names)
	if !ok || bytes.Count(before, []byte("{"))-bytes.Count(before, []byte("}")) != 1 {
		return nil, nil
	}
	head = bytes.Clone(head[:len(before)+len(names)])
	_, err = d.Discard(len(head))
	return head, err
}

// unquote decodes a string after its opening quote and appends it to text. It stops at the closing
// quote, or at an escape that appendUnescaped cannot decode. It returns an error if reading fails.
func (d *document) unquote(text *strings.Builder) error {
	for more := 1; ; {
		piece, err := d.Peek(max(more, d.Buffered()))
		if err != nil && err != io.EOF {
			return err
		}
		plain, left := appendUnescaped(d.decoded[:0], piece)
		text.Write(plain)
		if _, discarded := d.Discard(len(piece) - len(left)); discarded != nil {
			return discarded
		}
		if err == io.EOF || len(left) >= longestEscape || bytes.HasPrefix(left, []byte(`"`)) {
			return nil
		}
		more = len(left) + 1 // the rest of an escape
	}
}

// parseString returns the string at path in a document that does not have the form that beginning
// expects. It parses the whole document with fastjson. It returns an error if the document is not
// JSON.
func parseString(source []byte, path []string) (string, error) {
	chat.MendSurrogates(source)
	v, err := fastjson.ParseBytes(source)
	if err != nil {
		return "", fault.New(fault.Unavailable, "the model server's rendering cannot be read: %w",
			err)
	}
	return string(v.GetStringBytes(path...)), nil
}

// AppendUnquoted appends to dst the text of a JSON string. The parameter rest begins after the
// string's opening quote. AppendUnquoted returns the result, and the rest of the input after the
// string. It returns false if it stops before the closing quote, at an escape that is invalid,
// incomplete or half of a surrogate pair.
func AppendUnquoted(dst, rest []byte) (_, behind []byte, ok bool) {
	dst, rest = appendUnescaped(dst, rest)
	behind, ok = bytes.CutPrefix(rest, []byte(`"`))
	return dst, behind, ok
}

// longestEscape is the length of \u003c.
const longestEscape = 6

// appendUnescaped appends to dst the text of a JSON string up to its closing quote. It returns the
// result, and the rest of the input from that quote on. It stops earlier at an escape that is
// invalid, incomplete, or possibly half of a surrogate pair. Other escapes are decoded. They are
// frequent, since Ollama writes < > and & as \u003c, \u003e and \u0026.
func appendUnescaped(dst, rest []byte) (_, left []byte) {
	// the next quote; it is searched for only once, or a long text without quotes would take
	// quadratic time
	quote := bytes.IndexByte(rest, '"')
	for {
		end := quote
		if end < 0 {
			end = len(rest)
		}
		at := bytes.IndexByte(rest[:end], '\\')
		if at < 0 {
			return append(dst, rest[:end]...), rest[end:]
		}
		dst = append(dst, rest[:at]...)
		c, size := readEscape(rest[at+1:])
		if size == 0 {
			return dst, rest[at:]
		}
		dst, rest = utf8.AppendRune(dst, c), rest[at+1+size:]
		if quote >= 0 {
			if quote -= at + 1 + size; quote < 0 { // it was the escaped quote
				quote = bytes.IndexByte(rest, '"')
			}
		}
	}
}

// readEscape returns the character that an escape means, and the escape's length after its
// backslash. It returns 0, 0 if the escape means no character by itself.
func readEscape(rest []byte) (c rune, size int) {
	if len(rest) == 0 {
		return 0, 0
	}
	switch rest[0] {
	case '"', '\\', '/':
		return rune(rest[0]), 1
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
	if len(rest) < 5 || rest[0] != 'u' {
		return 0, 0
	}
	// negative when one of the digits is
	c = rune(hexDigit(rest[1])<<12 | hexDigit(rest[2])<<8 | hexDigit(rest[3])<<4 | hexDigit(
		rest[4]))
	if c < 0 || utf16.IsSurrogate(c) {
		return 0, 0
	}
	return c, 5
}

// hexDigit returns the value of a hexadecimal digit, or -1 for anything else.
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
