package chunk

import (
	"regexp"
	"strings"
)

// readPlain reads a text whose paragraphs have empty lines between.
// The first line is the title when a blank line follows: so begin most notes.
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

// The lines that Markdown's structure shows in.
var (
	emptyLines = regexp.MustCompile(`\n[ \t\x{3000}]*\n`)
	atx        = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	setext     = regexp.MustCompile(`^ {0,3}(=+|-{2,})[ \t]*$`)
	fence      = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	titleLine  = regexp.MustCompile(`^title:[ \t]*["']?(.*?)["']?[ \t]*$`)
)

// markdown reads Markdown line by line. A parser of all of Markdown (CommonMark) would make a tree
// of emphasis and links that is of no use here; what bounds a block is three kinds of lines.
type markdown struct {
	Text
	outline
	lines  []string // of the block that is being read
	fenced string   // what closes the code that is being read; empty: there is none
}

// readMarkdown finds headings, and blocks between empty lines. What is in code is not looked at: #
// begins a comment there. The marks of the text itself stay: a reader, human or model, knows them,
// and what is shown is what was written.
func readMarkdown(_ string, data []byte) (Text, error) {
	text, problem, err := utf8Text(data)
	if err != nil {
		return Text{}, err
	}
	m := new(markdown)
	m.tell(problem)
	for _, line := range strings.Split(m.frontMatter(text), "\n") {
		m.line(line)
	}
	m.flush()
	return m.Text, nil
}

// frontMatter removes the settings at the beginning of a file, and keeps their title. They are YAML
// in most files and TOML in some; the line with the title reads alike in both, or nearly.
func (m *markdown) frontMatter(text string) string {
	head, rest, found := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !strings.HasPrefix(text, "---\n") || !found {
		return text
	}
	for _, line := range strings.Split(head, "\n") {
		if found := titleLine.FindStringSubmatch(line); found != nil {
			m.Title = found[1]
		}
	}
	return rest
}

// line reads one line.
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
		m.heading(len(heading[1]), heading[2])
	// below a table's head it is a rule
	case under != nil && len(m.lines) == 1 && !strings.HasPrefix(m.lines[0], "|"):
		title := m.lines[0]
		m.lines = nil
		m.heading(map[byte]int{'=': 1, '-': 2}[under[1][0]], title)
	case strings.TrimSpace(line) == "":
		m.flush()
	default:
		m.lines = append(m.lines, line)
	}
}

// code reads a line of code, or one that begins or ends some. A block ends with the mark that began
// it, or a longer one.
func (m *markdown) code(line string, mark []string) {
	m.lines = append(m.lines, line)
	switch {
	case m.fenced == "":
		m.fenced = mark[1]
	case mark != nil && strings.HasPrefix(mark[1], m.fenced) && strings.Trim(line, " `~\t") == "":
		m.fenced = ""
	}
}

// heading comes to a heading. The first one of the first level is the title, and stands above no
// passage again.
func (m *markdown) heading(level int, title string) {
	if level == 1 && m.Title == "" {
		m.Title = title
		m.enter(level, "")
		return
	}
	m.enter(level, title)
}

// flush ends a block.
// Blocks without text are left out by Read, so that nobody has to look here.
func (m *markdown) flush() {
	m.Blocks = append(m.Blocks, Block{m.path(), strings.Join(m.lines, "\n")})
	m.lines = nil
}
