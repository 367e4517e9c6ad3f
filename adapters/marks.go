package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// marks finds the literals and marks of families in the text ahead. A mark is a literal such as
// <tool_call>. All parts of the decoder ask marks questions such as "does the text end here", since
// the text after a mark decides whether the mark is meant. It has no state, so a repeated question
// gets the same answer.
type marks struct {
	*scan.Buffer
	in    *input
	f     *declaration.Family // the family that is read
	index *declaration.Index  // the marks of all families that count
}

// replyEnd returns how many bytes remain in the reply, up to its end or to a mark such as
// <|im_end|> that ends it. It passes each of these bytes to the function goes. It returns -1 if
// goes returns false, which says that the text cannot be a call. It also returns -1 if the reply
// was cut, because the missing part might have shown that the text is data and not a call.
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

// marksAt returns the marks (such as <tool_call>) that can begin at offset i, judging by the first
// two bytes there, or nil if there are none. Nearly every byte of prose costs two table look-ups,
// since one index has all marks of all families.
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

// firstMark returns the first mark at offset i for which the function fits returns true, or nil if
// there is none. Longer keys come first in the index. So where <tool_calls is written, that mark is
// found and not <tool_call.
func (ms *marks) firstMark(i int, fits func(m *declaration.Mark) bool) *declaration.Mark {
	marks := ms.marksAt(i)
	for k := range marks {
		if m := &marks[k]; fits(m) && ms.stands(i, m) {
			return m
		}
	}
	return nil
}

// stands reports whether the whole mark m is at offset i.
func (ms *marks) stands(i int, m *declaration.Mark) bool { return ms.markSize(i, m) > 0 }

// proof returns what the tokens of the model show about the mark of a call at offset i. If proven
// is true, the mark arrived as its control token, so it is real. If known is true, it is certain
// whether the mark is real. A mark that did not arrive as a token is known not to be real only if
// the source sends each token as one piece.
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

// markSize returns how many bytes the mark m has at offset i, or 0 if it is not there. Suffixes, as
// in <｜hy_eos:opensource｜>, are included, and so are the blanks that Kimi K3 and others write:
// <|open|> tools <|sep|>. The whole mark is compared here, because the index has looked only at its
// first two bytes.
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

// isTurn reports whether a mark, such as <|im_end|>, ends a turn or a message. Such a mark may also
// end the call or the text before it.
func isTurn(m *declaration.Mark) bool { return m.Kind == declaration.TurnMark }

// opensCall reports whether a mark begins a call or a section of several calls, as <tool_call>
// does.
func opensCall(m *declaration.Mark) bool {
	return m.Kind >= declaration.SectionOpen && m.Kind <= declaration.InnerOpen
}

// structure reports whether a mark that is not a closing mark is at offset i. It returns false for
// closing marks, because they may belong to a quotation in the text. It is used after a mark of the
// turn, which is an end only if a call or another such mark follows.
func (ms *marks) structure(i int) bool {
	return ms.firstMark(i, func(m *declaration.Mark) bool {
		return m.Kind <= declaration.TurnMark
	}) != nil
}

// continues reports whether another mark follows at offset i, after white space. The mark may begin
// a call or a message, or end the turn. It returns false for a mark that ends the turn if words
// follow the mark on its line.
func (ms *marks) continues(i int) bool {
	i += ms.Space(i)
	m := ms.firstMark(i, isTurn)
	if m == nil {
		return ms.structure(i)
	}
	i += ms.markSize(i, m)
	return ms.At(i) < 0 || ms.At(i) == '\n' || ms.structure(i+ms.Space(i))
}

// turnEnds reports whether a mark that ends the model's turn, such as <|im_end|>, is here. A model
// that ends its turn has no more to say, so the call before the mark was meant.
func (ms *marks) turnEnds() bool { return ms.firstMark(0, isTurn) != nil }

// goesOn reports whether a mark of a call, a message or the turn is here, such as <tool_call> or
// <|im_end|>. Each of them begins something that the model itself writes, and that a tool's answer
// does not contain.
func (ms *marks) goesOn() bool {
	return ms.firstMark(0, func(m *declaration.Mark) bool {
		return m.Kind == declaration.SectionOpen || m.Kind == declaration.CallOpen ||
			m.Kind == declaration.HeaderOpen || isTurn(m)
	}) != nil
}

// endMark reports whether a mark that ends or begins a call or a turn is at offset i. The mark may
// be of any family, because a model that borrows the tags of another family also ends calls with
// that family's marks.
func (ms *marks) endMark(i int) bool {
	return ms.firstMark(i, func(m *declaration.Mark) bool {
		return m.Kind >= declaration.SectionOpen && m.Kind <= declaration.TurnMark ||
			m.Kind == declaration.CloseMark && len(m.Pattern.Family.Sections) > 0
	}) != nil
}

// anyMark reports whether a mark, such as <tool_call>, begins at the current position. In a span of
// code, such as `x`, this is asked first, because the end of the span matters only if there is a
// mark, and most spans have none.
func (ms *marks) anyMark() bool {
	return ms.firstMark(0, func(*declaration.Mark) bool { return true }) != nil
}

// ownMark reports whether a mark of the model's own family is at offset i. It returns false for
// marks that are words of prose. In a fenced block, marks of another family are part of the block's
// subject. The model's own mark after a fence at the end of a line shows that the fence closes the
// block, whatever the rules of fences say.
func (ms *marks) ownMark(i int) bool {
	return ms.firstMark(i, func(m *declaration.Mark) bool { return m.Own && !m.IsWord() }) != nil
}

// halfSuffix reports whether the text ends inside the mark m, which begins here, and the half of m
// is no sign of a call. This is so if m may have a suffix, as in Hunyuan's <tool_call:word>, or if
// m only begins like a whole mark, as <tool_call name=" begins like <tool_call>. A reply that ends
// in <tool_call has all of Hunyuan's mark up to the suffix, but only half of every other family's
// <tool_call>. At the end of a reply such a half is text.
func (ms *marks) halfSuffix(m *declaration.Mark) bool {
	// for <tool_call name=", <tool_call> is a mark too
	longer := func(o declaration.Mark) bool { return o.Key == m.Key+">" }
	if m.Pattern == nil ||
		!strings.Contains(m.Pattern.Parts[0].Lit.Text, declaration.SuffixPlaceholder) &&
			!slices.ContainsFunc(ms.marksAt(0), longer) {
		return false
	}
	_, a := ms.literal(0, m.Pattern.Parts[0].Lit)
	return a == incomplete
}

// minHalf is the number of bytes of a mark that a reply must end with before they are taken for a
// mark that was cut. With fewer, "<|" and "</" would be taken for one.
const minHalf = 3

// half returns the mark, such as <tool_call>, inside which the reply was cut here by its length. It
// returns nil if the reply was not cut inside a mark. At least minHalf bytes of the mark must be
// there. A model that wrote so much of a mark was about to write the rest.
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

// cutIn reports whether the reply was cut by its length inside the literal l, which begins at
// offset i.
func (ms *marks) cutIn(i int, l declaration.Literal) bool {
	_, a := ms.literal(i, l)
	return a == incomplete && ms.in.lengthCut()
}

// over reports whether the reply ends at offset i, after white space, because the model ended it. A
// mark of the turn, such as an <|im_end|> that the server should have removed, may be the last
// thing. A reply that was cut by its length has not ended, because the missing text might have made
// the call an example.
func (ms *marks) over(i int) bool {
	i += ms.Space(i)
	if m := ms.firstMark(i, isTurn); m != nil {
		i += ms.markSize(i, m)
		return ms.At(i+ms.Space(i)) < 0
	}
	return ms.At(i) < 0 && !ms.in.lengthCut()
}

// modelEnded reports whether the text is over because the model ended it. If the finish reason is
// "length", the text could have gone on, for example with a closing tag.
func (ms *marks) modelEnded() bool { return ms.At(0) < 0 && !ms.in.lengthCut() }

// atEnd reports whether the text is over, apart from white space.
func (ms *marks) atEnd() bool { return ms.At(ms.Space(0)) < 0 }

// mayEnd reports, after a quick look, whether the reply may end at offset i, after a name. The
// method [over] then decides.
func (ms *marks) mayEnd(i int) bool {
	c := ms.At(i)
	return c < 0 || scan.IsSpace(c) || ms.marksAt(i) != nil
}

// lineRest returns the offset of the first byte after offset i that may begin a mark, or of the
// line's end. It returns i if there is no such byte within maxAside bytes. Beyond ASCII it stops
// only at characters with which marks begin, such as DeepSeek's ｜ or Kimi's ◁, because letters of
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
// it. The result whole is false if the text ends before the line does, or if the line is longer
// than maxInfo bytes. The end of the text does not count as the end of the line, because a label is
// only known when its line is complete. Blanks around a label are not part of it: "``` json" is
// json.
func (ms *marks) restOfLine(i int) (rest string, whole bool) {
	n := i + ms.Run(i, maxInfo, func(c int) bool { return c >= 0 && c != '\n' })
	return strings.TrimSpace(string(ms.Slice(ms.Pos+i, ms.Pos+n))), ms.At(n) == '\n'
}

// maxInfo bounds the label of a fence, which is the text after its opening characters on the same
// line, in bytes. A longer text is not a label, and looking for its end would hold back text.
const maxInfo = 256

// ticks returns how many backquotes or tildes are at offset i, or 0 if there are fewer than three,
// the least that a fence has.
func (ms *marks) ticks(i int) int {
	sign := ms.At(i)
	if n := ms.Run(i, maxLabel, func(c int) bool {
		return c == sign && (c == '`' || c == '~')
	}); n >= len("```") {
		return n
	}
	return 0
}

// runOf returns how often the byte c is repeated at offset i. It looks at one byte after the run,
// so a run at the end of a piece of text waits for the next piece.
func (ms *marks) runOf(i, c int) int {
	return ms.Run(i, scan.Unlimited, func(at int) bool { return at == c })
}
