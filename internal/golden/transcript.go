package golden

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// Transcript returns the events of a reply in the notation of case files, with adjacent fragments
// joined. They are joined because their number depends on how the text was split, which must not
// matter. It fails if the reply ends with an error or the arguments of a call are not JSON; the
// transcript up to there is then returned with the error.
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

// writer writes events as the lines of a case file. Adjacent fragments become one line: text ends
// when an event of another kind comes, and a call when it is complete.
type writer struct {
	strings.Builder
	kind  chat.Kind // the kind of the text that is being joined; None if there is none
	text  []byte
	start chat.Event // of the last call
	args  []byte
	open  bool // the call has not ended
}

// event adds one event of a reply to what w writes. Events that the notation does not have, such as
// usage, are ignored. A call that is not complete at the event Finish was cut off, and is written
// as an open call. The error means that the arguments of a call are not JSON.
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

// endText ends a run of text events, which are joined, and writes their text, if there is any, as a
// Go string literal, so that white space and control bytes are visible.
func (w *writer) endText() {
	if w.kind != chat.None {
		fmt.Fprintf(w, "%s %s\n", w.kind, strconv.Quote(string(w.text)))
	}
	w.kind, w.text = chat.None, w.text[:0]
}

// call writes the line of a call, which begins with word: "call" if it ended, "open" if it was cut
// off. Arguments with a newline are written as a Go literal, because a case has one line for each
// event.
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
