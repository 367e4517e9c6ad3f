package derive

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// body is where in a text one call stands, and how a declaration says it.
// The text in front of start and behind end is marks, which become literals of the call line.
type body struct {
	start, end int
	hole       string // {call}, {name}…{json}, …
	lines      string // further lines of the declaration
}

// bodyOf finds the call with these two values in a text. The forms are tried from the strictest on:
// JSON proves itself by parsing, tags are whatever stands between known values.
//
//	{"name": "write_file", "arguments": {…}}               {call}, {calls}, {named}
//	write_file{…}, functions.write_file:0{…}                {name}…{json}, {id}…{json}
//	[write_file(content="wombat", path="quokka.txt")]       {python}
//	write_file{content:<|"|>wombat<|"|>,path:…}              {pseudo}
//	<parameter=content>wombat</parameter>                   {args}
func bodyOf(text, path, content string) (body, bool) {
	for _, form := range []func(text, path, content string) (body, bool){jsonBody, pythonBody, pseudoBody, taggedBody} {
		if b, ok := form(text, path, content); ok {
			return b, true
		}
	}
	return body{}, false
}

// jsonBody finds a call whose arguments are JSON: the name is in the JSON, or in front of it.
// A schema or a header may hold JSON as well, so the value must hold both arguments of the probe.
// It begins at every brace until one parses, so marks that hold braces do no harm.
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
			return named(value, i, end)
		}
		return besideName(text, i, end, "{json}", "")
	}
	return body{}, false
}

// jsonAt returns the JSON value that a text begins with; what follows may be anything. The template
// prints its own marks after it, and these are what is looked for.
func jsonAt(text string) (string, bool) {
	var value json.RawMessage
	in := json.NewDecoder(strings.NewReader(text))
	if in.Decode(&value) != nil {
		return "", false
	}
	return text[:in.InputOffset()], true
}

// named returns a body whose JSON holds the name: as the value of a member, or as the name of the
// only one. A member that is "0" or "1" counts the calls (command-r7b's "tool_call_id": "0"); one
// at the end with the probe's id has the call's own (mistral-v3). The usual names need no keys
// line. Arguments are found as the member that holds an object, the name as the member with its
// value.
func named(value string, start, end int) (body, bool) {
	b := body{start: start, end: end, hole: "{call}"}
	var list []json.RawMessage
	var words []string
	one := json.RawMessage(value)
	if json.Unmarshal(one, &list) == nil && len(list) > 0 {
		b.hole, one = "{calls}", list[0]
		words = append(words, "list="+spreads(value))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(one, &members) != nil {
		return body{}, false
	}
	// apertus writes [{"write_file": {…}}]
	if _, ok := members[probes[0].Name]; ok && len(members) == 1 {
		b.hole = "{named}"
		return b, true
	}
	for key, v := range members {
		switch {
		case string(v) == `"`+probes[0].Name+`"` && key != "name":
			words = append(words, "name="+key)
		case string(v) == `"0"` || string(v) == `"1"`:
			words = append(words, "id="+key)
		case string(v) == `"`+probes[0].ID+`"` && strings.HasSuffix(strings.TrimRight(string(one), " \n}"), string(v)):
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

// spreads returns how a list is spread over lines: a member a line, a call a line, or all in one.
// command-r prints json.dumps with indent=4, command-r7b a call a line.
func spreads(value string) string {
	switch {
	case strings.Contains(value, "{\n"):
		return "indent"
	case strings.Contains(value, "[\n"):
		return "lines"
	}
	return "always"
}

// anID is an id that holds the tool's name.
// It is Kimi K2's functions.write_file:0.
var anID = regexp.MustCompile(`(functions\.)?write_file:\d+`)

// besideName returns a body that ends with arguments at text[at:end] and begins with the name
// before them, or with the call's id. The last occurrence counts: deepseek-v3 has the word function
// and a separator before it, others the name in a header, too. Literals between name and arguments
// stay as they are: <｜tool▁sep｜>, [ARGS], a newline.
func besideName(text string, at, end int, hole, lines string) (body, bool) {
	front := text[:at]
	if m := anID.FindStringIndex(front); m != nil {
		return body{m[0], end, "{id}" + example(front[m[1]:]) + hole, lines}, true
	}
	start := strings.LastIndex(front, probes[0].Name)
	if start < 0 {
		return body{}, false
	}
	behind := front[start+len(probes[0].Name):]
	return body{start, end, "{name}" + example(behind) + hole, lines}, true
}

// aPython is one Python call, or a list of them.
// Arguments of the probe hold no parentheses, so a call ends at the first one that closes.
var aPython = regexp.MustCompile(`(?s)\[?write_file\((?:[^()]|\n)*\)(, *write_file\([^()]*\))*\]?`)

// pythonBody finds calls in Python's spelling. Without brackets around several it is olmo3's form,
// a call a line; quotes of the other kind are LFM2.5's.
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

// pseudoBody finds a call whose arguments are JSON with bare keys and strings between delimiters of
// their own. gemma4's call:write_file{content:<|"|>wombat<|"|>,path:…}: the delimiter is what
// stands between a key's colon and its value.
func pseudoBody(text, path, _ string) (body, bool) {
	aPseudo := regexp.MustCompile(`(?s)` + probes[0].Name + `(\{.*?path:(.+?)` + regexp.QuoteMeta(path) + `.*?\})`)
	m := aPseudo.FindStringSubmatchIndex(text)
	if m == nil {
		return body{}, false
	}
	return besideName(text, m[2], m[3], "{pseudo}", "quote   "+strings.TrimSpace(text[m[4]:m[5]])+"\n")
}

// taggedBody finds a call whose arguments each stand between marks. Two arguments show where one
// ends and the next begins: what stands in front of both keys is the opener, what stands behind
// both values the closer. Templates may sort arguments, so the one that stands first counts as the
// first. Tags that are named like the parameters, <path>…</path>, are told by the key that stands
// behind the value once more.
func taggedBody(text, path, content string) (body, bool) {
	key1, key2 := "path", "content"
	name, v1, v2 := strings.Index(text, probes[0].Name), strings.Index(text, path), strings.Index(text, content)
	if v2 < v1 {
		key1, key2, path, content, v1, v2 = key2, key1, content, path, v2, v1
	}
	if v1 < 0 || name < 0 || name > v1 {
		return body{}, false
	}
	end1, end2 := v1+len(path), v2+len(content)
	k1, k2 := name+strings.LastIndex(text[name:v1], key1), end1+strings.LastIndex(text[end1:v2], key2)
	if k1 < name+len(probes[0].Name) || k2 < end1 {
		return body{}, false
	}
	open, middle := opener(text[name:k1], text[end1:k2]), text[k1+len(key1):v1]
	// what stands between key and value must be the same for both, or the tags say more than a name
	if open == "" || middle != text[k2+len(key2):v2] {
		return body{}, false
	}
	between, after := text[end1:max(k2-len(open), end1)], text[end2:]
	closer := shared(between, after)
	closes := example(closer)
	if first, behind, ok := strings.Cut(between, key1); ok && strings.HasPrefix(after, first+key2+behind) { // <path>…</path>
		behind = strings.TrimRight(behind, "\n")
		closer, closes = first+key2+behind, example(first)+"{key}"+example(behind)
	}
	if closer == "" {
		return body{}, false
	}
	arg := fmt.Sprintf("arg     %s{key}%s{value}%s\n", example(open), example(middle), closes)
	return besideName(text, k1-len(open), end2+len(closer), "{args}", arg)
}
