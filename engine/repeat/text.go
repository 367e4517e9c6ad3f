package repeat

import "bytes"

const (
	longestPeriod = 512  // bytes of the text that is repeated
	repeatStep    = 2048 // bytes between two checks
	probeLength   = 128  // bytes at the end that must occur before; otherwise there is no period
)

// Text detects that a text has begun to repeat itself, byte for byte. It checks every repeatStep
// bytes. It takes these bytes for a repetition if, together with the longestPeriod bytes before
// them, they have a period of at most longestPeriod. Counters, tables and lists that change by so
// much as a digit have no such period. The zero value has read nothing.
//
// Each byte is examined a bounded number of times, whatever the text. The field held is never
// negative and at most len(seen).
type Text struct {
	seen [longestPeriod + repeatStep]byte // the end of what was read
	held int                              // bytes in seen
	run  int                              // bytes of the repetition, as of the last check; 0: none
}

// Write adds text, and returns for how many bytes the text had repeated itself at the last check,
// or 0.
func (r *Text) Write(text string) int {
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

// repeats reports whether a whole text repeats one piece of at most longestPeriod bytes. It first
// searches for a second occurrence of the text's last bytes, because nearly every other text has
// none, and the search is quick.
func repeats(text *[longestPeriod + repeatStep]byte) bool {
	n := len(text)
	return bytes.Contains(text[n-probeLength-longestPeriod:n-1], text[n-probeLength:]) &&
		period(text) <= longestPeriod
}

// period returns the smallest p for which every byte is equal to the byte p positions before it, or
// the length of the text if there is none. It uses the failure function of Knuth, Morris and Pratt.
func period(text *[longestPeriod + repeatStep]byte) int {
	// border[i] is the longest text that both begins and ends text[:i], and is shorter than it
	var border [len(text) + 1]uint16
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
