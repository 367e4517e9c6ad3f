package golden

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// Transcript writes the events of a reply as case files do, adjacent fragments joined. A call whose
// arguments are no JSON is an error, and so is what the reply ended with; the transcript up to
// there comes with it. Fragments are joined, since how many there are depends on how the text was
// cut, which must not matter.
func Transcript(events iter.Seq2[chat.Event, error]) (string, error) {
	var w writer
	for e, err := range events {
		if err == nil {
			err = w.event(e)
		}
		if err != nil {
			return w.String(), err
		}
	}
	return strings.TrimRight(w.String(), "\n"), nil
}

// writer joins what belongs together until its line can be written.
// Text is joined until another kind comes, a call until it ends.
type writer struct {
	strings.Builder
	kind  chat.Kind // of the text that is being joined; None without one
	text  []byte
	start chat.Event // of the last call
	args  []byte
	open  bool // the call has not ended
}

// event adds one event. Kinds that cases do not speak of, as usage, are passed over.
// At the finish a call that is open is written, too: one that was cut has no end of its own.
func (w *writer) event(e chat.Event) error {
	if e.Kind != w.kind {
		w.endText()
	}
	switch e.Kind {
	case chat.Text, chat.Reasoning:
		w.kind = e.Kind
		w.text = append(w.text, e.Text...)
	case chat.CallStart:
		w.start, w.open, w.args = e, true, w.args[:0]
	case chat.CallArgs:
		w.args = append(w.args, e.Text...)
	case chat.CallEnd:
		if !json.Valid(w.args) {
			return fmt.Errorf("the arguments of %s are no JSON: %s", w.start.Text, w.args)
		}
		w.call("call")
	case chat.Finish:
		if w.open {
			w.call("open")
		}
		fmt.Fprintf(w, "finish %s\n", e.Text)
	}
	return nil
}

// endText writes the text that was joined, as a Go literal: white space and control bytes must be
// visible in a case.
func (w *writer) endText() {
	if w.kind != chat.None {
		fmt.Fprintf(w, "%s %s\n", w.kind, strconv.Quote(string(w.text)))
	}
	w.kind, w.text = chat.None, w.text[:0]
}

// call writes the line of a call that ended, or was left open.
// Arguments with a newline are a literal: a case has one line for each event.
func (w *writer) call(word string) {
	id := ""
	if w.start.ID != "" {
		id = " id=" + w.start.ID
	}
	args := string(w.args)
	if strings.Contains(args, "\n") {
		args = strconv.Quote(args)
	}
	fmt.Fprintf(w, "%s %d %s%s %s\n", word, w.start.Index, w.start.Text, id, args)
	w.open = false
}
