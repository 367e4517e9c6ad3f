package chunk

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// deepestMail is how deeply messages and their parts may be nested.
const deepestMail = 12

// mail is the state of reading an e-mail.
type mail struct {
	Text
	outline
	attached []string // names of attached files
	depth    int
}

// readMail reads an e-mail: sender, recipients and date, the text, and the names of attached files.
// An attached message is read as well. It returns an error if the file does not begin like an
// e-mail.
func readMail(data []byte) (Text, error) {
	m := new(mail)
	header, body := mailHeader(bytes.TrimPrefix(data, []byte("\ufeff")))
	if header.Get("From")+header.Get("Subject")+header.Get("Date")+header.Get(
		"Received")+header.Get("To") == "" {
		return Text{}, errors.New("it does not begin as an e-mail does, with From, Subject or Date")
	}
	m.message(header, body)
	return m.Text, nil
}

// message reads a message with the given header and body.
func (m *mail) message(header textproto.MIMEHeader, body []byte) {
	subject := words(header.Get("Subject"))
	if m.Title == "" {
		m.Title = subject
	}
	var head []string
	for _, name := range []string{"Subject", "From", "To", "Cc", "Date"} {
		if value := words(strings.Join(header.Values(name), ", ")); value != "" {
			head = append(head, name+": "+value)
		}
	}
	m.Blocks = append(m.Blocks, Block{m.path(), strings.Join(head, "\n")})
	outer := m.attached
	m.attached = nil
	m.part(header, body)
	if len(m.attached) > 0 {
		m.Blocks = append(m.Blocks,
			Block{m.path(), "Attachments: " + strings.Join(m.attached, ", ")})
	}
	m.attached = outer
}

// mailHeader splits a message, or a part of one, into its header and its body. Lines that are not
// part of a valid header are ignored.
func mailHeader(data []byte) (textproto.MIMEHeader, []byte) {
	header := textproto.MIMEHeader{}
	last := ""
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		text := strings.TrimRight(string(line), "\r")
		name, value, found := strings.Cut(text, ":")
		switch {
		case text == "" && (len(header) > 0 || last == ""):
			return header, data
		case (text == "" || text[0] == ' ' || text[0] == '\t') && last != "":
			all := header[last]
			all[len(all)-1] += " " + strings.TrimSpace(text)
		case found && name != "" && !strings.ContainsAny(name, " \t"):
			last = textproto.CanonicalMIMEHeaderKey(name)
			header[last] = append(header[last], strings.TrimSpace(value))
		}
	}
	return header, data
}

// words returns the decoded text of a header in one line. Characters beyond ASCII may be encoded in
// several ways. Text that cannot be decoded is returned as it is.
func words(value string) string {
	d := mime.WordDecoder{CharsetReader: func(label string, input io.Reader) (io.Reader, error) {
		if e := encodingNamed(label); e != nil {
			return e.NewDecoder().Reader(input), nil
		}
		return nil, errEncoding
	}}
	if decoded, err := d.DecodeHeader(value); err == nil {
		value = decoded
	}
	if text, _, err := utf8Text([]byte(value)); err == nil {
		value = text
	}
	return oneLine(value)
}

// part reads a part of a message. It adds the name of an attached file to m.attached.
func (m *mail) part(header textproto.MIMEHeader, body []byte) {
	if m.depth++; m.depth > deepestMail {
		m.tell("parts that are too deep in each other are left out")
		return
	}
	defer func() { m.depth-- }()
	kind, params, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if !strings.Contains(kind, "/") { // such as "text", or a type that cannot be parsed
		kind = "text/plain"
	}
	disposition, names, _ := mime.ParseMediaType(header.Get("Content-Disposition"))
	name := words(names["filename"])
	if name == "" {
		name = words(params["name"])
	}
	body = decoded(header.Get("Content-Transfer-Encoding"), body)
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		m.multipart(kind, params["boundary"], body)
	case kind == "message/rfc822":
		inner, text := mailHeader(body)
		m.enter(m.depth, words(inner.Get("Subject")))
		m.message(inner, text)
		m.enter(m.depth, "")
	case disposition == "attachment" || name != "" || !strings.HasPrefix(kind, "text/"):
		if name == "" {
			name = kind
		}
		m.attached = append(m.attached, name)
	default:
		m.body(kind, params["charset"], body)
	}
}

// multipart reads the parts of a message, which boundary separates. If kind, the media type, says
// that they are alternative forms of one text, it reads only the first that has text, usually the
// plain one.
func (m *mail) multipart(kind, boundary string, body []byte) {
	if boundary == "" {
		m.body("text/plain", "", body)
		return
	}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextRawPart()
		if err != nil {
			if err != io.EOF {
				m.tell("the e-mail is damaged, and was read up to there")
			}
			return
		}
		data, _ := io.ReadAll(p)
		before := len(m.Blocks)
		m.part(p.Header, data)
		if kind == "multipart/alternative" && said(m.Blocks[before:]) {
			return
		}
	}
}

// said reports whether any block has text.
func said(blocks []Block) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool {
		return strings.TrimSpace(clean(b.Text)) != ""
	})
}

// decoded returns the content of a part, decoded from its transfer encoding. The parameter how is
// the encoding's name. If the content is damaged, it returns what comes before the damage.
func decoded(how string, body []byte) []byte {
	switch strings.ToLower(strings.TrimSpace(how)) {
	case "base64":
		plain := bytes.Map(func(r rune) rune {
			if r <= ' ' {
				return -1
			}
			return r
		}, body)
		plain = bytes.TrimRight(plain, "=") // programs may forget them
		out := make([]byte, base64.RawStdEncoding.DecodedLen(len(plain)))
		n, _ := base64.RawStdEncoding.Decode(out, plain)
		return out[:n]
	case "quoted-printable":
		out, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
		return out
	}
	return body
}

// codePages maps names of encodings that mail programs write to names that browsers know.
var codePages = map[string]string{"cp932": "shift_jis", "cp949": "euc-kr", "ms949": "euc-kr",
	"uhc": "euc-kr", "cp936": "gbk", "cp950": "big5"}

// encodingNamed returns the encoding with the given name. It returns nil for an unknown name, and
// for UTF-8, which is tried anyway.
func encodingNamed(label string) encoding.Encoding {
	if other := codePages[strings.ToLower(label)]; other != "" {
		label = other
	}
	e, name := charset.Lookup(label)
	if name == "utf-8" {
		return nil // inUTF8 tries it anyway
	}
	return e
}

// body reads a text of the message. The parameter kind is its media type, and label names its
// encoding. If the text cannot be decoded, this is added to the mail's problems.
func (m *mail) body(kind, label string, body []byte) {
	text, problem, err := inUTF8(body, encodingNamed(label))
	if err != nil {
		m.tell(err.Error())
		return
	}
	m.tell(problem)
	read := readPlain
	if kind == "text/html" {
		read = readHTML
	}
	t, err := read("", text)
	if err != nil {
		m.tell(err.Error())
		return
	}
	for _, b := range t.Blocks {
		m.Blocks = append(m.Blocks, Block{strings.Join(nonEmpty(m.path(), b.Heading), " > "),
			b.Text})
	}
}

// nonEmpty returns those of the texts that are not empty.
func nonEmpty(all ...string) (kept []string) {
	for _, s := range all {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
