package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Reads says what of calls and of the text in front of them is not read from raw, with these tools offered; nil: all is.
// Text must be equal to the byte, arguments as JSON. White space in arguments is the model's, and every reader takes it.
// The text may be a case's, a template's or one that the format printed itself; the error shows both sides on lines of their own.
func Reads(f *adapters.Format, raw, said string, calls []chat.Call, tools []chat.Tool) error {
	var reply chat.Collector
	for e, err := range f.Decode(text(raw), adapters.Options{Tools: tools}) {
		if err != nil {
			return err
		}
		reply.Add(e)
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

// text is a reply that arrives in one piece and then ends by itself.
func text(s string) chat.Source {
	return &whole{chat.Event{Kind: chat.Text, Text: s}, chat.Event{Kind: chat.Finish, Text: chat.Stop}}
}

// whole is such a reply: the events that are left of it.
type whole []chat.Event

func (w *whole) Next() (chat.Event, error) {
	if len(*w) == 0 {
		return chat.Event{}, io.EOF
	}
	e := (*w)[0]
	*w = (*w)[1:]
	return e, nil
}

func (w *whole) Close() error { return nil }

// same compares two objects, white space aside.
// The order of members counts: templates that sort them would else pass for families that do not.
func same(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// written are calls on one line.
func written(calls []chat.Call) string {
	var b bytes.Buffer
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %s; ", c.Name, c.Args)
	}
	return b.String()
}
