package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// marks finds the literals and marks of families in the text ahead. It answers all questions of the
// kind "does this end here", since whether a mark counts depends on what follows it, for every part
// alike. It has no state, so a question can be asked repeatedly with the same answer.
type marks struct {
	*scan.Buffer
	in    *input
	f     *declaration.Family // the family that is read
	index *declaration.Index  // of the marks of all families that count
}

// replyEnd returns how long the reply is from here on, without a mark of the turn behind it, or -1
// if it was cut or goes says of a byte that the text cannot be a call: the missing part might have
// made it a record.
func (ms *marks) replyEnd(goes func(byte) bool) int {
	for n := 0; ; n++ {
		switch c := ms.At(n); {
		case c < 0 && ms.in.lengthCut():
			return -1
		// <|im_end|>
		case c < 0 || c == '<' && n > 0 && ms.over(n):
			return n
		case !goes(byte(c)):
			return -1
		}
	}
}

// marksAt returns the list of marks that could be at offset i, by the first two bytes there. Two
// table look-ups end it for nearly every byte of prose; all marks of all families are in the one
// index.
func (ms *marks) marksAt(i int) []declaration.Mark {
	c := ms.At(i)
	if c < 0 || ms.index.Second[c] == nil {
		return nil
	}
	if next := ms.At(i + 1); next < 0 || !ms.index.Second[c][next] {
		return nil
	}
	return ms.index.Marks[c]
}

// firstMark returns the first mark of a kind that is at offset i, or nil when there is none. Longer
// keys come first in the index, so of <tool_call and <tool_calls> the longer one is found where it
// is written.
func (ms *marks) firstMark(i int, is func(m *declaration.Mark) bool) *declaration.Mark {
	marks := ms.marksAt(i)
	for k := range marks {
		if m := &marks[k]; is(m) && ms.stands(i, m) {
			return m
		}
	}
	return nil
}

// stands reports whether the mark is at offset i.
func (ms *marks) stands(i int, m *declaration.Mark) bool { return ms.markSize(i, m) > 0 }

// proof reports whether the tokens show if the mark of a call at offset i is real (known), and
// whether it is real, having come as its control token (proven). If not every piece is a token,
// only a real mark is known.
func (ms *marks) proof(i int, m *declaration.Mark) (known, proven bool) {
	if len(ms.in.control) == 0 || !opensCall(m) && m.Kind != declaration.HeaderOpen {
		return false, false
	}
	known = slices.ContainsFunc(ms.in.control, func(token string) bool {
		return strings.HasPrefix(m.Key, token)
	})
	proven = known && ms.in.tokens[ms.Pos+i]
	return proven || known && ms.in.whole, proven
}

// markSize returns how many bytes the mark m has at offset i, or 0 when it is not there. Suffixes
// (<｜hy_eos:opensource｜>) belong to it, and the blanks that Kimi K3 and others write: <|open|>
// tools <|sep|>. A mark is compared as a whole here; the index has looked only at its first two
// bytes.
func (ms *marks) markSize(i int, m *declaration.Mark) int {
	if len(m.Loose.Units) > 0 {
		if end, a := ms.literal(i, m.Loose); a == matched {
			return end - i
		}
	} else if ms.Has(i, m.Key) {
		return len(m.Key)
	}
	return 0
}

// isTurn reports whether a mark ends a turn or a message, and so may end what precedes it as well.
func isTurn(m *declaration.Mark) bool { return m.Kind == declaration.TurnMark }

// opensCall reports whether a mark begins a call or a section of them.
func opensCall(m *declaration.Mark) bool {
	return m.Kind >= declaration.SectionOpen && m.Kind <= declaration.InnerOpen
}

// structure reports whether a mark that is not a closer is at offset i. Closers do not count, as
// they may belong to what the text quotes. A mark of the turn is an end if a call or another such
// mark follows.
func (ms *marks) structure(i int) bool {
	return ms.firstMark(i, func(m *declaration.Mark) bool {
		return m.Kind <= declaration.TurnMark
	}) != nil
}

// continues reports whether another mark follows at offset i, after white space: the mark of a
// call, of a message or of the turn's end, unless words follow the latter on its line.
func (ms *marks) continues(i int) bool {
	i += ms.Space(i)
	m := ms.firstMark(i, isTurn)
	if m == nil {
		return ms.structure(i)
	}
	i += ms.markSize(i, m)
	return ms.At(i) < 0 || ms.At(i) == '\n' || ms.structure(i+ms.Space(i))
}

// turnEnds reports whether a mark of the turn is here. A model that ends its turn has no more to
// say, so the call before it was meant.
func (ms *marks) turnEnds() bool { return ms.firstMark(0, isTurn) != nil }

// goesOn reports whether a call, a message or a mark of the turn is here. Each of them begins
// something that the model itself writes, and that a tool's answer does not contain.
func (ms *marks) goesOn() bool {
	return ms.firstMark(0, func(m *declaration.Mark) bool {
		return m.Kind == declaration.SectionOpen || m.Kind == declaration.CallOpen ||
			m.Kind == declaration.HeaderOpen || isTurn(m)
	}) != nil
}

// endMark reports whether a mark that ends or begins a call or a turn is at offset i. Marks of
// every family count: borrowed tags end where the other family's marks do.
func (ms *marks) endMark(i int) bool {
	return ms.firstMark(i, func(m *declaration.Mark) bool {
		return m.Kind >= declaration.SectionOpen && m.Kind <= declaration.TurnMark ||
			m.Kind == declaration.CloseMark && len(m.Pattern.Family.Sections) > 0
	}) != nil
}

// anyMark reports whether a mark is here. Code spans are searched for their end only if they hold a
// mark: most spans hold a word.
func (ms *marks) anyMark() bool {
	return ms.firstMark(0, func(*declaration.Mark) bool { return true }) != nil
}

// ownMark reports whether a mark of the model's own family that is not a word of prose is at offset
// i. Another family's marks in a block are what the block is about. After a fence at the end of a
// line the model's own mark shows that the fence closes, whatever its rules say.
func (ms *marks) ownMark(i int) bool {
	return ms.firstMark(i, func(m *declaration.Mark) bool { return m.Own && !m.IsWord() }) != nil
}

// halfSuffix reports whether the text ends inside a mark that may have a suffix: that is half a
// mark, though its key is whole. <tool_call alone is whole as Hunyuan's key, which may go on with
// :word, and half of every other family's <tool_call>. Half a mark at the end of a reply is text.
func (ms *marks) halfSuffix(m *declaration.Mark) bool {
	// for <tool_call name=", <tool_call> is a mark too
	longer := func(o declaration.Mark) bool { return o.Key == m.Key+">" }
	if m.Pattern == nil || !strings.Contains(m.Pattern.Parts[0].Lit.Text, declaration.SuffixHole) &&
		!slices.ContainsFunc(ms.marksAt(0), longer) {
		return false
	}
	_, a := ms.literal(0, m.Pattern.Parts[0].Lit)
	return a == incomplete
}

// minHalf is how much of a mark shows that it is one, in bytes: "<|" and "</" begin many things.
const minHalf = 3

// half returns the mark that is cut here by the end of the text, if the reply ended by its length:
// a model that wrote that much of a mark was about to write the rest.
func (ms *marks) half() *declaration.Mark {
	c := ms.At(0)
	if c < 0 {
		return nil
	}
	for i := range ms.index.Marks[c] {
		m, n := &ms.index.Marks[c][i], 1
		if m.IsWord() || !m.Own && !m.Special() {
			continue
		}
		for n < len(m.Key) && ms.At(n) == int(m.Key[n]) {
			n++
		}
		if n >= minHalf && n < len(m.Key) && ms.At(n) < 0 && ms.in.lengthCut() {
			return m
		}
	}
	return nil
}

// cutIn reports whether the reply was cut by its length inside the literal at offset i.
func (ms *marks) cutIn(i int, l declaration.Literal) bool {
	_, a := ms.literal(i, l)
	return a == incomplete && ms.in.lengthCut()
}

// over reports whether the model has ended at offset i, after white space: by itself, or with a
// mark of the turn that is the last thing. A reply that was cut by its length has not ended: what
// would have followed may have made an example of the call. The mark of the turn may be <|im_end|>,
// which servers should not have let through.
func (ms *marks) over(i int) bool {
	i += ms.Space(i)
	if m := ms.firstMark(i, isTurn); m != nil {
		i += ms.markSize(i, m)
		return ms.At(i+ms.Space(i)) < 0
	}
	return ms.At(i) < 0 && !ms.in.lengthCut()
}

// modelEnded reports whether the text is over because the model ended it. With finish length the
// text could have gone on, and a closer could have come.
func (ms *marks) modelEnded() bool { return ms.At(0) < 0 && !ms.in.lengthCut() }

// atEnd reports whether the text is over, but for white space.
func (ms *marks) atEnd() bool { return ms.At(ms.Space(0)) < 0 }

// mayEnd reports, after a quick look, whether the reply may end at offset i, after a name: [over]
// decides.
func (ms *marks) mayEnd(i int) bool {
	c := ms.At(i)
	return c < 0 || scan.IsSpace(c) || ms.marksAt(i) != nil
}

// lineRest returns the offset of the first sign of a mark, or of the line's end, after offset i, or
// i if that is too far. Beyond ASCII only a mark ends it, DeepSeek's ｜ or Kimi's ◁: letters of
// other scripts are words.
func (ms *marks) lineRest(i int) int {
	for n := i; n < i+maxAside; n++ {
		if c := ms.At(n); c < 0 || c == '\n' || c == '<' || c == '[' || c == '{' || c == '`' ||
			c >= 0x80 && ms.marksAt(n) != nil {
			return n
		}
	}
	return i
}

// restOfLine returns the text from offset i to the end of the line, without the white space around
// it. It returns false at the end of the text and for a line that is too long. The end of the text
// does not count as the end of the line, since what would follow is not known: a label is only one
// when its line is whole. Blanks around a label are not part of it: "``` json" is json.
func (ms *marks) restOfLine(i int) (rest string, whole bool) {
	n := i + ms.Run(i, maxInfo, func(c int) bool { return c >= 0 && c != '\n' })
	return strings.TrimSpace(string(ms.Slice(ms.Pos+i, ms.Pos+n))), ms.At(n) == '\n'
}

// maxInfo bounds what may follow the characters of a fence on its opening line, in bytes.
// A longer line is not a label, and looking for its end would hold back text.
const maxInfo = 256

// ticks returns how many backquotes or tildes are at offset i, or 0 if there are fewer than a fence
// has.
func (ms *marks) ticks(i int) int {
	sign := ms.At(i)
	if n := ms.Run(i, maxLabel, func(c int) bool {
		return c == sign && (c == '`' || c == '~')
	}); n >= len("```") {
		return n
	}
	return 0
}

// runOf returns how often c is repeated at offset i. It asks for one byte more than the run has, so
// a run at the end of a piece waits for the next piece.
func (ms *marks) runOf(i, c int) int {
	return ms.Run(i, scan.Unlimited, func(at int) bool { return at == c })
}
