package chat

import "io"

// Fixed is a Source of given events, which include a Finish.
type Fixed []Event

var _ Source = (*Fixed)(nil)

// Next returns the next event, or io.EOF after the last one.
func (f *Fixed) Next() (Event, error) {
	if len(*f) == 0 {
		return Event{}, io.EOF
	}
	e := (*f)[0]
	*f = (*f)[1:]
	return e, nil
}

// Close removes the remaining events. It always returns nil.
func (f *Fixed) Close() error {
	*f = nil
	return nil
}

// Hook sees each event of a Source before the reader does, and may change it. If the result rest is
// not nil, it replaces the remaining events of the source. The hook also sees the error that ends a
// source, but cannot change it.
type Hook func(ev Event, err error) (_ Event, rest Source)

// Watch returns a source of the events of src, which calls the hooks in their order for every event
// before its reader gets it. Events are passed by value and not stored, so watching costs no
// allocation per event.
func Watch(src Source, hooks ...Hook) Source {
	if len(hooks) == 0 {
		return src
	}
	return &watched{src, hooks}
}

// watched is a Source whose events pass through hooks before the reader gets them.
type watched struct {
	Source
	hooks []Hook
}

// Next implements Source and passes the next event through the hooks. If a hook returns a rest, the
// source is closed at once, so that its server stops writing. The rest passes through the hooks as
// well.
func (w *watched) Next() (Event, error) {
	ev, err := w.Source.Next()
	for _, hook := range w.hooks {
		var rest Source
		if ev, rest = hook(ev, err); rest != nil {
			_ = w.Source.Close() // the rest of it is not wanted
			w.Source = rest
		}
	}
	return ev, err
}
