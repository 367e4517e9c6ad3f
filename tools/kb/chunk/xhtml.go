package chunk

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// isXHTML reports whether a page follows the rules of XML, as the chapters of books do: by its
// name, its first line or the name space of its elements.
func isXHTML(name string, data []byte) bool {
	head := data[:min(len(data), 1024)]
	return strings.HasSuffix(strings.ToLower(name), ".xhtml") ||
		bytes.HasPrefix(bytes.TrimSpace(head), []byte("<?xml")) ||
		bytes.Contains(head, []byte("http://www.w3.org/1999/xhtml"))
}

// void contains the elements that have no closing tag in HTML.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true,
	"input": true, "link": true, "meta": true, "param": true, "source": true, "track": true,
	"wbr": true,
}

// fromXHTML converts an XHTML page to HTML. It adds closing tags to elements such as <title/> and
// <script src="x"/>, since HTML would take the rest of the page as their content.
func fromXHTML(page []byte) []byte {
	var b bytes.Buffer
	z := html.NewTokenizer(bytes.NewReader(page))
	z.AllowCDATA(true)
	for {
		kind := z.Next()
		raw := bytes.Clone(z.Raw()) // TagName changes the case of the name
		text, isText := bytes.CutPrefix(raw, []byte("<![CDATA["))
		switch {
		case kind == html.ErrorToken:
			b.Write(raw)
			return b.Bytes()
		case kind == html.TextToken && isText:
			b.WriteString(html.EscapeString(string(bytes.TrimSuffix(text, []byte("]]>")))))
			continue
		case kind != html.SelfClosingTagToken:
			b.Write(raw)
			continue
		}
		name, _ := z.TagName()
		if void[string(name)] {
			b.Write(raw)
			continue
		}
		b.Write(bytes.TrimSuffix(raw, []byte("/>")))
		b.WriteString("></" + string(name) + ">")
		z.NextIsNotRawText()
	}
}
