package chunk

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// removeHidden removes the elements below n that a browser does not show (see isHidden), and
// returns how many of them have text.
func removeHidden(n *html.Node) (removed int) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if !isHidden(c) {
			removed += removeHidden(c)
		} else {
			if hasText(c) {
				removed++
			}
			n.RemoveChild(c)
		}
		c = next
	}
	return removed
}

// hasText reports whether there is text below n that would be read if n were not hidden.
func hasText(n *html.Node) bool {
	if n.Type == html.TextNode {
		return strings.TrimSpace(n.Data) != ""
	}
	for c := n.FirstChild; c != nil && !left[n.DataAtom]; c = c.NextSibling {
		if hasText(c) {
			return true
		}
	}
	return false
}

// styleNoise matches what may stand between the parts of a style attribute.
var styleNoise = regexp.MustCompile(`/\*.*?\*/|\s+`)

// hidingStyle matches style attributes with a declaration that hides the element. The attribute
// must be in lower case and without styleNoise.
var hidingStyle = regexp.MustCompile(`(^|;)(display:none|visibility:(hidden|collapse)|` +
	`mso-hide:all|content-visibility:hidden|` +
	`(opacity|font-size):\+?(0+\.?0*|\.0+)(%|[a-z]+)?)(!important)?(;|$)`)

// isHidden reports whether a browser does not show an element, by its attributes or its style
// attribute. Style sheets, colours and positions are not considered. It returns false for html and
// body, because the script of a page that is hidden as a whole shows it later.
func isHidden(n *html.Node) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return false
	}
	open := false
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden", "popover":
			return true
		case "style":
			style := strings.ToLower(styleNoise.ReplaceAllString(a.Val, ""))
			if hidingStyle.MatchString(style) {
				return true
			}
		case "open":
			open = true
		}
	}
	return n.DataAtom == atom.Dialog && !open
}
