package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// The last stages of a reply, which see exactly what the client will get. They handle the ids of
// calls, stop sequences, and the end.

// idLetters are the characters of a generated id. 24 of them have 142 bits, so no two ids will be
// the same.
const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// numberCalls sets the number and the id of every call of a reply. An id is the model's own if
// every client accepts it and the conversation does not have it yet, and a random one otherwise.
// Some models count their calls anew in every turn, but clients look results up by id.
func numberCalls(r *chat.Request, in events) events {
	// Ids of the history count as used: templates and clients that keep results by id would give
	// this call the result of an old one.
	used := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			used[c.ID] = true
		}
	}
	calls := 0
	return eachEvent(in, func(ev chat.Event) chat.Event {
		switch ev.Kind {
		case chat.CallStart:
			if !goodID(ev.ID) || used[ev.ID] {
				ev.ID = newID()
			}
			used[ev.ID] = true
			ev.Index = calls
			calls++
		case chat.CallArgs, chat.CallEnd:
			ev.Index = calls - 1
		}
		return ev
	})
}

// goodID reports whether every client accepts the id. Clients pass ids on to other services. OpenAI
// refuses ids of more than 40 bytes, and Anthropic all characters but letters, digits, _ and -.
func goodID(id string) bool {
	return 1 <= len(id) && len(id) <= 40 && strings.IndexFunc(id, notOpenAI) < 0
}

// newID returns a random id of the same form as OpenAI's: "call_" and 24 letters and digits.
func newID() string {
	id := make([]byte, 0, 29)
	id = append(id, "call_"...)
	for len(id) < cap(id) {
		var b [32]byte
		rand.Read(b[:])
		for _, c := range b {
			// Six bits give 64 numbers for 62 letters. The last two are drawn again, otherwise some
			// letters would come more often.
			if c &= 63; int(c) < len(idLetters) && len(id) < cap(id) {
				id = append(id, idLetters[c])
			}
		}
	}
	return string(id)
}

// stopAtStops ends a reply at the first of the client's stop sequences in its visible text, and
// does not send the sequence itself. It holds back only the longest end of the text that may be the
// beginning of a stop sequence. Other events release the held text, since a sequence must not
// continue across them. When the reply is ended, the server's counts have not come yet, since they
// are in the last record. So the tokens are estimated, with four bytes for a token.
func stopAtStops(r *chat.Request, spent chat.Counts, in events) events {
	if !ownStops(r) {
		return in
	}
	stops := r.Stop
	return func(yield func(chat.Event, error) bool) {
		held, bytes := "", 0
		text := func(s string) bool {
			return s == "" || yield(chat.Event{Kind: chat.Text, Text: s}, nil)
		}
		for ev, err := range in {
			bytes += len(ev.Text)
			if err == nil && ev.Kind == chat.Text {
				all := held + ev.Text
				if at, stop := first(all, stops); at >= 0 {
					if text(all[:at]) {
						sendAll(*ending(spent.Plus(guessCounts(r, bytes+3)), chat.Stop,
							chat.Meta{Stopped: stop}), yield)
					}
					return
				}
				// Of "a E" with the sequence END only the E waits: holding more would delay every
				// word of the reply.
				keep := beginning(all, stops)
				held = all[len(all)-keep:]
				if !text(all[:len(all)-keep]) {
					return
				}
				continue
			}
			if !text(held) || !yield(ev, err) {
				return
			}
			held = ""
		}
	}
}

// first returns the offset in s of the stop sequence that ends first, and the sequence itself. If
// several end at the same place, it returns the longest. It returns -1 and "" if s contains none.
// The end of a sequence decides and not its beginning, so that text in pieces stops where the same
// text in one piece does.
func first(s string, stops []string) (found int, which string) {
	found, end := -1, len(s)+1
	for _, stop := range stops {
		at := strings.Index(s, stop)
		if stop == "" || at < 0 {
			continue
		}
		if e := at + len(stop); e < end || e == end && at < found {
			found, end, which = at, e, stop
		}
	}
	return found, which
}

// beginning returns the length of the longest end of s that is the beginning of a stop sequence but
// not all of it, or 0. It looks at no more bytes than the sequences have, so long texts cost no
// more than short ones.
func beginning(s string, stops []string) int {
	longest := 0
	for _, stop := range stops {
		for n := min(len(stop)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, stop[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// finish completes the end of a reply. It adds to the Finish event how the reply was read, and
// drops any events after it. A reply without a Finish ends with an error instead, and so does a
// reply that the server gave up before any call was complete. An empty reply is passed on as it is,
// because models do answer with nothing, for example after the result of a tool, and asking again
// would bring the same.
func finish(ctx context.Context, f *adapters.Format, strategy string, in events) events {
	return func(yield func(chat.Event, error) bool) {
		for ev, err := range in {
			if err != nil {
				yield(chat.Event{}, err)
				return
			}
			if ev.Kind != chat.Finish {
				if !yield(ev, nil) {
					return
				}
				continue
			}
			meta := chat.MetaOf(ev)
			// Abandoned reaches this stage only when no call was complete: otherwise the decoder
			// turns it into a stop. Another strategy reads the model without the parser that gave
			// up.
			if ev.Text == chat.Abandoned {
				yield(chat.Event{}, &fault.Error{Kind: fault.Unavailable,
					Message: "the model server says: " + meta.Cause, Curable: true})
				return
			}
			if meta.Strategy = strategy; f != nil {
				meta.Format = f.Name
			}
			ev.Meta = &meta
			yield(ev, nil)
			return
		}
		yield(chat.Event{}, whyUnfinished(ctx))
	}
}

// guessCounts returns estimated counts of a reply that the engine ends after the given number of
// bytes, with four bytes for a token. The server's own counts come in the last record, which is not
// waited for.
func guessCounts(r *chat.Request, bytes int) chat.Counts {
	return chat.Counts{Prompt: estimate(r), Completion: bytes / 4, Estimated: true}
}

// ending returns the last events of a reply that is ended by the engine and not by its server: the
// counts, and the reason.
func ending(counts chat.Counts, reason string, meta chat.Meta) *chat.Fixed {
	return &chat.Fixed{{Kind: chat.Usage, Meta: &chat.Meta{Usage: &counts}},
		{Kind: chat.Finish, Text: reason, Meta: &meta}}
}

// costing returns the event ev with the token counts in spent added to its own. An event without
// counts is returned unchanged. The counts are copied, because the server's event may still be used
// by an observer.
func costing(ev chat.Event, spent chat.Counts) chat.Event {
	meta := chat.MetaOf(ev)
	if meta.Usage == nil || spent == (chat.Counts{}) {
		return ev
	}
	sum := meta.Usage.Plus(spent)
	meta.Usage, ev.Meta = &sum, &meta
	return ev
}

// withStep returns a Finish event with the name of one more repair step in its Meta. The Meta is a
// copy, because the event's own may still be used by the decoder or an observer.
func withStep(ev chat.Event, step string) chat.Event {
	meta := chat.MetaOf(ev)
	meta.Repairs = append(slices.Clip(meta.Repairs), step)
	ev.Meta = &meta
	return ev
}

// add returns the events of a reply. Its counts include the tokens that were spent before the
// reply, on asking the model whether it needs a tool. The client pays for these tokens as well. The
// costs of repairs are not included, since the guard, which repairs calls, adds those itself.
func (b beforehand) add(in events) events {
	if b.spent == (chat.Counts{}) {
		return in
	}
	return eachEvent(in, func(ev chat.Event) chat.Event {
		if ev.Kind == chat.Usage {
			ev = costing(ev, b.spent)
		}
		return ev
	})
}

// whyUnfinished returns the error of a reply that ended without a Finish. It is the context's cause
// if the context has ended. The reply ends with an error and never with a stop, because a client
// that takes half a reply for a whole one acts on it.
func whyUnfinished(ctx context.Context) error {
	var f *fault.Error
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &f):
		return f
	case cause != nil:
		return &fault.Error{Kind: fault.Canceled, Message: "the client went away", Cause: cause}
	}
	return fault.New(fault.Unavailable, "the model server ended its reply in the middle")
}
