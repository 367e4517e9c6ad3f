package derive

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Reads returns an error that tells which of the calls, or of the text before them, is not read
// from raw, with these tools offered, or nil if all is. Text must be equal to the byte, arguments
// as JSON. White space in arguments is the model's, and every reader takes it. The text may be a
// case's, a template's or one that the format printed itself; the error shows both sides on lines
// of their own.
func Reads(f *adapters.Format, raw, said string, calls []chat.Call, tools []chat.Tool) error {
	return readsAs(f, raw, said, calls, adapters.Options{Tools: tools})
}

// readsAs is like [Reads] with other options of reading.
func readsAs(f *adapters.Format, raw, said string, calls []chat.Call, o adapters.Options) error {
	reply, err := readAs(f, raw, o)
	if err != nil {
		return err
	}
	if got := reply.Text.String(); got != said {
		return fmt.Errorf("got  text %q\nwant text %q", got, said)
	}
	for i, c := range calls {
		if len(reply.Calls) != len(calls) || reply.Calls[i].Name != c.Name || !same(reply.Calls[i].Args, c.Args) {
			return fmt.Errorf("got  %s\nwant %s", written(reply.Calls), written(calls))
		}
	}
	return nil
}

// read collects what a format reads from a reply that arrives in one piece and then ends by itself.
func read(f *adapters.Format, raw string, tools []chat.Tool) (*chat.Collector, error) {
	return readAs(f, raw, adapters.Options{Tools: tools})
}

// readAs reads a reply with the given options.
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

// same compares two objects, white space aside.
// The order of members counts: templates that sort them would else pass for families that do not.
func same(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// written returns calls on one line, where the first difference between what was meant and what was
// read is easiest to see.
func written(calls []chat.Call) string {
	var b bytes.Buffer
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %s; ", c.Name, c.Args)
	}
	return b.String()
}
