package wrapper

import (
	"html"
	"regexp"
	"strings"
)

// opening is a tag that opens: its name, what stands behind an equals sign, its attributes.
var opening = regexp.MustCompile(`^<([A-Za-z_][\w.:-]*)(=[^\s<>]+)?((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>`)

// attribute is one attribute of a tag.
var attribute = regexp.MustCompile(`([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// maxTags bounds how deep tags are read; each depth reads the text once more. What stands deeper is
// text.
const maxTags = 12

// readTags reads a text that is tags and nothing else, as an object with a member a tag; nil when
// it is more than that.
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

// element reads the tag that a text begins with, to its closer, and returns its length; 0 when it
// is none or stays open.
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
	// a tag that stays open is text, or half a reply
	end, size := closerOf(text[at[1]:], name)
	if end < 0 {
		return member{}, 0
	}
	return tagged(name, said, attrs, text[at[1]:at[1]+end], depth), at[1] + size
}

// closerOf returns where the closer of a tag begins and ends in the text behind it; -1 when there
// is none.
func closerOf(text, name string) (start, end int) {
	open, closer := "<"+name, "</"+name+">"
	for from, depth := 0, 0; ; {
		i := strings.Index(text[from:], closer)
		if i < 0 {
			return -1, 0
		}
		// each that opens in between needs a closer of its own
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

// tagged returns a tag as a member. <arg name="city">Rome</arg> is the member city; any other tag
// is named like itself. Beside attributes what stands in a tag is one value: <tool
// name="f"><city>Rome</city></tool> holds an object.
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
	if len(all) == 2 && inner == "" && parameterTags[fold(name)] && keyTags[fold(all[0][1])] && valueTags[fold(all[1][1])] {
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
	// the member without a name holds what the attributes do not say
	if value.kind != aText || strings.TrimSpace(value.text) != "" {
		n.members = append(n.members, member{"", value})
	}
	return member{name, n}
}

// parameterTags are the tags whose attribute names a member.
var parameterTags = set("arg argument param parameter property field input value antmlparameter")

// keyTags name a member, and valueTags hold its value.
var (
	keyTags   = set("key name k")
	valueTags = set("value val v")
)

// content returns what stands in a tag: tags alone are an object, everything else is a text.
// Whether its entities and the white space at its ends are its own, nobody can tell without the
// form: see [node.unsure].
func content(inner, name string, depth int) *node {
	if strings.HasPrefix(strings.TrimSpace(inner), "<![CDATA[") && strings.HasSuffix(strings.TrimSpace(inner), "]]>") {
		text := strings.TrimSpace(inner)
		return &node{text: text[len("<![CDATA[") : len(text)-len("]]>")], cdata: true}
	}
	if n := readTags(inner, depth); n != nil {
		n.text = inner
		return n
	}
	return &node{text: inner, torn: strings.Contains(inner, "<"+name) || strings.Contains(inner, "</"+name)}
}
