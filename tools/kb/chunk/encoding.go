package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// errEncoding is the error for a text whose encoding is not known.
var errEncoding = errors.New(
	"it is not UTF-8, nor a text in another encoding that can be recognised; save it as UTF-8 and import it again")

// utf8Text returns a file as clean UTF-8 text. If it is not UTF-8, its encoding is detected (see
// inUTF8). The result problem describes what was lost, or is "". It returns an error if the
// encoding is not known.
func utf8Text(data []byte) (text, problem string, err error) {
	data, problem, err = inUTF8(data, nil)
	return clean(string(data)), problem, err
}

// inUTF8 returns a text in UTF-8. declared is the encoding that the file itself names, or nil. The
// result problem describes what was lost, or is "".
//
// A guess may be wrong, and no search finds a text in a wrong encoding. So a text that does not
// declare its encoding is accepted only if all likely encodings result in the same text, and
// otherwise inUTF8 returns an error. It also returns an error if the text is damaged.
func inUTF8(data []byte, declared encoding.Encoding) (text []byte, problem string, err error) {
	if said := marked(data); said != nil {
		if text, err = said.NewDecoder().Bytes(data); err != nil || damaged(text) {
			return nil, "", errors.New(
				"it is not UTF-8, and what it says to be is damaged; save it as UTF-8 and import it again")
		}
		return text, "", nil
	}
	valid := utf8.Valid(data)
	if bytes.IndexByte(data, 0) >= 0 && !(valid && few(data)) {
		text, err = wideText(data)
		return text, "", err
	}
	if valid {
		return data, "", nil
	}
	if declared != nil && declared != encoding.Nop {
		if text, err = declared.NewDecoder().Bytes(data); err == nil && !damaged(text) {
			return text, "", nil
		}
	}
	if text, bad := repaired(data); bad > 0 {
		return text, fmt.Sprintf("%d of its bytes are not UTF-8, and stand as \uFFFD", bad), nil
	}
	text, err = guessed(data)
	return text, "", err
}

// few reports whether data can be text although it has characters that do not occur in texts. At
// most one byte in twenty may be such a character.
func few(data []byte) bool {
	n := 0
	for _, r := range string(data) {
		if noText(r) {
			n++
		}
	}
	return n <= len(data)/20
}

// damaged reports whether a text has replacement characters for what could not be decoded.
func damaged(text []byte) bool { return bytes.Contains(text, []byte("\uFFFD")) }

// marked returns the encoding that a text shows by a byte order mark, or by codes that switch
// between characters of one byte and of two. Such codes do not occur in UTF-8 texts. It returns nil
// if there are neither.
func marked(data []byte) encoding.Encoding {
	has := func(s string) bool { return bytes.Contains(data, []byte(s)) }
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")),
		bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return xunicode.UTF16(xunicode.LittleEndian, xunicode.UseBOM)
	case has("\x1b$B"), has("\x1b$@"):
		return japanese.ISO2022JP
	case has("\x1b$)C"):
		return encoding.Replacement // ISO-2022-KR, which nothing here reads
	case has("~{") && has("~}") && ascii(data):
		text, err := simplifiedchinese.HZGB2312.NewDecoder().Bytes(data)
		if err == nil && !damaged(text) && speaks(string(text), languages["zh"]) {
			return simplifiedchinese.HZGB2312
		}
	}
	return nil
}

// ascii reports whether a text consists of ASCII bytes.
func ascii(data []byte) bool {
	return !slices.ContainsFunc(data, func(b byte) bool { return b >= utf8.RuneSelf })
}

// wideText decodes a text that has zero bytes, which is UTF-16 or UTF-32 without a byte order mark.
// If both byte orders result in text, it takes the one with more ASCII, since in the wrong order,
// blanks and line ends are rare characters. It returns an error if no order results in text.
func wideText(data []byte) (best []byte, err error) {
	most := -1
	for _, from := range []encoding.Encoding{
		xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM),
		xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM),
		utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
		utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	} {
		text, err := from.NewDecoder().Bytes(data)
		if err != nil || damaged(text) || bytes.ContainsFunc(text, noText) {
			continue
		}
		plain := 0
		for _, b := range text {
			if b < utf8.RuneSelf {
				plain++
			}
		}
		if plain > most {
			best, most = text, plain
		}
	}
	if best == nil {
		return nil, errors.New(
			"it has bytes of zero, which no text has; save it as UTF-8 text and import it again")
	}
	return best, nil
}

// noText reports whether a character does not occur in texts: a control character other than those
// for lines and pages, or one that Unicode has not assigned.
func noText(r rune) bool {
	return !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && !strings.ContainsRune(
		"\t\n\v\f\r\x1a\x1b", r) || unicode.Is(unicode.Co, r)
}

// repaired returns a text that is UTF-8 except for a few bytes, with these replaced, and their
// number. It returns 0 if there are too many. One in twenty bytes beyond ASCII may be wrong. A text
// in another encoding has far more wrong bytes.
func repaired(data []byte) (text []byte, bad int) {
	good := 0
	for rest := data; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case r >= utf8.RuneSelf:
			good += n
		}
		rest = rest[n:]
	}
	if good < 20*bad {
		return nil, 0
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD")), bad
}

// declaration matches the place where an HTML page or an XML document names its encoding.
var declaration = regexp.MustCompile(
	`(?i)<(?:meta\b[^>]{0,400}?charset|\?xml\b[^>]{0,200}?encoding)\s*=\s*["']?([\w.:-]{2,40})`)

// farthest is how many bytes of a page are searched for its encoding. Browsers look only at 1,024,
// but scripts and styles often come first.
const farthest = 1 << 18

// declared returns the encoding that a page names, or nil if it names none, an unknown one or
// UTF-8.
func declared(data []byte) encoding.Encoding {
	found := declaration.FindSubmatch(data[:min(farthest, len(data))])
	if found == nil {
		return nil
	}
	e, name := charset.Lookup(string(found[1]))
	if name == "utf-8" {
		return nil // the declaration is wrong: the text is not UTF-8
	}
	return e
}
