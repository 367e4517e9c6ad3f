package adapters

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// fence is a fenced block of code whose opening line was read.
// The rules are CommonMark's but where models break them; each exception is at its function.
type fence struct {
	char   byte // the character it is made of; 0: none is open
	length int  // how many of them opened it: so many close it
	page   bool // it holds a page in Markdown, which has fences of its own
	inner  int  // how many of those are open
}

// maxInfo bounds what may follow the characters of a fence on its opening line, in bytes.
// A longer line is no label, and reading on for its end would hold back text.
const maxInfo = 256

// quotedLine stands for the ticks of a line that quotes.
const quotedLine = -1

// inSpan reports whether a span of code is open, or the line quotes.
func (d *decoder) inSpan() bool { return d.ticks != 0 }

// endSpan forgets a span that is open.
func (d *decoder) endSpan() { d.ticks = 0 }

// quoteLine notes that the line quotes.
func (d *decoder) quoteLine() { d.ticks = quotedLine }

// inBlock reports whether a fenced block is open.
func (d *decoder) inBlock() bool { return d.fence.char != 0 }

// leaveCode forgets the block and the span that are open.
func (d *decoder) leaveCode() { d.ticks, d.fence = 0, fence{} }

// codeOpens keeps a run of backquotes or tildes, which opens a fenced block, or opens or closes a span of code in a line. A
// run that closes a span opens nothing.
// The run that closes a span was once taken for the opening of a block, which turned "```inline```\n<tool_call>…" into text.
// Indented code is told at the mark, see inIndent.
func (d *decoder) codeOpens(line bool) {
	c := d.At(0)
	switch n := d.runOf(0, c); {
	case d.ticks != n && d.fenceOpens(n, line) || c != '`':
		d.solid(n)
	default:
		d.codeSpan()
	}
}

// codeSpan keeps a run of backquotes that is no fence. A backquote with blanks on both sides is a sign that the text speaks of.
// "Use the ` sign.[TOOL_CALLS]get_weather…" has one, and the call behind it is real.
func (d *decoder) codeSpan() {
	n := d.runOf(0, '`')
	switch {
	case d.ticks == n:
		d.ticks = 0
	case d.ticks == 0 && !(scan.IsSpace(d.At(n)) && d.spaceBefore()):
		d.ticks = n
	}
	d.solid(n)
}

// runOf is how often c stands at offset i.
// It asks for one byte more than the run has, so a run at the end of a piece waits for the next piece.
func (d *decoder) runOf(i, c int) int {
	return d.Run(i, scan.Unlimited, func(at int) bool { return at == c })
}

// spaceBefore says whether text stands in front of here, and its last byte is white space.
func (d *decoder) spaceBefore() bool {
	return d.Pos > d.Base && scan.IsSpace(int(d.Slice(d.Pos-1, d.Pos)[0]))
}

// fenceOpens says whether the n characters here open a fenced block: at the start of a line whatever follows up to its end
// but backquotes, behind text only a label, as models write "Code:```py" and "- ```".
// CommonMark has no fence behind text. Without this its closing line would count as an opening one, and hide every call
// behind the block. Tildes in a line strike text through.
// A tilde fence is one only at the start of a line. Fewer than three characters are none anywhere.
func (d *decoder) fenceOpens(n int, line bool) bool {
	c := d.At(0)
	if n < 3 || d.ticks == quotedLine || c == '~' && !line {
		return false
	}
	info, ok := d.restOfLine(n)
	if !ok || c == '`' && strings.Contains(info, "`") || !line && !isLabel(info) {
		return false
	}
	d.fence = fence{char: byte(c), length: n, page: isPage(info)}
	d.ticks = 0
	return true
}

// isPage says whether a block with this label holds Markdown.
// Fences inside of one are the page's own.
func isPage(label string) bool {
	return slices.Contains([]string{"markdown", "md", "mdx"}, strings.ToLower(label))
}

// restOfLine is what stands from offset i on up to the end of the line, without the white space around it. It answers false
// at the end of the text and for a line that is too long.
// The end of the text is a no, since what would follow is not known: a label is only one when its line is whole.
// Blanks around a label are no part of it: "``` json" is json.
func (d *decoder) restOfLine(i int) (rest string, whole bool) {
	n := i + d.Run(i, maxInfo, func(c int) bool { return c >= 0 && c != '\n' })
	return strings.TrimSpace(string(d.Slice(d.Pos+i, d.Pos+n))), d.At(n) == '\n'
}

// isLabel says whether a text may be the label of a fence: nothing, or one word such as c++, objective-c or main.go.
// What has a blank in it is a sentence that a careless fence begins with, "``` is how it starts", and opens none behind text.
func isLabel(s string) bool {
	for i := range len(s) {
		if c := s[i]; !scan.IsWord(int(c)) && strings.IndexByte("+-#.", c) < 0 {
			return false
		}
	}
	return len(s) <= maxLabel
}

// inFence keeps the text of a fenced block up to what closes it.
// White space at a line's start is kept by itself, at most maxGap of it, so that what is held back stays bounded.
// A block that nothing closes ends with the turn; up to there everything in it is text, whatever marks it has.
func (d *decoder) inFence(c int) {
	line := c == '\n' || d.fresh
	if line {
		n := d.Run(0, maxGap, scan.IsSpace)
		d.keep(n)
		d.fresh = n == maxGap
	}
	if n := d.runOf(0, int(d.fence.char)); n >= d.fence.length && d.fenceCloses(n, line) {
		d.leaveCode()
		d.solid(n)
		d.runFrom = d.Pos
	} else if d.turnEndsCode() {
		d.leaveCode()
		d.runFrom = d.Pos
	} else if !line {
		d.solid(1)
	}
}

// fenceCloses says whether the n characters here close the open block: alone on their line, in front of prose, behind a line
// of code that they end, or, anywhere, in front of a mark of the model's own family. A fence with a label does not; in a page
// it opens an inner one.
// CommonMark closes a block by a line of backquotes alone. Models write prose or their next mark directly behind them
// ("```[TOOL_CALLS]get_weather…"), and by the strict rule that call was lost in 7 of 11 families.
func (d *decoder) fenceCloses(n int, line bool) bool {
	switch {
	case d.ownMark(n):
		return true
	case !line:
		return !d.fence.page && d.endsCodeLine(n)
	}
	info, whole := d.restOfLine(n)
	switch {
	case info == "" && d.fence.inner > 0:
		d.fence.inner--
		return false
	case info == "" || !isLabel(info) || !whole:
		return true
	case d.fence.page:
		d.fence.inner++
	}
	return false
}

// endsCodeLine says whether the n characters here end a line of code that has no others like them: a model that forgets the
// newline in front of them. Behind a blank, a quotation mark or a bracket they are code themselves.
// `x = "```"` holds some as a value; print(x)``` has a line that was not broken.
// "```py\nx```\n<tool_call>…" was all code before, and the call behind it text.
func (d *decoder) endsCodeLine(n int) bool {
	if rest, whole := d.restOfLine(n); !whole || rest != "" {
		return false
	}
	text := d.Slice(max(d.Base, d.Pos-maxInfo), d.Pos)
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	return len(text) > 0 && bytes.IndexByte(text, d.fence.char) < 0 && strings.IndexByte(" \t'\"([{", text[len(text)-1]) < 0
}

// ownMark says whether a mark of the model's own family stands at offset i that is no word of prose.
// Another family's marks in a block are what the block is about.
// Behind a fence at the end of a line the model's own mark says that the fence closes, whatever its rules say.
func (d *decoder) ownMark(i int) bool {
	return d.firstMark(i, func(m *declaration.Mark) bool { return m.Own && !m.IsWord() }) != nil
}

// turnEndsCode says whether a mark of the model's own family ends the turn here, inside a block that it never closed: as the
// last thing, or, if it is a special token, as the closer of the reply in front of the next mark.
// Without it an end mark behind an unclosed block would be shown: "```\nx\n<|im_end|>".
func (d *decoder) turnEndsCode() bool {
	marks := d.marksAt(0)
	for i := range marks {
		m := &marks[i]
		n := d.markSize(0, m)
		if n == 0 || !m.Own || !isTurn(m) {
			continue
		}
		n += d.Space(n)
		switch {
		case d.At(n) < 0:
			return m.Special() || !d.lengthCut()
		case m.Special():
			return m.Pattern != nil && m.Pattern == d.reply && d.structure(n)
		}
	}
	return false
}

// maxSpan bounds a span of code, in bytes.
const maxSpan = 1024

// inCode says whether a mark here stands in code or in a quoted line. A span of code ends in the same line, by as many
// backquotes as it began with: without them those were signs that the text speaks of, and the mark is none of code.
// `<tool_call>` in backquotes is how prose speaks of a mark; a lone backquote on the line is a sign, and must not hide a call.
// The look ahead is bounded by the line, so a span that is never closed costs no more than the line it began in.
func (d *decoder) inCode() bool {
	switch {
	case d.ticks == quotedLine:
		return !d.turnEndsCode()
	case !d.anyMark():
		return true
	// a backquote stands directly in front: the mark is a mention even where the span's end is not there
	case d.keptTo == d.Pos && d.Pos > d.Base && d.Slice(d.Pos-1, d.Pos)[0] == '`':
		return true
	}
	for i := 0; i < maxSpan && d.At(i) >= 0 && d.At(i) != '\n'; i++ {
		if n := d.runOf(i, '`'); n == d.ticks {
			return true
		} else if n > 0 {
			i += n - 1
		}
	}
	d.ticks = 0
	return false
}

// anyMark says whether a mark stands here.
// Code spans are looked at up to their end only where a mark stands in them: most backquotes hold a word.
func (d *decoder) anyMark() bool {
	return d.firstMark(0, func(*declaration.Mark) bool { return true }) != nil
}
