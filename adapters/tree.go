package adapters

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat/schema"
)

// Families whose parameters are named by their tags nest the tags:
// <items><item><sku>A</sku></item></items>, every tag after a token of the family. A text with such
// tags is read as a tree.

// textKey is the key of the member for text between tags.
const textKey = "$text"

// maxTree bounds how deep tags nest. Deeper tags are text. No schema asks for more, and a recursive
// printer must end.
const maxTree = 64

// node is a tag and its contents. The field text includes the tags, since it is the value of a
// parameter of type string, and such a value may be markup itself.
type node struct {
	key  string
	text string  // the contents, tags included
	kids []*node // the tags in it
	bare []byte  // the text between those tags
	from int     // where text begins, while it is open
}

// nested counts the open tags inside a value that have the name of the value's own tag, as h gives
// it. It takes the count before this position, depth, and returns the new one. The second result is
// true if an opening tag of that name is here, or the closing tag of a counted one. Without the
// count a parameter called item in a list of item tags would end at the first inner closing tag.
func (tg *tagged) nested(h head, depth int) (int, bool) {
	switch {
	case h.again == "":
		return 0, false
	case tg.Has(0, h.again):
		return depth + 1, true
	case depth > 0 && tg.Has(0, h.own.Text):
		return depth - 1, true
	}
	return depth, false
}

// treeOf returns the tags of a text as a tree. It never fails: a closing tag without an opening tag
// is dropped, a missing closing tag is added, and text that looks like half a tag is text. The
// token before each tag, ]<]minimax[>[, never occurs in text, so <b> without it is text of the
// value. The whole value is needed, so values of such families are held back, except plain strings.
func treeOf(p *declaration.Pattern, text string) *node {
	root := &node{}
	open := []*node{root}
	token := tokenOf(p)
	pos := 0
	for {
		at, top := strings.Index(text[pos:], token), open[len(open)-1]
		if at < 0 {
			top.bare = append(top.bare, text[pos:]...)
			break
		}
		start := pos + at
		key, size := tagAt(text[start+len(token):])
		if size == 0 { // the token alone is text
			top.bare = append(top.bare, text[pos:start+len(token)]...)
			pos = start + len(token)
			continue
		}
		top.bare = append(top.bare, text[pos:start]...)
		pos = start + len(token) + size
		// <sku> opens a tag; </sku> closes the nearest of that name and all tags open in it
		if name, closing := strings.CutPrefix(key, "/"); !closing && len(open) < maxTree {
			n := &node{key: key, from: pos}
			top.kids = append(top.kids, n)
			open = append(open, n)
		} else if closing {
			open = closeNamed(open, name, text, start)
		}
	}
	closeDown(open, 1, text, len(text))
	root.text = text
	return root
}

// tokenOf returns the token that the family writes before each tag, such as ]<]minimax[>[, or "".
func tokenOf(p *declaration.Pattern) string { return strings.TrimSuffix(p.Parts[0].Lit.Text, "<") }

// oddTree reports whether a text has tags that do not nest as they are written: a closing tag
// without an opening tag, a damaged tag, several unclosed tags or one unclosed tag in a list, or
// text beside tags that looks like part of a tag. The meaning of such a tree is a guess.
func oddTree(p *declaration.Pattern, text string) bool {
	type level struct {
		name        string
		signs, kids bool
	}
	open, left, token := []level{{}}, 0, tokenOf(p)
	for i, part := range strings.Split(text, token) {
		if i > 0 {
			key, size := tagAt(part)
			name, closing := strings.CutPrefix(key, "/")
			if size == 0 || strings.ContainsAny(name, "/\\ ") {
				return true
			}
			part = part[size:]
			for closing {
				last := open[len(open)-1]
				if open = open[:len(open)-1]; len(open) == 0 {
					return true
				}
				if closing = last.name != name; closing {
					left++
				}
				if left > 1 || left > 0 && last.name == declaration.ItemKey {
					return true
				}
			}
			if key == name {
				open[len(open)-1].kids = true
				open = append(open, level{name: name})
			}
			if strings.HasPrefix(strings.TrimSpace(part), "<"+name+">") {
				return true
			}
		}
		if strings.Contains(part, token[1:]) || strings.Contains(part, token[:len(token)-1]) {
			return true // half a token
		}
		top := &open[len(open)-1]
		if top.signs = top.signs || strings.ContainsAny(part, "<>[]/"); top.signs && top.kids {
			return true
		}
	}
	return left+len(open) > 2 || len(open) > 1 && open[1].name == declaration.ItemKey
}

// tagBetween matches a tag, or the rest of a damaged one, between two tokens.
var tagBetween = regexp.MustCompile(
	`^[<\[/][^\s\[\]<>]{0,40}[>\]/]$|^</?\w*$|^$|^\[\[/?\w+\]$|^[/\[]?\w+>$`)

// closeNamed closes the innermost open tag of the given name, and the tags inside it, whose closing
// tags are missing. It returns the tags that are still open. If no open tag has that name, it
// closes nothing and returns all of them.
func closeNamed(open []*node, name, text string, end int) []*node {
	for i := len(open) - 1; i > 0; i-- {
		if open[i].key == name {
			closeDown(open, i+1, text, end)
			open[i].text = text[open[i].from:end]
			return open[:i]
		}
	}
	return open
}

// closeDown closes the open tags from the innermost to the one whose index is the parameter to. All
// of them have lost their closing tags. The tags inside a closed tag are moved after it: in
// <a><b>1</b> without </a>, b is more likely a neighbour of a than a part of it. The closed tag
// keeps the text that was between the moved tags.
func closeDown(open []*node, to int, text string, end int) {
	for i := len(open) - 1; i >= to; i-- {
		n := open[i]
		if n.text = text[n.from:end]; len(n.kids) > 0 {
			open[i-1].kids = append(open[i-1].kids, n.kids...)
			n.text, n.kids = string(n.bare), nil
		}
	}
}

// tagAt returns the name in a tag at the start of a text, after blanks, and the size of the blanks
// and the tag. It returns "" and 0 if there is no tag. A name has no newline and no further <, or
// the text of a program would have tags. MiniMax M3 writes a blank between the token before a tag
// and the tag now and then.
func tagAt(text string) (string, int) {
	rest := strings.TrimLeft(text, " ")
	name, _, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
	if !ok || !strings.HasPrefix(rest, "<") || name == "" || strings.ContainsAny(name, "<\n") {
		return "", 0
	}
	return name, len(text) - len(rest) + len(name) + 2
}

// json returns a node as JSON of type t. If t allows both lists and objects, the names of the tags
// decide which of them the node is.
func (n *node) json(t *schema.Type) string {
	switch {
	// a text or number: tags in it are part of it
	case t.Known() && !t.Allows(schema.Object|schema.Array):
		return lenient.FromText(n.text, t)
	// no tags: its text, by the schema
	case len(n.kids) == 0:
		return emptyOr(n.text, t)
	case t.Allows(schema.Array) && !t.Only(schema.Object|schema.Null) && n.isList(t):
		var out []string
		for i, kid := range n.kids {
			out = append(out, kid.json(t.ItemAt(i)))
		}
		return "[" + strings.Join(out, ",") + "]"
	// one element whose members have no tag around them
	case t.Only(schema.Array | schema.Null):
		return "[" + n.object(t.Item()) + "]"
	}
	return n.object(t)
}

// isList reports whether the tags in a node are the elements of a list. They are if all have the
// name item, or if the schema allows only a list and its elements do not have these tags as
// members. The template prints every element as <item>, whatever the schema calls it.
func (n *node) isList(t *schema.Type) bool {
	items, members := true, true
	for _, kid := range n.kids {
		items = items && kid.key == declaration.ItemKey
		members = members && t.Item().Has(kid.key)
	}
	return items || t.Only(schema.Array|schema.Null) && !members
}

// object returns a node as a JSON object. Tags of one name become a list at the position of the
// first of them, so keys have the order in which they first came. Text between tags becomes the
// member $text, unless there is a tag of that name.
func (n *node) object(t *schema.Type) string {
	var keys []string
	groups := map[string][]*node{}
	for _, kid := range n.kids {
		if groups[kid.key] == nil {
			keys = append(keys, kid.key)
		}
		groups[kid.key] = append(groups[kid.key], kid)
	}
	var out []string
	for _, key := range keys {
		out = append(out, schema.Quote(key)+":"+groupJSON(groups[key], t.Prop(key)))
	}
	// mixed content
	if text := strings.TrimSpace(string(n.bare)); text != "" && groups[textKey] == nil {
		out = append(out, schema.Quote(textKey)+":"+schema.Quote(text))
	}
	return "{" + strings.Join(out, ",") + "}"
}

// groupJSON returns the value of the tags of one name. Several tags, <step>…</step><step>…</step>,
// are a list, even if the schema does not want one, because repeating a tag is the only way in
// which this form can give several values of a name. A single tag is a list only if the schema says
// so.
func groupJSON(group []*node, t *schema.Type) string {
	if len(group) == 1 {
		return group[0].json(t)
	}
	element := t
	if t.Allows(schema.Array) {
		element = t.Item()
	}
	var out []string
	for _, n := range group {
		out = append(out, n.json(element))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// emptyOr returns the content of an element, such as Rome in <city>Rome</city>, as JSON of type t.
// There must be no tags in the content. If it is blank, emptyOr returns [] if t allows only lists,
// and {} if t allows only objects. For example, a template prints a list without elements as
// <tags></tags>.
func emptyOr(text string, t *schema.Type) string {
	if strings.TrimSpace(text) == "" {
		switch {
		case t.Only(schema.Array | schema.Null):
			return "[]"
		case t.Only(schema.Object | schema.Null):
			return "{}"
		}
	}
	return lenient.FromText(text, t)
}
