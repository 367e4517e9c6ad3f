package chunk

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// font decodes and measures the strings in one font of a PDF.
type font struct {
	decode func(raw string) string
	width  func(raw string) float64 // in multiples of the font size
}

// newFont returns the font that v describes. The best source for its letters is the map for copying
// text (ToUnicode), which most files have. If a font does not say what its letters are, they are
// not decoded but counted in r.unknown.
func (r *reader) newFont(v pdf.Value) font {
	f := pdf.Font{V: v}
	wide := v.Key("Subtype").Name() == "Type0"
	made := font{width: simpleWidth(f)}
	if wide {
		made.width = wideWidth(v.Key("DescendantFonts").Index(0))
	}
	encoding := namedEncoding(v.Key("Encoding").Name())
	switch to := v.Key("ToUnicode"); {
	case to.Kind() == pdf.Stream:
		m := toUnicode(r.stream(to), wide)
		if kind := v.Key("Encoding").Kind(); !wide && (kind == pdf.Dict || kind == pdf.Name) {
			m.other = otherwise(f)
		}
		made.decode = m.decode
	case encoding != nil:
		made.decode = func(raw string) string {
			text, err := encoding.NewDecoder().String(raw)
			if err != nil {
				return ""
			}
			return text
		}
	case wide: // codes are numbers of glyphs, and the file does not say of which characters
		made.decode = func(raw string) string {
			r.unknown += len(raw) / 2
			return ""
		}
	default:
		made.decode = f.Encoder().Decode
	}
	return made
}

// numberedSign matches names of glyphs that only number them, such as g12.
var numberedSign = regexp.MustCompile(`^(\.notdef|[A-Za-z]{1,3}\d+)$`)

// otherwise returns a function that decodes the codes that are not in a font's ToUnicode map, since
// a map may contain only ligatures. The function returns "" for a code above 255, and for a glyph
// without a real name, such as g12 or .notdef.
func otherwise(f pdf.Font) func(code int) string {
	names, at := map[int]string{}, 0
	list := f.V.Key("Encoding").Key("Differences")
	for i := range min(list.Len(), 1024) {
		if x := list.Index(i); x.Kind() == pdf.Integer {
			at = int(x.Int64())
		} else {
			names[at] = x.Name()
			at++
		}
	}
	encoder := f.Encoder()
	return func(code int) string {
		if code > 255 || numberedSign.MatchString(names[code]) {
			return ""
		}
		return encoder.Decode(string([]byte{byte(code)}))
	}
}

// namedEncoding returns the encoding of text in a font whose Encoding has the given name (ISO
// 32000-1, 9.7.5.2), or nil for an unknown name. Older Chinese, Japanese and Korean PDFs have fonts
// that are not in the file, and for them the name is enough to decode the text.
func namedEncoding(name string) encoding.Encoding {
	switch {
	case strings.HasPrefix(name, "Uni") &&
		(strings.Contains(name, "UTF16") || strings.Contains(name, "UCS2")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case strings.Contains(name, "RKSJ"):
		return japanese.ShiftJIS
	case name == "EUC-H" || name == "EUC-V":
		return japanese.EUCJP
	case strings.HasPrefix(name, "KSC"): // KSCms-UHC and KSC-EUC, which is part of it
		return korean.EUCKR
	case strings.HasPrefix(name, "GB"):
		return simplifiedchinese.GB18030
	case strings.HasPrefix(name, "B5") || strings.HasPrefix(name, "ETen-B5"):
		return traditionalchinese.Big5
	}
	return nil
}

// mostStream is how many bytes of a stream are unpacked.
const mostStream = 16 << 20

// streamOf returns the data of a stream, or of a list of streams that belong together, up to a
// limit. If a stream is damaged, it returns what can be read. The PDF library unpacks only as much
// as is read, so the limit also bounds the memory.
func streamOf(v pdf.Value) (data []byte) {
	if v.Kind() == pdf.Array {
		for i := range min(v.Len(), mostPages) {
			if part := v.Index(i); part.Kind() == pdf.Stream && len(data) < mostStream {
				data = append(append(data, streamOf(part)...), '\n')
			}
		}
		return data
	}
	if v.Kind() == pdf.Stream {
		r := v.Reader()
		defer r.Close()
		data, _ = io.ReadAll(io.LimitReader(r, mostStream))
	}
	return data
}

// letters maps the codes of a font to text.
type letters struct {
	bytes  int // length of a code
	single map[int]string
	ranges []letterRange
	other  func(code int) string // decodes a code that is in neither; nil: such a code has no text
}

// letterRange is a range of a font's codes that stand for consecutive characters.
type letterRange struct {
	first, last int
	text        []rune // text of the first code; for the following ones its last rune counts up
}

// toUnicode reads a CMap (ISO 32000-1, 9.10.3). Codes have two bytes if wide is true, and otherwise
// one. The code space ranges are ignored, because fonts with codes of different lengths do not
// occur in practice with such a map.
func toUnicode(data []byte, wide bool) *letters {
	m := &letters{bytes: 1, single: map[int]string{}}
	if wide {
		m.bytes = 2
	}
	interpret(data, func(op string, args []token) {
		switch op {
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				m.set(code(args[i].text), utf16Text(args[i+1].text))
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				m.span(code(args[i].text), code(args[i+1].text), args[i+2])
			}
		}
	})
	return m
}

// set adds the text of a code to the font's map. It ignores a code that has more bytes than the
// font's codes, since it is never looked up.
func (m *letters) set(code int, text string) {
	if code < 1<<(8*m.bytes) {
		m.single[code] = text
	}
}

// mostRanges is how many ranges of a font are stored. A font with 20,000 characters has a few
// hundred.
const mostRanges = 8192

// span adds the codes from first to last to the font's map. The parameter to is the text of the
// first code, or a list with the text of each. A range is stored as such, because a malicious font
// could fill the memory with codes. A range of one code, which some programs write for all codes,
// is stored as a single code.
func (m *letters) span(first, last int, to token) {
	for i, t := range to.list {
		m.set(first+i, utf16Text(t.text))
	}
	switch text := []rune(utf16Text(to.text)); {
	case len(text) == 0:
	case first == last:
		m.set(first, string(text))
	case len(m.ranges) < mostRanges:
		m.ranges = append(m.ranges, letterRange{first, last, text})
	}
}

// code returns the first bytes of a string, at most four, as a big-endian number.
func code(s string) (n int) {
	for i := range min(len(s), 4) {
		n = n<<8 | int(s[i])
	}
	return n
}

// utf16Text decodes a string in big-endian UTF-16. The text of a ligature has several units: fi is
// <00660069>.
func utf16Text(s string) string {
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}

// decode decodes a string. A code that neither the font's map nor its encoding knows is left out,
// because it is a picture, such as a bullet in a symbol font.
func (m *letters) decode(raw string) string {
	var b strings.Builder
	for i := 0; i+m.bytes <= len(raw); i += m.bytes {
		n := code(raw[i : i+m.bytes])
		if text, there := m.single[n]; there {
			b.WriteString(text)
			continue
		}
		text := m.ranged(n)
		if text == "" && m.other != nil {
			text = m.other(n)
		}
		m.single[n] = text // looked up once: a page may hold a million letters
		b.WriteString(text)
	}
	return b.String()
}

// ranged returns the text of the code n according to the ranges of codes in the font's map, or ""
// if n is in none of them.
func (m *letters) ranged(n int) string {
	for _, r := range m.ranges {
		if n >= r.first && n <= r.last {
			last := len(r.text) - 1
			return string(r.text[:last]) + string(r.text[last]+rune(n-r.first))
		}
	}
	return ""
}

// simpleWidth returns a function that measures strings in a font with one-byte codes. All 256 codes
// are measured once, since the PDF library looks each one up in the file.
func simpleWidth(f pdf.Font) func(string) float64 {
	widths := [256]float64{}
	for code := range widths {
		widths[code] = f.Width(code) / 1000
	}
	return func(raw string) (sum float64) {
		for i := range len(raw) {
			sum += widths[raw[i]]
		}
		return sum
	}
}

// number returns a PDF number as a float. The PDF library's Float64 works only for reals.
func number(v pdf.Value) float64 {
	if v.Kind() == pdf.Integer {
		return float64(v.Int64())
	}
	return v.Float64()
}

// wideWidth returns a function that measures strings in a font with two-byte codes. The font gives
// widths in two forms: a code and a list of widths for it and the next ones, or a first and a last
// code with one width for all (ISO 32000-1, 9.7.4.3). Without widths, every piece of a Japanese
// line would seem to begin where the previous one began, and blanks would be inserted between them.
func wideWidth(v pdf.Value) func(string) float64 {
	usual := 1.0
	if dw := v.Key("DW"); dw.Kind() != pdf.Null {
		usual = number(dw) / 1000
	}
	const mostWidths = 1 << 18 // bounds the widths from ranges: four times the number of codes
	widths, list, spread := map[int]float64{}, v.Key("W"), 0
	for i := 0; i+1 < list.Len(); {
		first, second := int(number(list.Index(i))), list.Index(i+1)
		if second.Kind() == pdf.Array {
			for k := range second.Len() {
				widths[first+k] = number(second.Index(k)) / 1000
			}
			i += 2
			continue
		}
		width := number(list.Index(i+2)) / 1000
		for code := max(first, 0); code <= min(int(number(second)), 0xffff) &&
			spread < mostWidths; code++ {
			widths[code] = width
			spread++
		}
		i += 3
	}
	return func(raw string) (sum float64) {
		for i := 0; i+1 < len(raw); i += 2 {
			w, there := widths[int(raw[i])<<8|int(raw[i+1])]
			if !there {
				w = usual
			}
			sum += w
		}
		return sum
	}
}
