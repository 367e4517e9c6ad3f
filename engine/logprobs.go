package engine

import (
	"strings"

	"toolnorm/chat"
)

// gathered has the tokens of a reply as the model wrote it, including calls and reasoning.
type gathered struct{ tokens []chat.Token }

// gather is a hook that moves the log probabilities of an event's tokens to g, because only at the
// end of a reply it is known whether the tokens belong to text or to a call.
func (g *gathered) gather(ev chat.Event, err error) (chat.Event, chat.Source) {
	if err == nil && ev.Meta != nil && ev.Meta.Logprobs != nil {
		g.tokens = append(g.tokens, ev.Meta.Logprobs...)
		meta := *ev.Meta
		meta.Logprobs = nil
		ev.Meta = &meta
	}
	return ev, nil
}

// of returns the tokens at the end of the reply that together have exactly the given text. It
// returns nil if there are none, because the text was repaired, or a call comes after it.
func (g *gathered) of(text string) []chat.Token {
	rest := text
	for i := len(g.tokens) - 1; i >= 0; i-- {
		written := string(g.tokens[i].Bytes)
		if g.tokens[i].Bytes == nil {
			written = g.tokens[i].Text
		}
		var ok bool
		if rest, ok = strings.CutSuffix(rest, written); !ok {
			return nil
		}
		if rest == "" {
			return g.tokens[i:]
		}
	}
	return nil
}

// addLogprobs is the stage of a reply that adds log probabilities to a reply that is text although
// tools were offered. They come with the end of the reply. Until then the reply may become a call,
// and its tokens are then markup. A reply with a call gets no log probabilities, and the client is
// told so.
func addLogprobs(j *job, in events) events {
	if j.seen.tokens == nil {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		var text strings.Builder
		calls := false
		handAll(in, yield, func(ev chat.Event) bool {
			switch ev.Kind {
			case chat.Text:
				text.WriteString(ev.Text)
			case chat.CallStart:
				calls = true
			case chat.Finish:
				meta := chat.MetaOf(ev)
				if meta.Logprobs = j.seen.tokens.of(text.String()); meta.Logprobs == nil || calls {
					meta.Logprobs = nil
					j.tell(noteLogprobs, "left out: the reply is not the text that the model wrote")
				}
				ev.Meta = &meta
			}
			return yield(ev, nil)
		})
	}
}
