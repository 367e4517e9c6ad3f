package chunk

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// repairedPDF returns a PDF with a new list of the objects that it contains, for a file whose list
// is wrong or missing. So a file with junk before or after it, an interrupted download, or a file
// in which an editor moved things can be read except for what is really lost.
//
// Objects that are packed in streams are unpacked and appended to the file. repairedPDF returns nil
// if the data does not look like a PDF.
func repairedPDF(data []byte) []byte {
	start := bytes.Index(data, []byte("%PDF-"))
	if start < 0 {
		return nil
	}
	m := finder{data: bytes.TrimRight(data[start:], "\x00 \r\n"), at: map[int]object{}}
	m.out = slices.Clone(m.data)
	m.find()
	trailer := m.trailer()
	if trailer == "" {
		return nil
	}
	return m.list(trailer)
}

// finder finds the objects of a PDF.
type finder struct {
	data     []byte         // the file, from "%PDF-" on
	out      []byte         // the file, with unpacked objects appended
	at       map[int]object // by number; if there are several, the last one
	unpacked int            // bytes that were unpacked
	key      []byte         // key of the encrypted streams; nil: they are not decrypted
}

// object is the position of a PDF object in the file, and the object's generation number.
type object struct{ offset, generation int }

// Expressions that find the objects of a file and their members.
var (
	objectStart = regexp.MustCompile(
		`(?:^|[\s>\])])(\d{1,9})[ \t\r\n\x00]{1,4}(\d{1,5})[ \t\r\n\x00]{1,4}obj\b`)
	rootOf = regexp.MustCompile(`/Root\s*(\d{1,9})\s+(\d{1,5})\s+R`)
	keptOf = regexp.MustCompile(
		`/(?:Info|Encrypt)\s*\d{1,9}\s+\d{1,5}\s+R|/ID\s*\[[^\]]{0,400}\]`)
	catalog   = regexp.MustCompile(`/Type\s*/Catalog\b`)
	packed    = regexp.MustCompile(`/Type\s*/ObjStm\b`)
	encrypted = regexp.MustCompile(`/Encrypt\b`)
	firstOf   = regexp.MustCompile(`/First\s+(\d{1,9})`)
	countOf   = regexp.MustCompile(`/N\s+(\d{1,9})`)
)

// find records where each object begins. It skips the content of streams, which may look like an
// object, but unpacks streams of packed objects.
func (m *finder) find() {
	locked, end := encrypted.Match(m.data), time.Now().Add(pageTime)
	for from := 0; from < len(m.data) && len(m.at) < mostObjects && time.Now().Before(end); {
		found := objectStart.FindSubmatchIndex(m.data[from:])
		if found == nil {
			return
		}
		number, generation := m.number(from, found[2:4]), m.number(from, found[4:6])
		offset, body := from+found[2], from+found[1]
		from = body
		m.at[number] = object{offset, generation}
		rest := m.data[body:min(body+longestDict, len(m.data))]
		stream := bytes.Index(rest, []byte("stream"))
		if end := bytes.Index(rest, []byte("endobj")); stream < 0 || end >= 0 && end < stream {
			continue
		}
		inside := bytes.TrimPrefix(bytes.TrimPrefix(m.data[body+stream+len("stream"):],
			[]byte("\r")), []byte("\n"))
		if end := bytes.Index(inside, []byte("endstream")); end >= 0 {
			inside = inside[:end]
		}
		from = body + stream + len(inside)
		if m.key != nil && !listOf.Match(rest[:stream]) {
			inside = m.decrypted(inside)
			m.rewrite(number, m.at[number], rest[:stream], inside)
		}
		if packed.Match(rest[:stream]) && (!locked || m.key != nil) {
			m.unpack(rest[:stream], inside)
		}
	}
}

// The bounds of a search for objects.
const (
	mostObjects = 1 << 20
	longestDict = 1 << 16 // bytes before a stream
)

// number returns the number in m.data at the indexes span[0] to span[1], which are relative to
// from.
func (m *finder) number(from int, span []int) int {
	n, _ := strconv.Atoi(string(m.data[from+span[0] : from+span[1]])) // at most nine digits
	return n
}

// unpack appends the objects in a stream to m.out. If the stream cannot be read, its objects are
// left out.
func (m *finder) unpack(dict, stream []byte) {
	first, count := firstOf.FindSubmatch(dict), countOf.FindSubmatch(dict)
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if first == nil || count == nil || err != nil {
		return
	}
	// what comes before an error can be used
	text, _ := io.ReadAll(io.LimitReader(z, int64(mostUnpacked-m.unpacked)))
	m.unpacked += len(text)
	begin, _ := strconv.Atoi(string(first[1]))
	n, _ := strconv.Atoi(string(count[1]))
	if begin > len(text) {
		return
	}
	head := bytes.Fields(text[:begin])
	for i := 0; i+1 < len(head) && i < 2*n; i += 2 {
		number, err := strconv.Atoi(string(head[i]))
		from, wrong := strconv.Atoi(string(head[i+1]))
		to := len(text) - begin
		if i+3 < len(head) {
			to, _ = strconv.Atoi(string(head[i+3]))
		}
		if err != nil || wrong != nil || from < 0 || to < from || begin+to > len(text) ||
			number < 0 || number > 1<<30 {
			continue
		}
		m.out = append(m.out, '\n')
		m.at[number] = object{len(m.out), 0}
		m.out = fmt.Appendf(m.out, "%d 0 obj\n%s\nendobj", number, text[begin+from:begin+to])
	}
}

// trailer returns the members of the file's trailer: the reference to the catalog, and other
// members that the file has, such as the encryption. It returns "" if there is no catalog.
func (m *finder) trailer() string {
	roots := rootOf.FindAllSubmatch(m.data, -1)
	root := ""
	for _, r := range slices.Backward(roots) {
		number, _ := strconv.Atoi(string(r[1]))
		if _, there := m.at[number]; there {
			root = string(r[0])
			break
		}
	}
	for _, number := range slices.Sorted(maps.Keys(m.at)) {
		o := m.at[number]
		own, _, _ := bytes.Cut(m.out[o.offset:min(o.offset+longestDict, len(m.out))], []byte(
			"endobj"))
		if root == "" && catalog.Match(own) {
			root = fmt.Sprintf("/Root %d %d R", number, o.generation)
		}
	}
	if root == "" {
		return ""
	}
	kept := map[string]string{} // the last of each
	for _, found := range keptOf.FindAll(m.data, -1) {
		kept[string(found[:3])] = string(found)
	}
	for _, text := range kept {
		root += " " + text
	}
	return root
}

// list returns the repaired file: the objects in m.out, a cross-reference table of them, and the
// trailer.
func (m *finder) list(trailer string) []byte {
	out := append(m.out, '\n')
	start, highest := len(out), 0
	out = append(out, "xref\n0 1\n0000000000 65535 f \n"...)
	for number, o := range m.at {
		highest = max(highest, number)
		out = fmt.Appendf(out, "%d 1\n%010d %05d n \n", number, o.offset, o.generation)
	}
	return fmt.Appendf(out, "trailer\n<</Size %d %s>>\nstartxref\n%d\n%%%%EOF\n", highest+1,
		trailer, start)
}
