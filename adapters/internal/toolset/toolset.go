// Package toolset finds the offered tool that a model means by a name. It knows the ways in which
// models spell names, but never guesses by similarity.
package toolset

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Tool is an offered tool. Its schema is compiled on first use, because a client may offer hundreds
// of tools of which most are never called.
type Tool struct {
	chat.Tool
	compiled bool
	typ      *schema.Type
}

// Type returns the type of the tool's arguments, or nil if its schema has no constraints.
func (t *Tool) Type() *schema.Type {
	if !t.compiled {
		t.compiled, t.typ = true, schema.Compile(t.Schema)
	}
	return t.typ
}

// Set finds the offered tools by the names that models write. It first looks for the exact name,
// then ignores case and separators if the result is unique, and then removes a known prefix. It
// does not use edit distance, because a near miss of one name may be another tool. Look-ups use
// maps and binary search, so their cost hardly depends on the number of tools.
type Set struct {
	offered []chat.Tool       // the other fields are built from it at the first look-up
	also    map[string]string // further names of tools, see New
	exact   map[string]*Tool
	forms   map[string]*Tool // by folded name, see fold; nil if two tools share that name
	random  bool             // some tool has a random prefix that a client made up
	sorted  []string         // the folded spellings, for the search by prefix
}

// New returns a set of the offered tools. The map also gives further names: each key is a name, and
// its value is the tool that it means.
func New(offered []chat.Tool, also map[string]string) *Set {
	return &Set{offered: offered, also: also}
}

// Named returns the tool that is offered by exactly this name, or nil.
func (s *Set) Named(name string) *Tool {
	s.build()
	return s.exact[name]
}

// prefixes are folded namespaces that models put before offered names: harmony and Kimi K2 write
// functions.f, Gemma writes default_api.f.
var prefixes = []string{"functions", "function", "defaultapi", "tools", "tool", "api"}

// build makes the tables in which tools are looked up. It does so when it is first called, because
// a reply without calls never needs them. If two tools have the same name, the first is used. A
// folded name is in small letters without separators. A tool is found only by its exact name if its
// folded name, with or without its prefix, is also that of another tool, as for a_b and ab.
func (s *Set) build() {
	if s.exact != nil {
		return
	}
	s.exact, s.forms = make(map[string]*Tool, len(s.offered)),
		make(map[string]*Tool, len(s.offered))
	all := make([]Tool, len(s.offered))
	for i, o := range s.offered {
		// offered twice
		if s.exact[o.Name] != nil || o.Name == "" {
			continue
		}
		t := &all[i]
		t.Tool = o
		s.exact[o.Name] = t
		s.add(o.Name, t)
		if short := withoutPrefix(o.Name); short != "" {
			s.add(short, t)
			s.random = s.random || len(o.Name) == randomPrefix+1+len(short) &&
				strings.HasSuffix(o.Name, "_"+short)
		}
	}
	s.buildAlso()
	s.sorted = slices.Sorted(maps.Keys(s.forms))
}

// add makes a tool known by one more name. If another tool has the same name, that name finds
// neither of them.
func (s *Set) add(name string, t *Tool) {
	folded := fold(name)
	if other, known := s.forms[folded]; known && other != t || folded == "" {
		t = nil
	}
	s.forms[folded] = t
}

// buildAlso adds the further names of tools that New got in its parameter also. A further name
// never replaces the name of an offered tool, or a name that differs from it only in case and
// separators.
func (s *Set) buildAlso() {
	first := maps.Clone(s.forms)
	for name, of := range s.also {
		// the tool is not offered, or the name is that of another tool
		t := s.exact[of]
		if t == nil || s.exact[name] != nil {
			continue
		}
		s.exact[name] = t
		if _, known := first[fold(name)]; !known {
			s.add(name, t)
		}
	}
}

// withoutPrefix returns an offered name without the name of a server or the random prefix of a
// client. It returns "" if the name has neither. The shorter name finds the tool only if no other
// tool has that name.
func withoutPrefix(name string) string {
	// github.search_code: models leave the server out
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[i+1:]
	}
	// mcp__github__search_code, as clients name the tools of MCP servers
	if i := strings.LastIndex(name, "__"); i > 0 {
		return name[i+2:]
	}
	// x1y2z3_search_docs: six signs made up by the client
	if len(name) > randomPrefix+1 && name[randomPrefix] == '_' && isBase36(name[:randomPrefix]) {
		return name[randomPrefix+1:]
	}
	return ""
}

// isBase36 reports whether s could be a random prefix: small letters and digits with at least one
// digit.
func isBase36(s string) bool {
	return strings.ContainsAny(s, "0123456789") && isAlphanumeric(s)
}

// isAlphanumeric reports whether s has only small letters and digits.
func isAlphanumeric(s string) bool {
	return strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// MaxName bounds a tool's name in bytes. Clients allow 64 bytes, but models make names longer by
// prefixes (functions., a server's name) and escapes.
const MaxName = 128

// fold returns a name in small letters, without the separators between its words. It is called for
// every byte of a name that is being read. Therefore it is small enough to be inlined. Its buffer
// is then on the stack of the caller, and a name that fits into the buffer needs no allocation.
func fold[S string | []byte](name S) string {
	var buf [64]byte // OpenAI's limit of a name
	return string(appendFold(buf[:0], name))
}

// appendFold appends name to dst in small letters, without the separators between its words.
func appendFold[S string | []byte](dst []byte, name S) []byte {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == ':':
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Find returns the tool that a model means by a name, or nil if there is none or more than one. The
// exact name is tried first, then the ways to write it that are less and less certain.
func (s *Set) Find(name string) *Tool {
	s.build()
	name = strings.TrimSpace(name)
	if t := s.exact[name]; t != nil {
		return t
	}
	// get\_weather, a&amp;b
	name = string(unescape([]byte(name)))
	if t := s.exact[name]; t != nil {
		return t
	}
	// GetWeather, get-weather
	folded := fold(name)
	if t := s.forms[folded]; t != nil {
		return t
	}
	// get_weather.get_weather, as Muse writes it
	if first, second, ok := strings.Cut(name, "."); ok && first == second {
		return s.Find(first) // its own name as a namespace
	}
	// functions.get_weather
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(folded, p); ok {
			if t := s.forms[rest]; t != nil {
				return t
			}
		}
	}
	// zzzzzz_search_docs for k3j9ab_search_docs: Void adds six random characters, and models invent
	// others
	if s.random && len(name) > randomPrefix+1 && name[randomPrefix] == '_' &&
		isAlphanumeric(name[:randomPrefix]) {
		if t := s.forms[fold(name[randomPrefix+1:])]; t != nil && len(t.Name) == len(name) &&
			t.Name[randomPrefix:] == name[randomPrefix:] {
			return t
		}
	}
	return nil
}

// randomPrefix is the number of random characters that Void puts before the name of an MCP server's
// tool. An underscore follows them.
const randomPrefix = 6

// InID returns the tool that the id of a call names, or nil. The usual form is
// functions.get_weather:0, but models also write functionsget_weather7 and get_weather_1. Any text
// after the last colon is a counter, as in functions.f:0 and f:call_1. Digits at the end are a
// counter unless a tool has them in its name. An id that is only a counter means the only offered
// tool.
func (s *Set) InID(id string) *Tool {
	// functions.get_weather:0
	base := id
	if i := strings.LastIndexByte(id, ':'); i > 0 {
		base = id[:i]
	}
	if t := s.Find(base); t != nil {
		return t
	}
	// functionsget_weather7
	base = strings.TrimRight(base, "0123456789")
	if t := s.Find(base); t != nil {
		return t
	}
	// 0, call_1: there is only one tool
	if len(s.offered) == 1 && (base == "" || fold(base) == "call") {
		return s.Find(s.offered[0].Name)
	}
	return nil
}

// IsCounter reports whether an id does not name a tool, because it only counts calls or is random,
// as 0, call00003 and call_8a6f…. The arguments of the call then show which tool is meant.
func IsCounter(id string) bool {
	return strings.HasPrefix(id, "call") || strings.Trim(id, "0123456789") == ""
}

// Taking returns the only tool that has all these members in its schema and requires no others. It
// returns nil if there is none or more than one. It also returns nil if there are no members,
// because every tool without required parameters would fit.
func (s *Set) Taking(members []scan.Field) *Tool {
	s.build()
	var found *Tool
	for _, t := range s.exact {
		// {} fits many tools, and a tool without listed parameters fits everything
		if len(members) == 0 || len(t.Type().Members()) == 0 || !t.Takes(members) {
			continue
		}
		if found != nil && found != t {
			return nil
		}
		found = t
	}
	return found
}

// Takes reports whether the tool can be called with these members as its arguments. All that it
// requires must be there, and none that its schema does not list, even if the schema allows further
// members. A schema that lists no members takes any.
func (t *Tool) Takes(members []scan.Field) bool {
	typ := t.Type()
	has := func(name string) bool {
		return slices.ContainsFunc(members, func(m scan.Field) bool { return m.Key == name })
	}
	other := func(m scan.Field) bool { return len(typ.Members()) > 0 && !typ.Has(m.Key) }
	return !slices.ContainsFunc(members, other) &&
		!slices.ContainsFunc(typ.Required(), func(name string) bool { return !has(name) })
}

// BeginsID reports whether id may be the beginning of a call's id: one with a tool's name in it, or
// a number. It is called for every byte of an id, so that reading a wrong id ends early.
func (s *Set) BeginsID(id []byte) bool {
	return s.Begins(id) || s.InID(string(id)) != nil || IsCounter(string(id)) || strings.HasPrefix(
		"call", string(id))
}

// Begins reports whether name is the beginning of a name by which Find finds a tool. This includes
// names with a prefix, and a tool's name written twice, as in f.f.
func (s *Set) Begins(name []byte) bool {
	if len(name) > 0 && (name[0] == '.' || name[0] == '-') {
		return false // the full stop of a sentence about a mark; folding would drop it
	}
	s.build()
	name = unescape(name)
	folded := fold(name)
	// get_wea of get_weather
	if s.leads(folded) {
		return true
	}
	// functions.get_wea, or functi of a prefix itself
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(folded, p); ok && s.leads(rest) ||
			strings.HasPrefix(p, folded) {
			return true
		}
	}
	// zzzzzz_search_d
	if s.random && isAlphanumeric(string(name[:min(len(name), randomPrefix)])) &&
		(len(name) <= randomPrefix ||
			name[randomPrefix] == '_' && s.leads(fold(name[randomPrefix+1:]))) {
		return true
	}
	first, second, ok := strings.Cut(string(name), ".")
	return ok && strings.HasPrefix(first, second) && s.Find(first) != nil
}

// leads reports whether the name of some tool, folded (in small letters without separators), begins
// with the given text. The names are sorted, so only the first one that is not smaller has to be
// looked at.
func (s *Set) leads(folded string) bool {
	i, _ := slices.BinarySearch(s.sorted, folded)
	return i < len(s.sorted) && strings.HasPrefix(s.sorted[i], folded)
}

// Recipient returns the tool that the header of a message names, or nil. Signs, the channel or the
// type of the content may be attached to the name. For example, gpt-oss attaches "json" or a
// question mark if it forgets the special token between them, as in to=get_weatherjson<|message|>.
// A token may also have lost its first character, as in to=get_weather|channel|>commentary. The
// name as written is tried first, because the name of a tool may end in "code".
func (s *Set) Recipient(name string) *Tool {
	if t := s.Find(name); t != nil {
		return t
	}
	name, _, _ = strings.Cut(name, "|")
	name = strings.TrimRight(name, "?:;,.")
	// to=get_weather?, to=get_weatherjson
	for _, glued := range []string{"", "json", "code", "commentary", "analysis"} {
		if base, ok := strings.CutSuffix(name, glued); ok {
			if t := s.Find(base); t != nil {
				return t
			}
		}
	}
	return nil
}

// Names of tools may have escapes: get\_weather as in Markdown, get\u005fweather as in JSON,
// a&amp;b as in XML.

// In reports whether a text contains the name of an offered tool.
func (s *Set) In(text []byte) bool {
	return slices.ContainsFunc(s.offered, func(t chat.Tool) bool {
		return bytes.Contains(text, []byte(t.Name))
	})
}

// MemberNames returns the names of the parameters that the offered tools list.
func (s *Set) MemberNames() (names []string) {
	s.build()
	for _, t := range s.exact {
		names = append(names, t.Type().Members()...)
	}
	return names
}

// InnerNames returns the names of the members of those parameters that are objects, for all tools.
func (s *Set) InnerNames() (names []string) {
	s.build()
	for _, t := range s.exact {
		for _, m := range t.Type().Members() {
			if in := t.Type().Prop(m); in.Only(schema.Object | schema.Null) {
				names = append(names, in.Members()...)
			}
		}
	}
	return names
}
