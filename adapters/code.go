package adapters

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// code keeps track of which text is code, because marks such as <tool_call> in code are examples.
// The rules are CommonMark's, except where models make errors: a mark of the model's own family
// after a fence ends a block that was never closed.
type code struct {
	*scan.Buffer
	in    *input
	marks *marks
	page  *page
	codeState
}

// codeState is the kind of code that the text is in. It is restored when a draft fails, since the
// draft may have read through a fence.
type codeState struct {
	// length of the backquotes that opened an inline code span; 0 outside; see quotedLine
	ticks int
	fence fence // the fenced block that is text
}

// fence is a fenced block of code whose opening line was read. The rules are CommonMark's except
// where models break them. Each function describes its exceptions.
type fence struct {
	char   byte // the character that the fence is made of; 0: no fence is open
	length int  // how many characters opened it: as many close it
	page   bool // its content is a page in Markdown, which has fences of its own
	inner  int  // how many of the page's own fences are open
	lang   bool // its label names a language, so it holds no call
}

// quotedLine is the value of codeState.ticks in a line that is a quotation.
const quotedLine = -1

// inSpan reports whether a span of code is open, or the line is a quotation.
func (co *code) inSpan() bool { return co.ticks != 0 }

// endSpan ends the span of code that is open, if any.
func (co *code) endSpan() { co.ticks = 0 }

// quoteLine records that the current line is a quotation.
func (co *code) quoteLine() { co.ticks = quotedLine }

// inBlock reports whether a fenced block is open.
func (co *code) inBlock() bool { return co.fence.char != 0 }

// leaveCode ends the fenced block and the span that are open, if any.
func (co *code) leaveCode() { co.ticks, co.fence = 0, fence{} }

// opens keeps a run of backquotes or tildes as text. It also records what the run opens or closes:
// a fenced block, or a span of code in a line. The parameter line says that the run begins a line.
// A run that closes a span cannot open a block; otherwise "```inline```\n<tool_call>…" would be
// text. Code that is only indented is recognised elsewhere, by inIndent.
func (co *code) opens(line bool) {
	c := co.At(0)
	switch n := co.marks.runOf(0, c); {
	case co.ticks != n && co.fenceOpens(n, line) || c != '`':
		co.page.solid(n)
	default:
		co.span()
	}
}

// span keeps as text a run of backquotes that is not a fence. A backquote with white space on both
// sides is a character that the text talks about: "Use the ` sign.[TOOL_CALLS]get_weather…" has
// such a backquote, and the call after it is real.
func (co *code) span() {
	n := co.marks.runOf(0, '`')
	switch {
	case co.ticks == n:
		co.ticks = 0
	case co.ticks == 0 && !(scan.IsSpace(co.At(n)) && co.spaceBefore()):
		co.ticks = n
	}
	co.page.solid(n)
}

// spaceBefore reports whether there is text before this point whose last byte is white space.
func (co *code) spaceBefore() bool {
	return co.Pos > co.Base && scan.IsSpace(int(co.Slice(co.Pos-1, co.Pos)[0]))
}

// fenceOpens reports whether the n characters here open a fenced block, and then records the block.
// It returns false for fewer than three characters, in a quoted line, and if the line is not
// complete or too long. At the start of a line any text may follow on that line, but after
// backquotes no other backquote. After text only a label may follow, as models write "Code:```py"
// and "- ```". CommonMark has no fence after text. Without this rule the closing line of such a
// block would count as an opening one, and would hide every later call. A tilde fence opens only at
// the start of a line, because tildes within a line strike text through.
func (co *code) fenceOpens(n int, line bool) bool {
	c := co.At(0)
	if n < 3 || co.ticks == quotedLine || c == '~' && !line {
		return false
	}
	info, ok := co.marks.restOfLine(n)
	if !ok || c == '`' && strings.Contains(info, "`") || !line && !isLabel(info) {
		return false
	}
	co.fence = fence{char: byte(c), length: n, page: isPage(info), lang: isLanguage(info)}
	co.ticks = 0
	return true
}

// isPage reports whether a block with this label contains Markdown. A fence inside such a block
// belongs to the Markdown, and does not close the block.
func isPage(label string) bool {
	return slices.Contains([]string{"markdown", "md", "mdx"}, strings.ToLower(label))
}

// isLanguage reports whether a block with this label contains a program. A mark in such a block is
// part of the program, or comes after a block that was not closed. In a block of XML it is an
// example of a call instead.
func isLanguage(label string) bool {
	word, _, _ := strings.Cut(strings.ToLower(label), " ")
	return slices.Contains([]string{"go", "golang", "python", "py", "python3", "js", "javascript",
		"ts", "typescript", "jsx", "tsx", "java", "kotlin", "swift", "c", "cpp", "c++", "csharp",
		"cs", "c#", "rust", "rs", "ruby", "rb", "php", "scala", "sql", "bash", "sh", "shell", "zsh",
		"powershell", "dockerfile", "css", "scss", "lua", "perl",
		"r"}, word)
}

// isLabel reports whether a text can be the label of a fence: nothing, or one word such as c++,
// objective-c or main.go. A text with a blank in it is a sentence after a careless fence, as in
// "``` is how it starts", and does not open a fence after text.
func isLabel(s string) bool {
	for i := range len(s) {
		if c := s[i]; !scan.IsWord(int(c)) && strings.IndexByte("+-#.", c) < 0 {
			return false
		}
	}
	return len(s) <= maxLabel
}

// inFence keeps the text of a fenced block up to its closing fence. White space at the start of a
// line is kept by itself, up to maxGap bytes, so that little is held back. A block without a
// closing fence ends with the turn, and everything in it is text, whatever marks it contains.
func (co *code) inFence(c int) {
	line := c == '\n' || co.page.fresh
	if line {
		n := co.Run(0, maxGap, scan.IsSpace)
		co.page.keep(n)
		co.page.fresh = n == maxGap
	}
	if n := co.marks.runOf(0, int(co.fence.char)); n >= co.fence.length && co.fenceCloses(n, line) {
		co.leaveCode()
		co.page.solid(n)
		co.page.runFrom = co.Pos
	} else if co.turnEndsCode() {
		co.leaveCode()
		co.page.runFrom = co.Pos
	} else if !line {
		co.page.solid(1)
	}
}

// fenceCloses reports whether the n characters here close the open block. They do if they are alone
// on their line, before prose, after a line of code that they end, or anywhere before a mark of the
// model's own family. A fence with a label does not close the block; in a page it opens an inner
// block. CommonMark closes a block only by a line of backquotes. Models write prose or their next
// mark directly after them ("```[TOOL_CALLS]get_weather…"), and by the strict rule that call was
// lost in 7 of 11 families.
func (co *code) fenceCloses(n int, line bool) bool {
	switch {
	case co.marks.ownMark(n):
		return true
	case !line:
		return !co.fence.page && co.endsCodeLine(n)
	}
	info, whole := co.marks.restOfLine(n)
	switch {
	case info == "" && co.fence.inner > 0:
		co.fence.inner--
		return false
	case info == "" || !isLabel(info) || !whole:
		return true
	case co.fence.page:
		co.fence.inner++
	}
	return false
}

// endsCodeLine reports whether the n backquotes or tildes here close a block although the model
// forgot the newline before them. They do if they end a line of code that has no other such
// characters. After a blank, a quotation mark or a bracket they are part of the code: `x = "```"`
// has backquotes as a value, but print(x)``` lacks the newline. Without this rule,
// "```py\nx```\n<tool_call>…" was all code, and the call after it became text.
func (co *code) endsCodeLine(n int) bool {
	if rest, whole := co.marks.restOfLine(n); !whole || rest != "" {
		return false
	}
	text := co.Slice(max(co.Base, co.Pos-maxInfo), co.Pos)
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	return len(text) > 0 && bytes.IndexByte(text, co.fence.char) < 0 && strings.IndexByte(
		" \t'\"([{", text[len(text)-1]) < 0
}

// turnEndsCode reports whether a mark of the model's own family ends the turn here, inside a block
// that the model never closed. The mark must be the last thing in the reply, or a special token
// that closes the reply before the next mark. Without this rule an end mark after an unclosed block
// would be shown, as in "```\nx\n<|im_end|>".
func (co *code) turnEndsCode() bool {
	marks := co.marks.marksAt(0)
	for i := range marks {
		m := &marks[i]
		n := co.marks.markSize(0, m)
		if n == 0 || !m.Own || !isTurn(m) {
			continue
		}
		n += co.Space(n)
		switch {
		case co.At(n) < 0:
			return m.Special() || !co.in.lengthCut()
		case m.Special():
			return m.Pattern != nil && m.Pattern == co.page.reply && co.marks.structure(n)
		}
	}
	return false
}

// maxSpan bounds a span of code, in bytes.
const maxSpan = 1024

// inCode reports whether a mark here is in code or in a quoted line. A span of code ends in the
// same line, by as many backquotes as it began with. If these are missing, the first backquotes
// were characters that the text talks about, and the mark is not in code. Prose mentions a mark as
// `<tool_call>` in backquotes, but a lone backquote on the line is an ordinary character and must
// not hide a call. The search ahead is bounded by the line, so a span that is never closed costs no
// more than the line it began in.
func (co *code) inCode() bool {
	switch {
	case co.ticks == quotedLine:
		return !co.turnEndsCode()
	case !co.marks.anyMark():
		return true
	// a backquote directly before the mark makes it a mention even if the span is never closed
	case co.page.keptTo == co.Pos && co.Pos > co.Base && co.Slice(co.Pos-1, co.Pos)[0] == '`':
		return true
	}
	for i := 0; i < maxSpan && co.At(i) >= 0 && co.At(i) != '\n'; i++ {
		if n := co.marks.runOf(i, '`'); n == co.ticks {
			return true
		} else if n > 0 {
			i += n - 1
		}
	}
	co.ticks = 0
	return false
}
