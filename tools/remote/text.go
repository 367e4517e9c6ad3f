package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"

	"toolnorm/internal/jsontree"
)

// plainJSON returns strict JSON for a text that a person or an editor has written. The text may be
// UTF-8 or UTF-16, with or without a byte order mark, with comments (// and /* */) and with commas
// before a closing bracket. The result commented reports whether it had comments. Everything that
// is dropped becomes a blank, so that the place of an error is its place in the file.
func plainJSON(text []byte) (out []byte, commented bool) {
	out = bytes.TrimPrefix(narrow(text), []byte("\uFEFF"))
	out = bytes.Clone(out) // the caller's text stays as it is
	comma := -1            // a comma after which nothing has come yet
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			i, comma = i+jsontree.StringEnd(out[i:]), -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := behindComment(out, i)
			for j := i; j < end; j++ {
				if out[j] != '\n' {
					out[j] = ' '
				}
			}
			i, commented = end, true
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			i, comma = i+1, -1
		case c == ',':
			i, comma = i+1, i
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			i, comma = i+1, -1
		}
	}
	return out, commented
}

// behindComment returns the position after a comment. The parameter at is the position at which the
// comment begins. The line break after a comment does not belong to it. A comment without an end
// reaches to the end of text.
func behindComment(text []byte, at int) int {
	end, width := []byte("\n"), 0
	if text[at+1] == '*' {
		end, width = []byte("*/"), 2
	}
	if n := bytes.Index(text[at+2:], end); n >= 0 {
		return at + 2 + n + width
	}
	return len(text)
}

// narrow returns the text in UTF-8. It recognizes UTF-16, as PowerShell's > writes it, by the byte
// order mark, or by the zero byte beside the first character, which is ASCII in JSON. Any other
// text is returned unchanged.
func narrow(text []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(text) < 2 || len(text)%2 != 0:
		return text
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}) || text[0] == 0 && text[1] != 0:
		order = binary.BigEndian
	case !bytes.HasPrefix(text, []byte{0xff, 0xfe}) && (text[0] == 0 || text[1] != 0):
		return text
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// addLine adds the line number to an error of JSON's syntax. A text that ends too early has lost a
// bracket or a quote somewhere, so its last line is named. It returns other errors unchanged.
func addLine(text []byte, err error) error {
	var s *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: the file ends before every bracket is closed",
			1+bytes.Count(bytes.TrimSpace(text), []byte("\n")))
	case errors.As(err, &s) && s.Offset <= int64(len(text)):
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:s.Offset], []byte("\n")), err)
	}
	return err
}
