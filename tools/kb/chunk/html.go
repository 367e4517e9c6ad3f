package chunk

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page is the state of reading an HTML page.
type page struct {
	headed
	marks
	text strings.Builder    // the text of the current block
	pre  int                // number of surrounding elements in which blanks are kept
	next map[*html.Node]int // the number of the next item of each ordered list
}

// readHTML reads the text that a reader of the page sees. Parts that surround it on every page,
// such as menus, are left out if their elements show what they are. It returns an error if the
// encoding is not known or the page cannot be parsed.
func readHTML(name string, data []byte) (Text, error) {
	data, problem, err := inUTF8(data, declared(data))
	if err != nil {
		return Text{}, err
	}
	if isXHTML(name, data) {
		data = fromXHTML(data)
	}
	root, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		return Text{}, errors.New("it cannot be read as HTML: " + err.Error())
	}
	p := &page{next: map[*html.Node]int{}}
	p.tell(problem)
	p.tell(leftOutHidden(removeHidden(root), "part"))
	p.node(root)
	p.flush()
	p.restart()
	return p.Text, nil
}

// left contains the elements whose content is not text of the page.
var left = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Nav: true,
	atom.Svg:    true,
	atom.Iframe: true, atom.Object: true, atom.Select: true, atom.Button: true, atom.Textarea: true,
	atom.Head:  true,
	atom.Audio: true, atom.Video: true, atom.Canvas: true, atom.Datalist: true,
}

// inline contains the elements that do not end a block.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Cite: true,
	atom.Code: true, atom.Data: true,
	atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Ins: true,
	atom.Kbd: true, atom.Label: true,
	atom.Mark: true, atom.Q: true, atom.Ruby: true, atom.Rb: true, atom.S: true, atom.Samp: true,
	atom.Strike: true,
	atom.Small:  true, atom.Span: true,
	atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true, atom.Tt: true, atom.U: true,
	atom.Var: true, atom.Wbr: true,
	atom.Img: true, atom.Input: true,
}

// together contains the elements whose parts stay one block, with one line for each part. A row of
// a table says nothing without its neighbours, and a list belongs to the sentence above it.
var together = map[atom.Atom]bool{atom.Table: true, atom.Ul: true, atom.Ol: true, atom.Dl: true,
	atom.Pre: true}

// node adds the text of a node, and of all nodes below it, to the page. The parser limits how
// deeply nodes are nested.
func (p *page) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		p.write(n.Data)
	case n.Type != html.ElementNode:
		p.children(n)
	case n.DataAtom == atom.Head:
		p.title(n)
	// Rt and Rp contain how a word is read, which is shown above the word
	case left[n.DataAtom] || n.DataAtom == atom.Rt || n.DataAtom == atom.Rp:
	case inline[n.DataAtom]:
		p.inline(n)
	case n.DataAtom == atom.Math:
		p.math(n)
	default:
		p.block(n)
	}
}

// inline reads an element that is a part of a line.
func (p *page) inline(n *html.Node) {
	struck := n.DataAtom == atom.Del || n.DataAtom == atom.S || n.DataAtom == atom.Strike ||
		strings.Contains(valueOf(n, "style"), "line-through")
	sign := map[atom.Atom]string{atom.Sup: raised, atom.Sub: lowered}[n.DataAtom]
	p.within(struck, sign, func() { p.children(n) })
}

// block reads an element that begins a new line, such as a heading, a list item or a paragraph.
func (p *page) block(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.flush()
		p.children(n)
		p.end()
		title := p.text.String()
		p.text.Reset()
		p.heading(int(n.Data[1]-'0'), title)
	case atom.Br, atom.Tr, atom.Dt, atom.Dd:
		p.line("")
		p.children(n)
	case atom.Li:
		p.line(p.itemMark(n))
		p.children(n)
	case atom.Td, atom.Th:
		p.children(n)
		p.write(" | ")
	case atom.Pre:
		p.flush()
		p.pre++
		p.children(n)
		p.pre--
		p.flush()
	default:
		p.paragraph(n)
	}
}

// itemMark returns what is in front of an item of a list: its number in an ordered list, and
// otherwise a dash. In laws and instructions other places refer to these numbers.
func (p *page) itemMark(n *html.Node) string {
	list := n.Parent
	if list == nil || list.DataAtom != atom.Ol {
		return "- "
	}
	number, begun := p.next[list]
	if start, err := strconv.Atoi(valueOf(list, "start")); !begun {
		if number = start; err != nil {
			number = 1
		}
	}
	if value, err := strconv.Atoi(valueOf(n, "value")); err == nil {
		number = value
	}
	p.next[list] = number + 1
	return counted1(number, map[string]string{"a": "lowerLetter", "A": "upperLetter",
		"i": "lowerRoman", "I": "upperRoman"}[valueOf(list, "type")]) + ". "
}

// paragraph reads an element as a block of its own, unless it is inside a table, a list or another
// element whose parts stay together.
func (p *page) paragraph(n *html.Node) {
	within := false
	for up := n.Parent; up != nil; up = up.Parent {
		within = within || together[up.DataAtom]
	}
	switch {
	case within:
		p.children(n)
		return
	case n.DataAtom == atom.Table && p.table(n):
		return
	}
	p.flush()
	p.children(n)
	p.flush()
}

// children adds the text of all nodes below n to the page. Recursion is safe, because the parser
// refuses more than 512 levels.
func (p *page) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.node(c)
	}
}

// title sets the page's title from the element title in its head. A browser's tab shows this text,
// which usually ends with the name of the site. The page's h1 stays a heading.
func (p *page) title(head *html.Node) {
	for c := head.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Title && c.FirstChild != nil {
			p.Title = c.FirstChild.Data
		}
	}
}

// write adds text, in which a run of blanks and line ends counts as one blank. Words of two
// elements must not be joined ("Twenty<b> days</b>"), nor separated if there was no blank
// ("E<b>-4012</b>").
func (p *page) write(text string) {
	p.text.WriteString(p.close())
	if p.pre > 0 {
		p.text.WriteString(text)
		return
	}
	so := p.text.String()
	atStart := so == "" || strings.HasSuffix(so, " ") || strings.HasSuffix(so, "\n")
	if !atStart && text != strings.TrimLeftFunc(text, unicode.IsSpace) {
		p.text.WriteByte(' ')
	}
	words := strings.Join(strings.Fields(text), " ")
	if words != "" {
		p.text.WriteString(p.begin(p.text.String(), words))
	}
	p.text.WriteString(words)
	if words != "" && text != strings.TrimRightFunc(text, unicode.IsSpace) {
		p.text.WriteByte(' ')
	}
}

// end closes struck text at the end of a line or a block, even if the next line begins with struck
// text.
func (p *page) end() { p.text.WriteString(p.marks.end()) }

// line begins a new line with the given mark, such as "- ".
func (p *page) line(mark string) {
	p.end()
	if so := p.text.String(); so != "" && !strings.HasSuffix(so, "\n") {
		p.text.WriteByte('\n')
	}
	p.text.WriteString(mark)
}

// flush ends a block. It removes a bar at the end, since bars only separate the cells of a row.
func (p *page) flush() {
	p.end()
	lines := strings.Split(p.text.String(), "\n")
	if p.pre == 0 {
		for i, line := range lines {
			lines[i] = strings.TrimRight(line, " |")
		}
	}
	p.add(strings.Join(lines, "\n"))
	p.text.Reset()
}
