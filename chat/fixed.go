package chat

import "io"

// Fixed is a Source of events that are there already, a Finish among them.
type Fixed []Event

var _ Source = (*Fixed)(nil)

// Next gives the next of them.
func (f *Fixed) Next() (Event, error) {
	if len(*f) == 0 {
		return Event{}, io.EOF
	}
	e := (*f)[0]
	*f = (*f)[1:]
	return e, nil
}

// Close drops what is left.
func (f *Fixed) Close() error {
	*f = nil
	return nil
}
