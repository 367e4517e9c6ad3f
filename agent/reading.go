package agent

import (
	"iter"
	"strings"
	"unicode/utf8"

	"toolnorm/agent/internal/worded"
	"toolnorm/chat"
	"toolnorm/tools"
)

// reader returns a reader of calls in words, such as "Action: add". The function theirs reports
// whether a name is one of the client's tools; it may be nil.
func (ts *toolset) reader(theirs func(name string) bool) *worded.Reader {
	return &worded.Reader{Tools: ts.offered(), Also: ts.also, Foreign: theirs}
}

// offered returns all tools of the run with their own names. It includes tools that are not
// described to the model, because the model may have found one by a search or know it from an
// earlier conversation.
func (ts *toolset) offered() []chat.Tool {
	all := ts.chat(ts.list, func(name string) string { return name })
	if ts.searched {
		all = append(all, asChat(searcher))
	}
	return all
}

// asChat returns a tool in the form of a chat request.
func asChat(t tools.Tool) chat.Tool {
	return chat.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
}

// watch holds back the text of a chat that may become a call in words, such as "Action: add", or an
// answer after "Final Answer:", until that is decided, because what the client has received cannot
// be taken back. Everything else is passed on at once.
type watch struct {
	reader *worded.Reader
	shown  strings.Builder // the text that was passed on
	held   string          // the text that is held back
	called bool            // the engine has read a call, so the text after it is only text

	// advises reports whether a text is advice to use a tool. Then the reply is not an answer, and
	// none of it is shown. The first line waits until that is decided. nil: any text may be shown.
	advises func(text string) bool
	mute    bool

	thought strings.Builder // what the model has thought

	speller *speller // corrects names in the text that is passed on; nil: names are not corrected
	part    string   // text that waits because its last name may not be complete
}

// read returns the events of a reply. It holds back text that may become a call, and adds events
// for the calls that it finds in that text.
func (w *watch) read(in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for e, err := range in {
			ok := true
			switch {
			case e.Kind == chat.Reasoning:
				if w.thought.Len() < worded.Longest {
					w.thought.WriteString(e.Text)
				}
				ok = yield(e, nil)
			case err != nil || e.Kind == chat.Usage:
				ok = yield(e, err)
			case e.Kind == chat.Text && !w.called:
				ok = w.add(e, yield)
			case e.Kind == chat.Finish:
				ok = w.end(e, yield) && w.flush(yield) && yield(e, nil)
			default:
				w.called = true
				ok = w.release(yield) && w.flush(yield) && yield(e, nil)
			}
			if !ok {
				return
			}
		}
	}
}

// add takes the next piece of a reply's text. It holds back what may become a call, and passes the
// rest on to yield. It returns false if no more events are wanted.
func (w *watch) add(e chat.Event, yield func(chat.Event, error) bool) bool {
	w.held += e.Text
	if w.waits() {
		return true
	}
	for w.held != "" {
		if len(w.held) > worded.Longest {
			return w.release(yield)
		}
		fresh := w.shown.Len() == 0 || strings.HasSuffix(w.shown.String(), "\n")
		at := w.reader.Begins(w.held, fresh)
		switch {
		case at == 0:
			return true
		case at < 0:
			return w.release(yield)
		}
		if !w.pass(w.held[:at], yield) {
			return false
		}
		w.held = w.held[at:]
	}
	return true
}

// mostAdvice is how many bytes of an answer wait until it is decided that it is not advice to use a
// tool.
const mostAdvice = 240

// waits reports whether the text that is held back must stay so, because its first line is not
// complete or only advises the user to call a tool.
func (w *watch) waits() bool {
	if w.advises == nil || w.mute {
		return w.mute
	}
	line, _, whole := strings.Cut(strings.TrimLeft(w.held, " \n"), "\n")
	if !whole && len(line) <= mostAdvice {
		return true
	}
	w.decide(line)
	return w.mute
}

// decide sets w.mute if line, the first line of the reply, only advises the user to call a tool. If
// w.mute is set, no text of the reply is passed on.
func (w *watch) decide(line string) {
	w.mute = w.advises != nil && w.advises(line)
	w.advises = nil
}

// release passes on all text that was held back, unless the reply is not to be shown (w.mute). It
// returns false if no more events are wanted.
func (w *watch) release(yield func(chat.Event, error) bool) bool {
	text := w.held
	w.held = ""
	if !w.mute {
		w.decide(text)
	}
	if w.mute {
		return true
	}
	return text == "" || w.pass(text, yield)
}

// pass passes a text on to the client. If names are corrected (w.speller), the word at its end is
// held back until it is complete. It returns false if no more events are wanted.
func (w *watch) pass(text string, yield func(chat.Event, error) bool) bool {
	w.shown.WriteString(text)
	if w.speller == nil {
		return yield(chat.Event{Kind: chat.Text, Text: text}, nil)
	}
	w.part += text
	if at := strings.LastIndexAny(w.part, endsName); at >= 0 || len(w.part) > mostAdvice {
		rest := ""
		if at >= 0 {
			_, size := utf8.DecodeRuneInString(w.part[at:])
			w.part, rest = w.part[:at+size], w.part[at+size:]
		}
		ok := w.flush(yield)
		w.part = rest
		return ok
	}
	return true
}

// flush passes on the text that is held back because a name in it may be incomplete. It returns
// false if no more events are wanted.
func (w *watch) flush(yield func(chat.Event, error) bool) bool {
	text := w.part
	if w.part = ""; text == "" {
		return true
	}
	return yield(chat.Event{Kind: chat.Text, Text: w.speller.correct(text)}, nil)
}

// end reads the text that is still held back when the event e ends the reply. Calls in it are
// passed on as events. If it has none, the text is passed on as the answer, and labels such as
// "Final Answer:" are removed. The result is false if no more events are wanted.
func (w *watch) end(e chat.Event, yield func(chat.Event, error) bool) bool {
	text := w.shown.String() + w.held
	switch {
	case w.called:
		return true
	// If a thought never ends, a call at its end is part of the thought.
	case strings.TrimSpace(text) == "":
		text = w.thought.String()
	case strings.TrimSpace(w.held) == "":
		return w.release(yield)
	}
	calls, front := w.reader.Calls(text, e.Text)
	if w.held == "" {
		front = "" // it was shown as a thought
	}
	if len(calls) == 0 {
		w.held = worded.Answer(w.held)
		return w.release(yield)
	}
	front = strings.TrimSpace(strings.TrimPrefix(front, strings.TrimSpace(w.shown.String())))
	if w.held = ""; front != "" && !w.pass(front, yield) {
		return false
	}
	for i, c := range calls {
		if !yield(chat.Event{Kind: chat.CallStart, Index: i, Text: c.Name}, nil) ||
			!yield(chat.Event{Kind: chat.CallArgs, Index: i, Text: string(c.Args)}, nil) ||
			!yield(chat.Event{Kind: chat.CallEnd, Index: i}, nil) {
			return false
		}
	}
	return true
}
