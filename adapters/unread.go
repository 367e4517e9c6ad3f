package adapters

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/internal/jsontree"
)

// The functions below find replies in a family's own marks that look like calls and that no reader
// can read. Such a reply names an offered tool between the marks, or has parameters that only one
// tool takes. The model is asked for it again, because a call that is shown as text has no effect.

// calledIn returns the name of the tool that a reply calls although no reader can read the call, or
// "" if the reply may be prose. Such a reply has the name of an offered tool near its beginning
// with structure around the name, and ends in structure. Between the name and that end is one of
// the tool's parameters, or the reply ends in a mark of the family. The parameter marked says that
// the reply begins with a mark of the family.
func (rs *restored) calledIn(text string, marked bool) string {
	at, t := rs.firstName(text)
	if t == nil && marked {
		return rs.takenIn(text)
	}
	if t == nil || at > maxBareFront || threeWords.MatchString(text[:at]) {
		return ""
	}
	if doc := documentAround(text, at); doc != nil && !(marked && holdsCall(doc, t)) {
		return "" // nothing is damaged: a tool's description, or another document
	}
	text = structureOf(text[at+len(t.Name):])
	if text == "" || strings.IndexByte(">})]\"'`;", text[len(text)-1]) < 0 ||
		strings.IndexByte("\"'>]({=<[:,|`\\&", text[0]) < 0 && !beginsMember(text, t) {
		return ""
	}
	if marked && rs.endsInMark(text) {
		return t.Name
	}
	for _, key := range t.Type().Members() {
		if strings.Contains(text, key) {
			return t.Name
		}
	}
	return ""
}

// structureOf returns a text without a comment or a full stop at its end. Closing brackets of full
// width become those of ASCII.
func structureOf(text string) string {
	text = strings.TrimSpace(lastComment.ReplaceAllString(strings.TrimSpace(text), "$1"))
	text = strings.TrimSuffix(narrow.Replace(text), ".")
	return text
}

// narrow replaces closing brackets of full width.
var narrow = strings.NewReplacer("］", "]", "｝", "}", "）", ")")

// lastComment matches a comment at the end of a text, after a closing bracket.
var lastComment = regexp.MustCompile(`([)\]}>]) *(?://|#) [^\n]*$`)

// endsInMark reports whether a text ends in a mark of the family, such as </tool_call>.
func (rs *restored) endsInMark(text string) bool {
	return slices.ContainsFunc(rs.format.marks(), func(m string) bool {
		return strings.HasSuffix(text, m)
	})
}

// takenIn returns the name of the only tool whose parameters a reply contains. It is for replies
// that begin with a mark such as <tool_call> and name no tool. It returns "" if no tool or several
// have these parameters, if the reply does name another tool, or if it does not end with such a
// mark.
func (rs *restored) takenIn(text string) string {
	text = strings.TrimSpace(text)
	if !rs.endsInMark(text) {
		return ""
	}
	keys := rs.keysIn(text)
	t := rs.tools.Taking(keys)
	if t == nil || rs.namesOther(text[:max(0, strings.Index(text, keys[0].Key))], t.Name) {
		return ""
	}
	return t.Name
}

// namesOther reports whether the text before the parameters of a call has a word that may name a
// tool other than the given one. It ignores words of a notation, such as "call", and words that
// differ little from the given name.
func (rs *restored) namesOther(front, name string) bool {
	marks := strings.Join(rs.format.marks(), " ")
	return slices.ContainsFunc(aWord.FindAllString(front, -1), func(word string) bool {
		return !notationWord.MatchString(word) && !strings.Contains(marks, word) &&
			!nearly(word, name)
	})
}

// nearly reports whether two names begin and end alike: the equal letters at both ends are at least
// two thirds of the longer name.
func nearly(a, b string) bool {
	n, most := 0, min(len(a), len(b))
	for n < most && a[n] == b[n] {
		n++
	}
	k := 0
	for k < most-n && a[len(a)-1-k] == b[len(b)-1-k] {
		k++
	}
	return 3*(n+k) >= 2*max(len(a), len(b))
}

// Patterns for a word before the parameters of a call, and for the words of which notations of
// calls consist.
var (
	aWord        = regexp.MustCompile(`\pL[\pL\d_.-]*`)
	notationWord = regexp.MustCompile(`(?i)^(?:tools?|functions?|calls?|tool_?calls?|names?|types?|` +
		`id|invoke|json|inputs?|args?|arguments?|arg_?(?:key|value)|param(?:eter)?s?|key|value)$`)
)

// keysIn returns the keys in the tags of arguments in a text, or the members of the text's first
// object if it has no such tags. It returns nil if it finds neither.
func (rs *restored) keysIn(text string) (members []scan.Field) {
	for _, m := range keyInTag.FindAllStringSubmatch(text, -1) {
		members = append(members, scan.Field{Key: m[1] + m[2]})
	}
	if i := strings.IndexByte(text, '{'); i >= 0 && len(members) == 0 {
		members = scan.Fields(text[i:])
	}
	return members
}

// keyInTag matches a tag with the name of a parameter in it.
var keyInTag = regexp.MustCompile(
	`<[^<>\s]*(?:param|parameter|argument)(?:=| name="| key=")(\w+)|<[^<>\s]*arg_key[^<>]*>(\w+)<`)

// documentAround returns the JSON document in a text that contains offset at, or nil if there is
// none or it is not valid.
func documentAround(text string, at int) *jsontree.Value {
	i, j := strings.IndexAny(text, "{["), strings.LastIndexAny(text, "}]")
	if i < 0 || i > at || j < at {
		return nil
	}
	doc, _ := jsontree.Parse([]byte(text[i:j+1]), maxUnmarked)
	return doc
}

// holdsCall reports whether a JSON document contains a call of the tool. A call is an object that
// has the tool's name and arguments that the tool takes, either as two members or as key and value.
func holdsCall(doc *jsontree.Value, t *toolset.Tool) bool {
	named := slices.ContainsFunc(doc.Members, func(m jsontree.Member) bool {
		return m.Name == t.Name || m.Value.Raw[0] == '"' && strings.Contains(m.Value.Raw, t.Name)
	})
	return slices.ContainsFunc(doc.Members, func(m jsontree.Member) bool {
		return named && takes(t, m.Value) || holdsCall(m.Value, t)
	}) || slices.ContainsFunc(doc.Items, func(item *jsontree.Value) bool {
		return holdsCall(item, t)
	})
}

// takes reports whether a JSON value has members, and the tool takes them as its arguments.
func takes(t *toolset.Tool, args *jsontree.Value) bool {
	fields := make([]scan.Field, len(args.Members))
	for i, m := range args.Members {
		fields[i] = scan.Field{Key: m.Name, Value: m.Value.Raw}
	}
	return len(fields) > 0 && t.Takes(fields)
}

// beginsMember reports whether the text after the name of a tool begins directly with one of the
// tool's parameters, because the separator is missing.
func beginsMember(text string, t *toolset.Tool) bool {
	return slices.ContainsFunc(t.Type().Members(), func(key string) bool {
		return strings.HasPrefix(text, key)
	})
}

// threeWords matches three words of a sentence.
var threeWords = regexp.MustCompile(`[a-z]+ [a-z]+ [a-z]+`)

// firstName returns the offered tool whose name comes first in a text, and the position of the
// name. The tool is nil if the text contains no name.
func (rs *restored) firstName(text string) (at int, first *toolset.Tool) {
	for _, name := range rs.names() {
		i := strings.Index(text, name)
		end := i + len(name)
		if i < 0 || first != nil && i >= at || i > 0 && scan.IsWord(int(text[i-1])) ||
			end < len(text) && scan.IsWord(int(text[end])) &&
				!beginsMember(text[end:], rs.tools.Find(name)) {
			continue
		}
		at, first = i, rs.tools.Find(name)
	}
	return at, first
}
