package ollama

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// Damaged characters are put back from what the server made of the same tokens. Both are compared without what depends on
// spelling: only letters, digits and characters beyond ASCII count.

// mend puts back the damaged characters of tokens from what the server has read in them: told holds them whole, though
// perhaps in another order, spelling and surroundings. The place in told is the one that most of what stands around the
// damage stands around too. False means that told does not tell, or that it tells two things.
func mend(tokens, told []byte) ([]byte, bool) {
	text, oracle := essence(tokens), essence(told)
	at := -1 // in the oracle: where the text's next unit should be; -1 when that is lost
	for i := 0; i < len(text); {
		n := text.unknown(i)
		switch {
		case n == 0 && at >= 0 && at < len(oracle) && oracle[at] == text[i]:
			at++
			i++
			continue
		case n == 0:
			at = -1
			i++
			continue
		case at < 0 || !oracle.fits(at, n):
			if at = oracle.place(text, i, n); at < 0 {
				return nil, false
			}
		}
		copy(text[i:i+n], oracle[at:at+n])
		at, i = at+n, i+n
	}
	return text.into(tokens), true
}

// mendShown is mend where the server has shown the text itself, perhaps not all of it yet: from tokens[past] on or a little
// earlier. What it has shown must be the text, unit by unit, and reach behind the last damage.
func mendShown(tokens []byte, past int, told []byte) ([]byte, bool) {
	text, oracle := essence(tokens), essence(told)
	found := -1
	for at := len(essence(tokens[:past])); at >= 0; at-- {
		if oracle.alike(text[at:], len(oracle)) < len(oracle) {
			continue
		}
		if found >= 0 && !text.sameFill(oracle, found, at) {
			return nil, false
		}
		found = at
	}
	if found < 0 || slices.Contains(text[found+len(oracle):], unknown) {
		return nil, false
	}
	copy(text[found:], oracle)
	return text.into(tokens), true
}

// sameFill says whether the damage in u becomes the same, whether the oracle stands at one place or at another.
func (u units) sameFill(oracle units, one, other int) bool {
	for i, c := range u {
		if c == unknown && (max(i-one, i-other) >= len(oracle) || oracle[i-one] != oracle[i-other]) {
			return false
		}
	}
	return true
}

// units are the bytes of a text that count.
type units []byte

// unknown is the unit of a damaged byte. No byte of UTF-8 text is like it.
const unknown = 0xFF

// unit is what counts at text[i]: one byte, or unknown for a damaged one, and how long that is spelled. Punctuation and
// white space do not count, nor a letter behind a backslash, which is one of them in another spelling.
func unit(text []byte, i int) (u byte, size int, counts bool) {
	c := text[i]
	switch {
	case bytes.HasPrefix(text[i:], []byte(damaged)):
		return unknown, len(damaged), true
	case c >= utf8.RuneSelf:
		return c, 1, true
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return c, 1, i == 0 || text[i-1] != '\\'
	}
	return c, 1, false
}

// essence is all that counts of a text.
func essence(text []byte) units {
	out := make(units, 0, len(text))
	for i := 0; i < len(text); {
		u, size, counts := unit(text, i)
		if counts {
			out = append(out, u)
		}
		i += size
	}
	return out
}

// into puts the units, whose unknown ones were found, back into the text that they were taken from.
func (u units) into(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i, at := 0, 0; i < len(text); {
		was, size, counts := unit(text, i)
		if was == unknown && u[at] != unknown {
			out = append(out, u[at])
		} else {
			out = append(out, text[i:i+size]...)
		}
		if counts {
			at++
		}
		i += size
	}
	return out
}

// unknown is how many damaged bytes stand at i.
func (u units) unknown(i int) int {
	n := 0
	for i+n < len(u) && u[i+n] == unknown {
		n++
	}
	return n
}

// fits says whether n bytes of whole characters beyond ASCII stand at i. U+FFFD, written by the model itself, is one byte.
func (u units) fits(i, n int) bool {
	if i < 0 || i+n > len(u) {
		return false
	}
	for part := u[i : i+n]; len(part) > 0; {
		size := 1
		if part[0] != unknown {
			if _, size = utf8.DecodeRune(part); size < 2 {
				return false
			}
		}
		part = part[size:]
	}
	return true
}

// around is how many units on each side of a damage are compared at most.
const around = 64

// place finds where the n units of text from i on stand in u, -1 when they do not, or when as much speaks for another place
// that tells something else.
func (u units) place(text units, i, n int) int {
	best, most, clear := -1, -1, true
	for p := range u {
		if !u.fits(p, n) {
			continue
		}
		score := u[:p].alikeBack(text[:i], around) + u[p+n:].alike(text[i+n:], around)
		switch {
		case score > most:
			best, most, clear = p, score, true
		case score == most && !bytes.Equal(u[best:best+n], u[p:p+n]):
			clear = false
		}
	}
	if !clear {
		return -1
	}
	return best
}

// like says whether a unit may be what stands in the text, where damage is like whatever may have been there.
func like(u, text byte) bool { return u == text || text == unknown && u >= utf8.RuneSelf }

// alike counts how many units from the beginning on are those of text, up to a limit.
func (u units) alike(text units, limit int) int {
	n := 0
	for n < min(limit, len(u), len(text)) && like(u[n], text[n]) {
		n++
	}
	return n
}

// alikeBack counts how many units from the end back are those of text.
func (u units) alikeBack(text units, limit int) int {
	n := 0
	for n < min(limit, len(u), len(text)) && like(u[len(u)-1-n], text[len(text)-1-n]) {
		n++
	}
	return n
}

// appendTold appends what a JSON value says: its keys and its strings as they read, its numbers, in order.
func appendTold(dst []byte, v *fastjson.Value) []byte {
	if v == nil {
		return dst
	}
	switch v.Type() {
	case fastjson.TypeObject:
		v.GetObject().Visit(func(key []byte, member *fastjson.Value) {
			dst = appendTold(append(append(dst, ' '), key...), member)
		})
	case fastjson.TypeArray:
		for _, item := range v.GetArray() {
			dst = appendTold(dst, item)
		}
	case fastjson.TypeString:
		dst = append(append(dst, ' '), v.GetStringBytes()...)
	default:
		dst = v.MarshalTo(append(dst, ' '))
	}
	return dst
}
