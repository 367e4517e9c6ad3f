package derive

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// body says where one call is in a text, and how a declaration describes it. The text before start
// and after end consists of marks, which become literals of the declaration's call line.
type body struct {
	start, end  int
	placeholder string // such as {call} or {name}…{json}
	lines       string // further lines of the declaration
}

// bodyOf finds the call with the arguments path and content in a text, and returns its position and
// its form. It returns false if there is none. The forms are tried in order, the strictest first:
// JSON must parse, while tags may be any texts between known values. On the right are the
// placeholders that stand for each form in a declaration:
//
//	{"name": "write_file", "arguments": {…}}               {call}, {calls}, {named}
//	write_file{…}, functions.write_file:0{…}                {name}…{json}, {id}…{json}
//	[write_file(content="wombat", path="quokka.txt")]       {python}
//	write_file{content:<|"|>wombat<|"|>,path:…}              {pseudo}
//	<parameter=content>wombat</parameter>                   {args}
func bodyOf(text, path, content string) (body, bool) {
	for _, form := range []func(text, path, content string) (body, bool){jsonBody, pythonBody,
		pseudoBody, taggedBody} {
		if b, ok := form(text, path, content); ok {
			return b, true
		}
	}
	return body{}, false
}

// jsonBody finds a call whose arguments are JSON, with the name in the JSON or before it. It
// returns false if there is none. A schema or a header may be JSON as well, so the JSON must
// contain both values, path and content. Every brace or bracket is tried as its beginning, so marks
// may contain braces.
func jsonBody(text, path, content string) (body, bool) {
	for i := range len(text) {
		if text[i] != '{' && text[i] != '[' {
			continue
		}
		value, ok := jsonAt(text[i:])
		if !ok || !strings.Contains(value, path) || !strings.Contains(value, content) {
			continue
		}
		end := i + len(value)
		if strings.Contains(value, probes[0].Name) {
			return bodyNaming(value, i, end)
		}
		return besideName(text, i, end, "{json}", "")
	}
	return body{}, false
}

// jsonAt returns the JSON value at the start of a text, or false if there is none. Any text may
// follow the value.
func jsonAt(text string) (string, bool) {
	var value json.RawMessage
	in := json.NewDecoder(strings.NewReader(text))
	if in.Decode(&value) != nil {
		return "", false
	}
	return text[:in.InputOffset()], true
}

// bodyNaming returns a body whose JSON contains the tool's name, as the value of a member or as the
// key of the only member. It returns false if the JSON is not an object or a list of objects.
// Members are recognized by their values: the arguments are an object, "0" or "1" is the number of
// the call (command-r7b's "tool_call_id": "0"), and a last member with the test call's id is the id
// (mistral-v3). Members with unusual names are listed in a "keys" line of the declaration.
func bodyNaming(value string, start, end int) (body, bool) {
	b := body{start: start, end: end, placeholder: "{call}"}
	var list []json.RawMessage
	var words []string
	one := json.RawMessage(value)
	if json.Unmarshal(one, &list) == nil && len(list) > 0 {
		b.placeholder, one = "{calls}", list[0]
		words = append(words, "list="+spreads(value))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(one, &members) != nil {
		return body{}, false
	}
	// apertus writes [{"write_file": {…}}]
	if _, ok := members[probes[0].Name]; ok && len(members) == 1 {
		b.placeholder = "{named}"
		return b, true
	}
	for key, v := range members {
		switch {
		case string(v) == `"`+probes[0].Name+`"` && key != "name":
			words = append(words, "name="+key)
		case string(v) == `"0"` || string(v) == `"1"`:
			words = append(words, "id="+key)
		case string(v) == `"`+probes[0].ID+`"` &&
			strings.HasSuffix(strings.TrimRight(string(one), " \n}"), string(v)):
			words = append(words, "endid="+key)
		case v[0] == '{' && key != "arguments" && key != "function":
			words = append(words, "args="+key)
		}
	}
	if len(words) > 0 {
		slices.Sort(words)
		b.lines = "keys    " + strings.Join(words, " ") + "\n"
	}
	return b, true
}

// spreads returns the word that a keys line has after list= for the layout of a list: "indent" for
// one member per line (command-r's json.dumps with indent=4), "lines" for one call per line
// (command-r7b), or "always".
func spreads(value string) string {
	switch {
	case strings.Contains(value, "{\n"):
		return "indent"
	case strings.Contains(value, "[\n"):
		return "lines"
	}
	return "always"
}

// anID matches an id that contains the tool's name, such as Kimi K2's functions.write_file:0.
var anID = regexp.MustCompile(`(functions\.)?write_file:\d+`)

// besideName returns a body with the arguments text[at:end] and what precedes them: the call's id
// or the tool's name, where the body begins. It returns false if there is neither. The name is
// searched from the end, since some templates have it in a header as well. The text between name
// and arguments becomes a literal: <｜tool▁sep｜>, [ARGS], a newline. The parameter placeholder is
// the placeholder for the arguments, and lines are further lines of the declaration.
func besideName(text string, at, end int, placeholder, lines string) (body, bool) {
	front := text[:at]
	if m := anID.FindStringIndex(front); m != nil {
		return body{m[0], end, "{id}" + example(front[m[1]:]) + placeholder, lines}, true
	}
	start := strings.LastIndex(front, probes[0].Name)
	if start < 0 {
		return body{}, false
	}
	behind := front[start+len(probes[0].Name):]
	return body{start, end, "{name}" + example(behind) + placeholder, lines}, true
}

// aPython matches one Python call, or a list of them. Arguments of the probe have no parentheses,
// so a call ends at the first closing one.
var aPython = regexp.MustCompile(`(?s)\[?write_file\((?:[^()]|\n)*\)(, *write_file\([^()]*\))*\]?`)

// pythonBody finds a call that is written as in Python and has the values path and content. It
// returns false if there is none. Olmo3 prints such calls one per line and without brackets, and
// LFM2.5 with single quotes.
func pythonBody(text, path, content string) (body, bool) {
	m := aPython.FindStringIndex(text)
	if m == nil {
		return body{}, false
	}
	call, lines := text[m[0]:m[1]], ""
	if !strings.Contains(call, path) || !strings.Contains(call, content) {
		return body{}, false
	}
	if call[0] != '[' {
		lines = "keys    list=lines\n"
	}
	if strings.Contains(call, "'"+content+"'") {
		lines += "quote   '\n"
	}
	return body{m[0], m[1], "{python}", lines}, true
}

// pseudoBody finds a call whose arguments are JSON with bare keys and special string delimiters,
// such as gemma4's call:write_file{content:<|"|>wombat<|"|>,path:…}. It returns false if there is
// none. The delimiter is the text between a key's colon and its value.
func pseudoBody(text, path, _ string) (body, bool) {
	aPseudo := regexp.MustCompile(`(?s)` + probes[0].Name + `(\{.*?path:(.+?)` +
		regexp.QuoteMeta(path) + `.*?\})`)
	m := aPseudo.FindStringSubmatchIndex(text)
	if m == nil {
		return body{}, false
	}
	return besideName(text, m[2], m[3], "{pseudo}", "quote   "+strings.TrimSpace(text[m[4]:m[5]])+
		"\n")
}

// taggedBody finds a call whose arguments are each between marks, and returns false if there is
// none. The opening mark of an argument is the common text before both keys, and the closing mark
// is the common text after both values. The two arguments are taken in the order in which they
// occur in the text, since templates may sort them. If tags are named like the parameters,
// <path>…</path>, the key is repeated after the value.
func taggedBody(text, path, content string) (body, bool) {
	key1, key2 := "path", "content"
	name, v1, v2 := strings.Index(text, probes[0].Name), strings.Index(text, path),
		strings.Index(text, content)
	if v2 < v1 {
		key1, key2, path, content, v1, v2 = key2, key1, content, path, v2, v1
	}
	if v1 < 0 || name < 0 || name > v1 {
		return body{}, false
	}
	end1, end2 := v1+len(path), v2+len(content)
	k1, k2 := name+strings.LastIndex(text[name:v1], key1),
		end1+strings.LastIndex(text[end1:v2], key2)
	if k1 < name+len(probes[0].Name) || k2 < end1 {
		return body{}, false
	}
	open, middle := opener(text[name:k1], text[end1:k2]), text[k1+len(key1):v1]
	// the texts between key and value must be the same for both arguments
	if open == "" || middle != text[k2+len(key2):v2] {
		return body{}, false
	}
	between, after := text[end1:max(k2-len(open), end1)], text[end2:]
	closer := commonStart(between, after)
	closes := example(closer)
	// <path>…</path>
	if first, behind, ok := strings.Cut(between, key1); ok &&
		strings.HasPrefix(after, first+key2+behind) {
		behind = strings.TrimRight(behind, "\n")
		closer, closes = first+key2+behind, example(first)+"{key}"+example(behind)
	}
	if closer == "" {
		return body{}, false
	}
	arg := fmt.Sprintf("arg     %s{key}%s{value}%s\n", example(open), example(middle), closes)
	return besideName(text, k1-len(open), end2+len(closer), "{args}", arg)
}
