package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Reads returns an error unless a format reads from the reply raw, with these tools offered,
// exactly the given calls and the text in the parameter said. Text must be equal byte for byte;
// arguments may differ in white space. The error shows both sides on separate lines.
func Reads(f *adapters.Format, raw, said string, calls []chat.Call, tools []chat.Tool) error {
	return readsAs(f, raw, said, calls, adapters.Options{Tools: tools})
}

// readsAs returns an error unless the format reads, from the reply raw and with the given options,
// exactly the calls and the text in the parameter said.
func readsAs(f *adapters.Format, raw, said string, calls []chat.Call, o adapters.Options) error {
	reply, err := readAs(f, raw, o)
	if err != nil {
		return err
	}
	if got := reply.Text.String(); got != said {
		return fmt.Errorf("got  text %q\nwant text %q", got, said)
	}
	for i, c := range calls {
		if len(reply.Calls) != len(calls) || reply.Calls[i].Name != c.Name ||
			!same(reply.Calls[i].Args, c.Args) {
			return fmt.Errorf("got  %s\nwant %s", callsText(reply.Calls), callsText(calls))
		}
	}
	return nil
}

// read returns the reply that a format reads from a text that arrives in one piece and then ends by
// itself. It returns an error if the decoder does.
func read(f *adapters.Format, raw string, tools []chat.Tool) (*chat.Collector, error) {
	return readAs(f, raw, adapters.Options{Tools: tools})
}

// readAs returns the reply that a format reads, with the given options, from a text that arrives in
// one piece and then ends by itself. It returns an error if the decoder does.
func readAs(f *adapters.Format, raw string, o adapters.Options) (*chat.Collector, error) {
	reply := new(chat.Collector)
	in := &chat.Fixed{{Kind: chat.Text, Text: raw}, {Kind: chat.Finish, Text: chat.Stop}}
	for e, err := range f.Decode(in, o) {
		if err != nil {
			return nil, err
		}
		reply.Add(e)
	}
	return reply, nil
}

// same reports whether two JSON values are equal except for white space and escapes: \u003c is <.
// It returns false if one is not valid. Members in another order are a difference, because some
// families sort them and others do not.
func same(a, b []byte) bool {
	x, y := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	x.UseNumber()
	y.UseNumber()
	for {
		v, err := x.Token()
		w, err2 := y.Token()
		if err != nil || err2 != nil {
			return err == io.EOF && err2 == io.EOF
		}
		if v != w {
			return false
		}
	}
}

// plain returns a text in which the escapes of JSON for letters, and those of XML, are replaced by
// the characters. Templates differ in which letters they escape (Jinja's tojson, Go's JSON), and a
// declaration does not say which.
func plain(text string) string {
	return html.UnescapeString(anEscape.ReplaceAllStringFunc(text, func(escape string) string {
		n, _ := strconv.ParseUint(escape[2:], 16, 32)
		return string(rune(n))
	}))
}

// anEscape matches the escape of a letter in JSON.
var anEscape = regexp.MustCompile(`\\u[0-9a-fA-F]{4}`)

// callsText returns calls as one line of text, for errors and as a key.
func callsText(calls []chat.Call) string {
	var b bytes.Buffer
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %s; ", c.Name, c.Args)
	}
	return b.String()
}
