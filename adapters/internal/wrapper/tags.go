package wrapper

import (
	"html"
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// opening matches an opening tag. The groups are its name, a value after an equals sign, its
// attributes, and the slash of a tag without content.
var opening = regexp.MustCompile(
	`^<([A-Za-z_][\w.:-]*)(=[^\s<>]+)?((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>`)

// attribute matches one attribute of a tag.
var attribute = regexp.MustCompile(`([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// maxTags bounds how deep tags are read, because each level reads the text once more. Deeper tags
// are text.
const maxTags = 12

// readTags reads a text that consists only of tags, as an object with a member for each tag. It
// returns nil for any other text.
func readTags(text string, depth int) *node {
	n := &node{kind: anObject, text: text}
	if depth > maxTags {
		return nil
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		m, size := element(text, depth)
		if size == 0 {
			return nil
		}
		n.members = append(n.members, m)
		text = text[size:]
	}
	if len(n.members) == 0 {
		return nil
	}
	return n
}

// element reads the tag at the start of a text, up to its closing tag, and returns it as a member.
// It also returns the length of the text that it read. A tag such as <a/> becomes a member without
// content. It returns the length 0 if there is no tag, or if a tag that needs a closing tag has
// none.
func element(text string, depth int) (member, int) {
	at := opening.FindStringSubmatchIndex(text)
	if at == nil {
		return member{}, 0
	}
	name, attrs := text[at[2]:at[3]], text[at[6]:at[7]]
	said := ""
	if at[4] >= 0 {
		said = text[at[4]+1 : at[5]] // <function=get_time>
	}
	// <tool name="f"/>
	if at[9] > at[8] {
		return tagged(name, said, attrs, "", depth), at[1]
	}
	// a tag without a closer is text, or the reply was cut
	end, size := closerOf(text[at[1]:], name)
	if end < 0 {
		return member{}, 0
	}
	return tagged(name, said, attrs, text[at[1]:at[1]+end], depth), at[1] + size
}

// closerOf finds the closing tag of a tag in the text after the opening tag. It returns where the
// closing tag starts and ends. The result start is -1 if there is none.
func closerOf(text, name string) (start, end int) {
	open, closer := "<"+name, "</"+name+">"
	for from, depth := 0, 0; ; {
		i := strings.Index(text[from:], closer)
		if i < 0 {
			return -1, 0
		}
		// a tag of the same name in between needs a closer of its own
		for _, part := range strings.Split(text[from:from+i], open)[1:] {
			if part == "" || strings.IndexByte("> =\n", part[0]) >= 0 {
				depth++
			}
		}
		if depth == 0 {
			return from + i, from + i + len(closer)
		}
		depth--
		from += i + len(closer)
	}
}

// tagged returns a tag as a member; it never fails. The parameter said is what follows the tag's
// name after an equals sign, attrs are its attributes, and inner is its content. A tag for one
// parameter, such as <arg name="city">Rome</arg>, becomes the member city with the text Rome; the
// name and the value may also be attributes or inner tags. Any other tag without attributes becomes
// a member with the tag's name. With attributes it becomes an object with a member for each of
// them, and one whose name is empty for the content. So <tool name="f"><city>Rome</city></tool>
// becomes the member tool, an object with the members name and "".
func tagged(name, said, attrs, inner string, depth int) member {
	value := content(inner, name, depth+1)
	all := attribute.FindAllStringSubmatch(attrs, -1)
	if said != "" {
		all = append(all, []string{"", "name", said, ""})
	}
	switch {
	// <arg><key>city</key><value>Rome</value></arg>
	case len(all) == 0 && parameterTags[fold(name)] && len(value.members) == 2 &&
		keyTags[fold(value.members[0].key)] && valueTags[fold(value.members[1].key)]:
		return member{strings.TrimSpace(value.members[0].value.text), value.members[1].value}
	// <city>Rome</city>
	case len(all) == 0:
		return member{name, value}
	}
	// <parameter name="city" value="Rome"/>
	if len(all) == 2 && inner == "" && parameterTags[fold(name)] && keyTags[fold(all[0][1])] &&
		valueTags[fold(all[1][1])] {
		text := html.UnescapeString(all[1][2] + all[1][3])
		return member{all[0][2] + all[0][3], &node{text: text, torn: text != all[1][2]+all[1][3]}}
	}
	n := &node{kind: anObject, text: inner}
	for _, a := range all {
		key, text := a[1], html.UnescapeString(a[2]+a[3])
		// <parameter name="city">Rome</parameter>
		if k := fold(key); (k == "name" || k == "key") && parameterTags[fold(name)] {
			return member{text, value}
		}
		n.members = append(n.members, member{key, &node{text: text, torn: text != a[2]+a[3]}})
	}
	// the content is a member without a name
	if value.kind != aText || strings.TrimSpace(value.text) != "" {
		n.members = append(n.members, member{"", value})
	}
	return member{name, n}
}

// parameterTags are the tags whose attribute names a member.
var parameterTags = scan.WordSet(
	"arg argument param parameter property field input value antmlparameter")

// keyTags are tags whose content is the name of a member, and valueTags those whose content is its
// value.
var (
	keyTags   = scan.WordSet("key name k")
	valueTags = scan.WordSet("value val v")
)

// content returns the content of a tag: an object if it consists of tags, otherwise a text. In some
// forms of calls, entities such as &lt; and white space at the ends are data. This function does
// not know the form, so it leaves the text unchanged, and [node.unsure] finds such texts.
func content(inner, name string, depth int) *node {
	if strings.HasPrefix(strings.TrimSpace(inner), "<![CDATA[") &&
		strings.HasSuffix(strings.TrimSpace(inner), "]]>") {
		text := strings.TrimSpace(inner)
		return &node{text: text[len("<![CDATA[") : len(text)-len("]]>")], cdata: true}
	}
	if n := readTags(inner, depth); n != nil {
		n.text = inner
		return n
	}
	return &node{text: inner, torn: strings.Contains(inner, "<"+name) ||
		strings.Contains(inner, "</"+name)}
}
