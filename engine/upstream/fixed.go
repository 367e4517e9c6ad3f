package upstream

import (
	"io"

	"toolnorm/chat"
)

// fixed is a Source of events that are there already.
type fixed []chat.Event

// Next gives the next of them.
func (f *fixed) Next() (chat.Event, error) {
	if len(*f) == 0 {
		return chat.Event{}, io.EOF
	}
	e := (*f)[0]
	*f = (*f)[1:]
	return e, nil
}

// Close drops what is left.
func (f *fixed) Close() error {
	*f = nil
	return nil
}
