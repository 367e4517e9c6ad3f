package engine

import (
	"bytes"

	"toolnorm/chat"
)

// defaultRepeat is how long a text may repeat itself, if the configuration does not say: some 2,000 tokens of nothing new.
const defaultRepeat = 8 << 10

// stepRepetition is the name of the end of a reply that would have had none.
const stepRepetition = "repetition"

// endRepetition ends a generation that repeats itself for limit bytes: by itself it would stop at its limit of
// tokens, if there is one, and Ollama's own guard sees only one token that repeats. Behind the event with which
// the repetition is long enough the server is told to stop, and its counts are estimated.
func (j *job) endRepetition(limit int) chat.Hook {
	text, bytes := new(repetition), 0
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		switch {
		case err != nil:
		case ev.Kind == chat.Text, ev.Kind == chat.Reasoning, ev.Kind == chat.CallArgs:
			bytes += len(ev.Text)
			if text.write(ev.Text) >= limit {
				j.engine.cfg.Log.Warn().Str("model", j.name).Int("bytes", text.run).Msg("the model repeats itself without end: the reply is ended (setting max-repeat)")
				return ev, j.cutShort(bytes, chat.Length, "the model repeated itself without end", stepRepetition)
			}
		case ev.Kind == chat.Finish && chat.MetaOf(ev).Cause == chat.RepeatAbort: // the server has seen it before us
			ev = withStep(ev, stepRepetition)
		}
		return ev, nil
	}
}

// cutShort is the end of a reply that is ended here after so many bytes. Nobody has counted its tokens: the counts
// come in the last record, which is not waited for. Four bytes are about a token.
func (j *job) cutShort(bytes int, reason, cause, step string) *chat.Fixed {
	counts := &chat.Counts{Prompt: j.estimate(), Completion: bytes / 4, Estimated: true}
	return &chat.Fixed{
		{Kind: chat.Usage, Meta: &chat.Meta{Usage: counts}},
		{Kind: chat.Finish, Text: reason, Meta: &chat.Meta{Cause: cause, Repairs: []string{step}}},
	}
}

const (
	longestPeriod = 512  // bytes of what is written over and over
	repeatStep    = 2048 // bytes between two looks
	probeLength   = 128  // bytes at the end that must have been there before, or there is no period
)

// repetition finds out that a text has come to repeat itself, byte for byte and without end: it looks back every repeatStep
// bytes, and a stretch counts when all of it, with longestPeriod bytes in front, has one period of at most longestPeriod.
// Counters, tables and lists that change by so much as a digit have none. The zero value has read nothing.
//
// Each byte is looked at a bounded number of times, whatever the text, and 0 <= held <= len(seen).
type repetition struct {
	seen [longestPeriod + repeatStep]byte // the end of what was read
	held int                              // bytes in seen
	run  int                              // bytes of the repetition, as far as it was looked at; 0: none
}

// write reads on, and says for how many bytes the text has repeated itself when it was last looked at.
func (r *repetition) write(text string) int {
	for len(text) > 0 {
		n := copy(r.seen[r.held:], text)
		r.held += n
		text = text[n:]
		if r.held < len(r.seen) {
			continue
		}
		if repeats(&r.seen) {
			r.run += repeatStep
		} else {
			r.run = 0
		}
		r.held = copy(r.seen[:], r.seen[repeatStep:])
	}
	return r.run
}

// repeats says whether all of a text has one period of at most longestPeriod. Nearly every text that has none is known by its
// last bytes, which the library finds quickly.
func repeats(text *[longestPeriod + repeatStep]byte) bool {
	n := len(text)
	return bytes.Contains(text[n-probeLength-longestPeriod:n-1], text[n-probeLength:]) && period(text) <= longestPeriod
}

// period is the smallest p for which every byte is equal to the one p before it, as far as there is one. It is found by the
// failure function of Knuth, Morris and Pratt.
func period(text *[longestPeriod + repeatStep]byte) int {
	var border [len(text) + 1]uint16 // border[i] is the longest text that both begins and ends text[:i], and is not all of it
	k := uint16(0)
	for i := 1; i < len(text); i++ {
		for k > 0 && text[i] != text[k] {
			k = border[k]
		}
		if text[i] == text[k] {
			k++
		}
		border[i+1] = k
	}
	return len(text) - int(k)
}
