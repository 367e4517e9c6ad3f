package chunk

import (
	"errors"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// matrix maps (x, y) to (ax + cy + e, bx + dy + f). Its elements are in PDF's order: a b c d e f.
type matrix [6]float64

// times returns the matrix that first applies m and then n. As in the PDF standard, points are
// rows.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// piece is text that a page shows at one position.
type piece struct {
	text      string
	x, y, end float64 // its beginning, and the x coordinate of its end
	size      float64
}

// state is the part of PDF's text state that determines positions (ISO 32000-1, 9.3). The operators
// q and Q save and restore it by copying the struct.
type state struct {
	page    matrix // the current transformation
	font    font
	size    float64
	letters float64 // Tc
	words   float64 // Tw
	scale   float64 // Tz
	leading float64 // TL
}

// A reader interprets the operators of a page that show text or move the position. The PDF
// library's own functions lose the moves that stand for blanks, or the widths of fonts with
// two-byte codes.
type reader struct {
	state
	saved      []state
	text, line matrix
	resources  []pdf.Value
	fonts      map[string]font
	pieces     []piece
	bytes      int // how many bytes were shown
	unknown    int // signs without any information about their meaning
	unpacked   int // bytes in all streams of the page so far
	operators  int
	marked     []*replaced
	until      time.Time
	late       bool // the time is over, and nothing more is read
}

// The bounds of one page: the size of its text, the number of its strings (a page full of small
// print in which each letter is placed separately has 20,000), the size of its unpacked streams,
// and how deeply its forms are nested. What exceeds them is left out. Without these bounds, a page
// of operators of 4 bytes took 517 MB, and a page of a thousand fonts with the same map of letters
// needed the memory of a thousand maps.
const (
	mostPageBytes = 4 << 20
	mostPieces    = 1 << 18
	mostUnpacked  = 2 * mostStream
	deepestForm   = 8
)

// stream unpacks a stream of the page. It returns nil if the page has unpacked too much or its time
// is over.
func (r *reader) stream(v pdf.Value) []byte {
	if r.late || r.unpacked > mostUnpacked {
		return nil
	}
	data := streamOf(v)
	r.unpacked += len(data)
	return data
}

// mostUnknown is how many unknown signs of a page are accepted, since they may be pictures, such as
// the bullets of a list.
const mostUnknown = 20

// errUnknown is the error for a page with a font that cannot be decoded.
var errUnknown = errors.New(
	"a font in it does not say which letters it shows, and what is in that font is left out")

// piecesOf returns the texts that a page shows, each with its position, in the order of the file.
// They are not sorted by position, since that would mix the columns of a page with two. It returns
// errSlow if the page is not read before the time until. It returns errUnknown, with what can be
// read, if a font cannot be decoded.
func piecesOf(p leaf, until time.Time) ([]piece, error) {
	r := &reader{state: state{page: matrix{1, 0, 0, 1, 0, 0}, scale: 1},
		resources: []pdf.Value{p.resources}, fonts: map[string]font{}, until: until}
	interpret(r.stream(p.V.Key("Contents")), r.operator)
	if r.late {
		return nil, errSlow
	}
	if r.unknown > mostUnknown {
		return r.pieces, errUnknown
	}
	return r.pieces, nil
}

// operator executes one operator. Missing operands count as 0, so a broken page shows what it can.
// A page is a flat list of such operators, and this switch handles all that affect text.
func (r *reader) operator(op string, args []token) {
	r.operators++
	if r.late = r.late || r.operators%1024 == 0 && time.Now().After(r.until); r.late {
		return
	}
	at := func(i int) token {
		if i < len(args) {
			return args[i]
		}
		return token{}
	}
	n := func(i int) float64 { return at(i).n }
	switch op {
	case "q":
		if len(r.saved) < 1000 {
			r.saved = append(r.saved, r.state)
		}
	case "Q":
		if last := len(r.saved) - 1; last >= 0 {
			r.state, r.saved = r.saved[last], r.saved[:last]
		}
	case "cm":
		r.page = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}.times(r.page)
	case "Do":
		r.form(at(0).text)
	case "BMC", "BDC":
		r.mark(at(1))
	case "EMC":
		if last := len(r.marked) - 1; last >= 0 {
			r.marked = r.marked[:last]
		}
	case "Tf":
		r.size, r.font = n(1), r.fontOf(at(0).text)
	case "Tc":
		r.letters = n(0)
	case "Tw":
		r.words = n(0)
	case "Tz":
		r.scale = n(0) / 100
	case "TL":
		r.leading = n(0)
	default:
		r.textOperator(op, at, n)
	}
}

// textOperator executes an operator that positions or shows text (section 9.4 of the standard).
// Operators that change only the look of text are ignored. The functions at and n return the
// operand with a given index, as a token and as a number.
func (r *reader) textOperator(op string, at func(int) token, n func(int) float64) {
	switch op {
	case "BT":
		r.set(matrix{1, 0, 0, 1, 0, 0})
	case "Tm":
		r.set(matrix{n(0), n(1), n(2), n(3), n(4), n(5)})
	case "TD":
		r.leading = -n(1)
		r.next(n(0), n(1))
	case "Td":
		r.next(n(0), n(1))
	case "T*":
		r.next(0, -r.leading)
	case "Tj":
		r.show(at(0).text)
	case "'":
		r.next(0, -r.leading)
		r.show(at(0).text)
	case "\"":
		r.words, r.letters = n(0), n(1)
		r.next(0, -r.leading)
		r.show(at(2).text)
	case "TJ":
		for _, v := range at(0).list {
			if v.kind == isString {
				r.show(v.text)
			} else {
				r.advance(-v.n / 1000 * r.size)
			}
		}
	}
}

// set begins a line of text at the position that the matrix gives.
func (r *reader) set(m matrix) { r.text, r.line = m, m }

// next begins a line at an offset from the beginning, and not the end, of the current line.
func (r *reader) next(x, y float64) { r.set(matrix{1, 0, 0, 1, x, y}.times(r.line)) }

// advance moves the position by x along the line, where x is multiplied by the horizontal scale.
func (r *reader) advance(x float64) { r.text = matrix{1, 0, 0, 1, x * r.scale, 0}.times(r.text) }

// show shows a string in the current font. If the letters are set as far apart as words, and the
// string is short (see longestSpread), blanks are put between the letters. The spacing of words is
// added after each byte of code 32, but only in one-byte fonts (ISO 32000-1, 9.3.3).
func (r *reader) show(raw string) {
	if spread := r.letters > math.Abs(r.size)*wordGap && len(raw) > 1 &&
		len(raw) <= longestSpread && r.font.decode != nil; !spread ||
		len([]rune(r.font.decode(raw))) != len(raw) {
		r.showPart(raw)
		return
	}
	for i := range len(raw) {
		before := len(r.pieces)
		r.showPart(raw[i : i+1])
		if i < len(raw)-1 && len(r.pieces) > before {
			r.pieces[before].end -= matrix{r.letters * r.scale, 0, 0, 0, 0, 0}.times(
				r.text.times(r.page))[0]
		}
	}
}

// longestSpread is how many letters a string may have for wide letter spacing to mean blanks
// between them. Some programs write the last letter of a word and the first of the next in this
// way. More letters are a word that is set wide.
const longestSpread = 4

// wordGap is the least width of a gap that counts as a blank, in multiples of the font size.
const wordGap = .15

// showPart shows a string without adding blanks for the letter spacing.
func (r *reader) showPart(raw string) {
	if r.bytes += len(raw); r.bytes > mostPageBytes || len(r.pieces) >= mostPieces ||
		r.font.decode == nil {
		return
	}
	text, instead := r.font.decode(raw), r.instead()
	place := r.text.times(r.page)
	blanks := 0
	for _, c := range []byte(raw) {
		if c == ' ' {
			blanks++
		}
	}
	count := len([]rune(text))
	r.advance(r.font.width(raw)*r.size + r.letters*float64(count) + r.words*float64(blanks))
	end := r.text.times(r.page)
	if instead != nil {
		if (instead.shown || instead.text == "") && len(r.pieces) > 0 {
			r.pieces[len(r.pieces)-1].end = end[4]
			return
		}
		text, instead.shown = instead.text, true
		r.bytes += len(text)
	}
	if text == "" {
		return
	}
	r.pieces = append(r.pieces, piece{
		text: text, x: place[4], y: place[5], end: end[4],
		size: math.Abs(r.size) * math.Hypot(place[2], place[3]),
	})
}

// replaced is a part of a page that may have a replacement text (ActualText), because its letters
// do not say what it shows: one sign may stand for several characters, or for none that the font
// knows (ISO 32000-1, 14.9.4).
type replaced struct {
	// the replacement text
	text string
	// it has a replacement text
	says bool
	// the replacement text was shown already
	shown bool
}

// mark begins a part of the page that may have a replacement text (see replaced). The parameter
// properties has that text, or the name under which the page's resources have it.
func (r *reader) mark(properties token) {
	m := new(replaced)
	if properties.kind == isName {
		text := r.top().Key("Properties").Key(properties.text).Key("ActualText")
		m.text, m.says = text.Text(), text.Kind() == pdf.String
	}
	for i := 0; i+1 < len(properties.list); i++ {
		if properties.list[i].text == "ActualText" && properties.list[i].kind == isName &&
			properties.list[i+1].kind == isString {
			m.text, m.says = textString(properties.list[i+1].text), true
		}
	}
	if len(r.marked) < 1000 {
		r.marked = append(r.marked, m)
	}
}

// instead returns the part around the current operator that has a replacement text, or nil if there
// is none. If several are nested, it returns the outermost.
func (r *reader) instead() *replaced {
	for _, m := range r.marked {
		if m.says {
			return m
		}
	}
	return nil
}

// textString decodes a PDF string that is not in the content of a page, such as the title (ISO
// 32000-1, 7.9.2.2).
func textString(s string) string {
	if wide, found := strings.CutPrefix(s, "\xfe\xff"); found {
		return utf16Text(wide)
	}
	if plain := strings.TrimPrefix(s, "\xef\xbb\xbf"); plain != s || utf8.ValidString(s) {
		return plain
	}
	text, _ := charmap.Windows1252.NewDecoder().String(s) // nearly PDFDocEncoding
	return text
}

// form shows a form, which is a part of the page that is stored separately, such as a header, a
// watermark or an imported page. It does nothing for other objects. A form may contain itself, so
// the depth is bounded.
func (r *reader) form(name string) {
	v := r.top().Key("XObject").Key(name)
	if v.Key("Subtype").Name() != "Form" || len(r.resources) > deepestForm ||
		r.bytes > mostPageBytes {
		return
	}
	saved, text, line := r.state, r.text, r.line
	if m := v.Key("Matrix"); m.Len() == 6 {
		var own matrix
		for i := range own {
			own[i] = number(m.Index(i))
		}
		r.page = own.times(r.page)
	}
	resources := v.Key("Resources")
	if resources.Kind() == pdf.Null {
		resources = r.top()
	}
	data := r.stream(v)
	r.bytes += 100 + len(data)/8 // one form shown a million times reaches the limit
	r.resources, r.fonts = append(r.resources, resources), map[string]font{}
	interpret(data, r.operator)
	r.resources, r.fonts = r.resources[:len(r.resources)-1], map[string]font{}
	r.state, r.text, r.line = saved, text, line
}

// top returns the resources of the current form or page.
func (r *reader) top() pdf.Value { return r.resources[len(r.resources)-1] }

// fontOf returns a font of the current form or page. Fonts are cached, because the map of a font
// may have 65,536 lines, and a page may set its font before every word.
func (r *reader) fontOf(name string) font {
	known, there := r.fonts[name]
	if !there {
		known = r.newFont(r.top().Key("Font").Key(name))
		r.fonts[name] = known
	}
	return known
}
