package chunk

import (
	"encoding/xml"
	"strings"

	"golang.org/x/net/html"
)

// enclosed returns a function that reads an element. It writes the text before, then the element's
// content, and then the text after.
func enclosed(before, after string) role {
	return func(f *flow, _ xml.StartElement) {
		f.write(before)
		f.deeper()
		f.write(after)
	}
}

// signed returns a function that reads an element whose content is raised (the parameter sign is
// "^") or lowered ("_").
func signed(sign string) role {
	return func(f *flow, _ xml.StartElement) { f.within(false, sign, f.deeper) }
}

// root writes a root as √(…). If it is not a square root, its degree stands in brackets before the
// parenthesis, as in √[3](…).
func root(f *flow, _ xml.StartElement) {
	degree := ""
	var find func(xml.StartElement)
	find = func(xml.StartElement) {
		f.inside(find, func(text string) { degree += strings.TrimSpace(text) })
	}
	f.inside(func(e xml.StartElement) {
		switch e.Name.Local {
		case "deg":
			if find(e); degree != "" {
				degree = "[" + degree + "]"
			}
		case "e":
			enclosed("√"+degree+"(", ")")(f, e)
		}
	}, nil)
}

// math reads an element of a formula in MathML. It leaves out annotations, which repeat the formula
// in another notation.
func (p *page) math(n *html.Node) {
	var parts []*html.Node
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && c.Data != "annotation" && c.Data != "annotation-xml" {
			parts = append(parts, c)
		} else if c.Type == html.TextNode {
			p.write(strings.TrimSpace(c.Data))
		}
	}
	if n.Data == "mroot" && len(parts) == 2 {
		p.write("√[")
		p.math(parts[1])
		p.write("](")
		p.math(parts[0])
		p.write(")")
		return
	}
	for i, c := range parts {
		sign := ""
		switch {
		case n.Data == "mfrac" && i == 0, n.Data == "msqrt" && i == 0:
			p.write(map[string]string{"mfrac": "(", "msqrt": "√("}[n.Data])
		case n.Data == "mfrac":
			p.write(")/(")
		case i > 0 && (n.Data == "msup" || n.Data == "msubsup" && i == 2):
			sign = raised
		case i > 0 && (n.Data == "msub" || n.Data == "msubsup"):
			sign = lowered
		}
		p.within(false, sign, func() { p.math(c) })
	}
	if len(parts) > 0 && (n.Data == "mfrac" || n.Data == "msqrt") {
		p.write(")")
	}
}
