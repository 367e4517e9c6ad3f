package chunk

import (
	"errors"
	"fmt"

	"github.com/ledongthuc/pdf"
)

// The bounds of the tree of pages. A node may be its own child, so the tree may be infinite.
const (
	deepestTree = 40
	mostNodes   = 4 * mostPages
)

// leaf is a page. Pages are collected before they are read, because the PDF library finds a page by
// counting all pages before it, so that a broken page would make those after it unreadable.
type leaf struct {
	pdf.Page
	resources pdf.Value // its own resources, or those of a node above it
	err       error     // why it cannot be read
}

// tree collects the pages of a file.
type tree struct {
	pages []leaf
	nodes int
}

// pagesOf returns the pages of a file in their order. The field err of a page says why it cannot be
// read.
func pagesOf(file *pdf.Reader) (t tree) {
	err := guarded(func() { t.enter(file.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0) })
	if err != nil {
		t.pages = append(t.pages, leaf{err: err})
	}
	return t
}

// enter collects the pages below a node, or the node itself if it is a page. The parameter
// resources has what pages inherit from the nodes above, such as fonts, and depth is the number of
// these nodes.
func (t *tree) enter(node, resources pdf.Value, depth int) {
	if t.nodes++; t.nodes > mostNodes || len(t.pages) > mostPages {
		return
	}
	if depth > deepestTree {
		t.pages = append(t.pages, leaf{err: errors.New("the pages are nested too deeply")})
		return
	}
	if own := node.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	kids := node.Key("Kids")
	switch {
	case kids.Kind() == pdf.Array:
		for i := range kids.Len() {
			if err := guarded(func() { t.enter(kids.Index(i), resources, depth+1) }); err != nil {
				t.pages = append(t.pages, leaf{err: err})
			}
		}
	case node.Kind() == pdf.Dict:
		t.pages = append(t.pages, leaf{Page: pdf.Page{V: node}, resources: resources})
	default:
		t.pages = append(t.pages, leaf{err: errors.New("it is missing")})
	}
}

// guarded calls the function do, and returns an error if do panics, as the PDF library sometimes
// does.
func guarded(do func()) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%v", broken)
		}
	}()
	do()
	return nil
}
