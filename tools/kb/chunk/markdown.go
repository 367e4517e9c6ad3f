package chunk

import (
	"regexp"
	"strings"
)

// readPlain reads a text whose paragraphs are separated by empty lines. If a blank line follows the
// first line, the first line is the title, because most notes begin so. It returns an error if the
// encoding is not known.
func readPlain(_ string, data []byte) (t Text, err error) {
	text, problem, err := utf8Text(data)
	if err != nil {
		return t, err
	}
	t.tell(problem)
	if first, _, found := strings.Cut(strings.TrimLeft(text, "\n"), "\n\n"); found &&
		!strings.Contains(first, "\n") && columns(first) <= 100 {
		t.Title = first
	}
	for _, paragraph := range emptyLines.Split(text, -1) {
		t.Blocks = append(t.Blocks, Block{Text: paragraph})
	}
	return t, nil
}

// The lines that show the structure of Markdown.
var (
	emptyLines = regexp.MustCompile(`\n[ \t\x{3000}]*\n`)
	atx        = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?` +
		`(?:[ \t]+\{#[^{}]*\})?[ \t]*$`) // a heading's id may stand behind it
	setext    = regexp.MustCompile(`^ {0,3}(=+|-{2,})[ \t]*$`)
	fence     = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	remark    = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:[ \t]*(?:#|<>)(?:[ \t]|$)`)
	titleLine = regexp.MustCompile(`^title[ \t]*[:=][ \t]*["']?(.*?)["']?[ \t]*$`)
)

// markdown is the state of reading Markdown line by line. A full parser (CommonMark) would make a
// tree of emphasis and links, which is not needed here, because only three kinds of lines separate
// blocks.
type markdown struct {
	headed
	lines  []string // the lines of the current block
	fenced string   // the mark that ends the current code block; empty: there is none
	open   bool     // a comment has no end, so comments are no longer looked for
}

// readMarkdown reads headings, and blocks between empty lines. Lines in code blocks are not
// interpreted, since # begins a comment there. Markdown signs within the text stay, because human
// readers and models know them. Comments are left out, since a page made from the file does not
// show them. It returns an error if the encoding is not known.
func readMarkdown(_ string, data []byte) (Text, error) {
	text, problem, err := utf8Text(data)
	if err != nil {
		return Text{}, err
	}
	m := new(markdown)
	m.tell(problem)
	for line, rest := "", m.frontMatter(text); rest != ""; {
		line, rest = m.shown(rest)
		m.line(line)
	}
	m.flush()
	m.restart()
	return m.Text, nil
}

// shown returns the first line of a text, and the text after that line. The line is returned
// without comments, unless they are in code. If a comment spans several lines, its first and its
// last line become one.
func (m *markdown) shown(text string) (line, rest string) {
	var kept strings.Builder
	from, at, ticks := 0, 0, 0
	end := lineEnd(text, 0)
	for m.fenced == "" && !m.open {
		i := strings.Index(text[at:end], "<!--")
		if i < 0 {
			break
		}
		ticks += strings.Count(text[at:at+i], "`")
		at += i
		if ticks%2 == 1 {
			at += len("<!--")
			continue
		}
		length := strings.Index(text[at:], "-->")
		if m.open = length < 0; m.open {
			break
		}
		kept.WriteString(text[from:at])
		at += length + len("-->")
		if from = at; at > end {
			end = lineEnd(text, at)
		}
	}
	kept.WriteString(text[from:end])
	return kept.String(), text[min(end+1, len(text)):]
}

// lineEnd returns the index of the end of a line. The parameter from is an index in that line.
func lineEnd(text string, from int) int {
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(text)
}

// frontMatter returns the text without the settings at its beginning, and sets m.Title to the title
// in them. Settings are YAML between lines of dashes, or TOML between lines of plus signs; the line
// with the title is nearly alike in both.
func (m *markdown) frontMatter(text string) string {
	border, behind, _ := strings.Cut(text, "\n")
	head, rest, found := strings.Cut(behind, "\n"+border+"\n")
	if border != "---" && border != "+++" || !found {
		return text
	}
	for _, line := range strings.Split(head, "\n") {
		if found := titleLine.FindStringSubmatch(line); found != nil {
			m.Title = found[1]
		}
	}
	return rest
}

// line reads one line of the text, which may be part of a code block.
func (m *markdown) line(line string) {
	if mark := fence.FindStringSubmatch(line); m.fenced != "" || mark != nil {
		m.code(line, mark)
		return
	}
	heading := atx.FindStringSubmatch(line)
	under := setext.FindStringSubmatch(line)
	switch {
	case heading != nil:
		m.flush()
		m.titled(len(heading[1]), heading[2])
	// below the head of a table, such a line is a rule
	case under != nil && len(m.lines) == 1 && !strings.HasPrefix(m.lines[0], "|"):
		title := m.lines[0]
		m.lines = nil
		m.titled(map[byte]int{'=': 1, '-': 2}[under[1][0]], title)
	case strings.TrimSpace(line) == "":
		m.flush()
	case !remark.MatchString(line):
		m.lines = append(m.lines, line)
	}
}

// code reads a line of a code block, or the line that begins or ends one. The parameter mark has
// the line's code fence, such as ```, or is nil. A block ends with the fence that began it, or a
// longer one.
func (m *markdown) code(line string, mark []string) {
	m.lines = append(m.lines, line)
	switch {
	case m.fenced == "":
		m.fenced = mark[1]
	case mark != nil && strings.HasPrefix(mark[1], m.fenced) && strings.Trim(line, " `~\t") == "":
		m.fenced = ""
	}
}

// titled adds a heading. The first heading of level 1 becomes the title, and is not repeated above
// passages.
func (m *markdown) titled(level int, title string) {
	if level == 1 && m.Title == "" && !isLong(title) {
		m.Title, title = title, ""
	}
	m.heading(level, title)
}

// flush ends the current block and begins a new one.
func (m *markdown) flush() {
	m.add(strings.Join(m.lines, "\n"))
	m.lines = nil
}
