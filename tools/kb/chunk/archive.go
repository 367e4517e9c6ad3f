package chunk

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// The bounds of a file that is a zip of parts. A small file can contain parts that unpack to any
// size.
const (
	mostParts       = 50_000
	mostPartBytes   = 256 << 20 // for all parts together
	deepestElement  = 400
	mostSharedParts = 2000 // slides, sections or chapters
)

// The errors of files that cannot be opened.
var (
	errNoZip     = errors.New("it is not a file of this kind that can be read; it may be cut off")
	errOldOffice = errors.New(
		"it is encrypted, or in the older format of its program; save it anew, without a password")
	errUnpacked = errors.New("its parts unpack to more than 256 MiB")
	errTooMuch  = errors.New("it has more than 32 MiB of text; divide it")
)

// archive contains the parts of a zip file, by their names in lower case, since programs do not
// agree on the case.
type archive struct {
	parts map[string]*zip.File
	left  int64 // how many more bytes may be unpacked
}

// openArchive opens a file that is a zip. It returns errOldOffice if the file is encrypted or in an
// older format, and errNoZip if it is not a zip or has too many parts.
func openArchive(data []byte) (*archive, error) {
	if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0")) {
		return nil, errOldOffice
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) > mostParts {
		return nil, errNoZip
	}
	a := &archive{parts: map[string]*zip.File{}, left: mostPartBytes}
	for _, part := range z.File {
		a.parts[partName(part.Name)] = part
	}
	if list, err := a.read("META-INF/manifest.xml"); err == nil && bytes.Contains(list, []byte(
		"encryption-data")) {
		return nil, errOldOffice
	}
	return a, nil
}

// partName returns a part's name as the keys of archive.parts are written: in lower case and with
// slashes.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "\\", "/")),
		"/"))
}

// Read implements io.Reader. It returns errUnpacked if the archive has unpacked too much.
func (c *counted) Read(p []byte) (n int, err error) {
	if c.of.left <= 0 {
		return 0, errUnpacked
	}
	n, err = c.part.Read(p[:min(int64(len(p)), c.of.left)])
	c.of.left -= int64(n)
	return n, err
}

// counted is a reader of a part that counts how much of the archive has been unpacked.
type counted struct {
	of   *archive
	part io.ReadCloser
}

// open returns a part's content, or nil if there is no such part or it cannot be unpacked.
func (a *archive) open(name string) *counted {
	part := a.parts[partName(name)]
	if part == nil {
		return nil
	}
	r, err := part.Open()
	if err != nil {
		return nil
	}
	return &counted{a, r}
}

// read returns the content of a part. If the part is damaged, it returns what can be read. It
// returns errNoZip if there is no such part, and errUnpacked if the archive has unpacked too much.
func (a *archive) read(name string) ([]byte, error) {
	c := a.open(name)
	if c == nil {
		return nil, errNoZip
	}
	defer c.part.Close()
	data, err := io.ReadAll(c)
	if errors.Is(err, errUnpacked) {
		return nil, err
	}
	return data, nil
}

// elements reads XML as a tree without storing the tree.
type elements struct {
	tokens *xml.Decoder
	depth  int
	err    error // io.EOF at the end
}

// elementsOf returns the elements of a part of the file. If there is no such part, it has no
// elements, and its field err is errNoZip.
func (a *archive) elementsOf(name string) *elements {
	c := a.open(name)
	if c == nil {
		return &elements{err: errNoZip}
	}
	tokens := xml.NewDecoder(c)
	tokens.CharsetReader = charset.NewReaderLabel
	tokens.Strict = false // an undeclared entity is not an error
	return &elements{tokens: tokens}
}

// broken returns the reason why the elements ended too early, or nil if they did not.
func (x *elements) broken() error {
	switch {
	case errors.Is(x.err, errUnpacked), errors.Is(x.err, errTooMuch), errors.Is(x.err, errNoZip):
		return x.err
	case x.err != nil && (x.err != io.EOF || x.depth > 0):
		return errors.New("it is damaged, and was read up to there")
	}
	return nil
}

// inside reads the content of the current element. It calls the function do for each child element,
// and the function text, which may be nil, for the text between children. If do does not read a
// child to its end, the rest of the child is skipped. Children that are nested too deeply are
// skipped.
func (x *elements) inside(do func(xml.StartElement), text func(string)) {
	for depth := x.depth; x.err == nil && x.depth >= depth; {
		// RawToken does not check for matching names: depth counts the levels
		token, err := x.tokens.RawToken()
		if x.err = err; err != nil {
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			if x.depth++; x.depth <= deepestElement {
				do(token)
			}
			for x.err == nil && x.depth > depth {
				x.skipToken()
			}
		case xml.EndElement:
			x.depth--
		case xml.CharData:
			if text != nil {
				text(string(token))
			}
		}
	}
}

// skipToken reads one token and ignores it.
func (x *elements) skipToken() {
	token, err := x.tokens.RawToken()
	if x.err = err; err != nil {
		return
	}
	switch token.(type) {
	case xml.StartElement:
		x.depth++
	case xml.EndElement:
		x.depth--
	}
}

// each calls the function do for every element of a part, at any depth.
func (x *elements) each(do func(xml.StartElement)) {
	var all func(xml.StartElement)
	all = func(e xml.StartElement) {
		do(e)
		x.inside(all, nil)
	}
	x.inside(all, nil)
}

// attribute returns the value of an attribute, whatever its prefix, or "" if there is none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// related returns the parts to which a part refers, with the kinds of the references, by the ids of
// the references. References to outside of the file are left out.
func (a *archive) related(name string) map[string]relation {
	all := map[string]relation{}
	dir, file := path.Split(name)
	a.elementsOf(dir + "_rels/" + file + ".rels").each(func(e xml.StartElement) {
		if e.Name.Local == "Relationship" && attribute(e, "TargetMode") != "External" {
			to := attribute(e, "Target")
			if !strings.HasPrefix(to, "/") {
				to = path.Join("/", dir, to)
			}
			all[attribute(e, "Id")] = relation{strings.TrimPrefix(to, "/"),
				path.Base(attribute(e, "Type"))}
		}
	})
	return all
}

// relation is a reference to another part, with its kind.
type relation struct{ part, kind string }

// main returns the name of the document's main part, which the file declares. If the declared part
// does not exist, or none is declared, main returns the parameter usual.
func (a *archive) main(usual string) string {
	for _, r := range a.related("") {
		if r.kind == "officeDocument" && a.parts[partName(r.part)] != nil {
			return r.part
		}
	}
	return usual
}

// titleIn returns the title in a part with the document's properties, or "" if there is none or it
// is only a placeholder such as "untitled".
func (a *archive) titleIn(part string) (title string) {
	x := a.elementsOf(part)
	var find func(e xml.StartElement)
	find = func(e xml.StartElement) {
		if e.Name.Local == "title" && title == "" {
			x.inside(func(xml.StartElement) {}, func(text string) { title += text })
			return
		}
		x.inside(find, nil)
	}
	x.inside(find, nil)
	if noTitle.MatchString(title) {
		return ""
	}
	return title
}
