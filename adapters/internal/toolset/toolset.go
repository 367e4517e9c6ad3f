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

// Tool is an offered tool. Its schema is compiled on first use, since a client may offer hundreds
// of tools, most of which are never called.
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

// Set finds the offered tools by the names that models write: exactly, then without regard to case
// and separators if that is unique, then without a known prefix. It does not use edit distance,
// since a near miss of one name may be another tool. Look-ups use maps and binary search, so their
// cost does not depend on the number of tools.
type Set struct {
	offered []chat.Tool       // the first look-up builds the fields below from it
	also    map[string]string // see New
	exact   map[string]*Tool
	forms   map[string]*Tool // by folded spelling; nil if two tools share it
	random  bool             // a tool has a client's random prefix
	sorted  []string         // the folded spellings, for the search by prefix
}

// New returns a set of tools; also maps further names to the names of tools.
func New(offered []chat.Tool, also map[string]string) *Set {
	return &Set{offered: offered, also: also}
}

// Named returns the tool that is offered by exactly this name, or nil.
func (s *Set) Named(name string) *Tool {
	s.build()
	return s.exact[name]
}

// prefixes holds folded namespaces that models add to offered names: functions.f is harmony's and
// Kimi K2's, default_api.f Gemma's.
var prefixes = []string{"functions", "function", "defaultapi", "tools", "tool", "api"}

// build makes the look-up tables on the first call; a reply without calls never needs them. Of two
// tools with the same name the first counts. If two tools have the same folded spelling (a_b, ab),
// or share one with a short form without a prefix, only their exact names find them.
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

// add adds a spelling of a tool's name.
func (s *Set) add(name string, t *Tool) {
	folded := fold(name)
	if other, known := s.forms[folded]; known && other != t || folded == "" {
		t = nil
	}
	s.forms[folded] = t
}

// buildAlso adds the further names of tools. They never replace a name or a spelling of an offered
// tool.
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

// withoutPrefix returns an offered name without a server's name or a client's random prefix, or ""
// when it has neither. The short form is one more spelling, so it finds a tool only if no other
// tool has it.
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

// isAlphanumeric reports whether s has nothing but small letters and digits.
func isAlphanumeric(s string) bool {
	return strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// MaxName bounds a tool's name in bytes. Clients allow 64 bytes; prefixes (functions., a server's
// name) and escapes make names longer.
const MaxName = 128

// fold returns a name in small letters, without separators. It is called for every byte of a name
// that is being read. It is small enough to be inlined, so the buffer is on the stack of its
// callers, and a name that fits into it needs no allocation.
func fold[S string | []byte](name S) string {
	var buf [64]byte // OpenAI's limit of a name
	return string(appendFold(buf[:0], name))
}

// appendFold appends the folded name to dst: in small letters, without the signs between words.
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

// Find returns the tool that a model means by name, or nil if there is none or more than one. More
// certain spellings are tried first.
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
// tool; an underscore follows them.
const randomPrefix = 6

// InID returns the tool that an id names, or nil. The rule is functions.get_weather:0, but models
// also write functionsget_weather7 and get_weather_1. The part after the last colon is a counter,
// whatever it is: functions.f:0, f:call_1. Digits at the end are a counter if no tool has them in
// its name. A bare counter means the only offered tool.
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

// IsCounter reports whether an id does not name a tool: 0, call00003, call_8a6f…. Then the
// arguments of the call show which tool is meant.
func IsCounter(id string) bool {
	return strings.HasPrefix(id, "call") || strings.Trim(id, "0123456789") == ""
}

// Taking returns the only tool whose schema has all these members and requires no others, or nil if
// there is none or more than one. Without members it returns nil, since every tool without required
// parameters would fit.
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

// Takes reports whether the members include all that a tool requires, and none that its schema does
// not list, even if the schema allows further members. A schema without listed members takes any.
func (t *Tool) Takes(members []scan.Field) bool {
	typ := t.Type()
	has := func(name string) bool {
		return slices.ContainsFunc(members, func(m scan.Field) bool { return m.Key == name })
	}
	other := func(m scan.Field) bool { return len(typ.Members()) > 0 && !typ.Has(m.Key) }
	return !slices.ContainsFunc(members, other) &&
		!slices.ContainsFunc(typ.Required(), func(name string) bool { return !has(name) })
}

// BeginsID reports whether id is the beginning of an id that names a tool, or of a counter. It is
// called for every byte of an id, so that a wrong one ends early.
func (s *Set) BeginsID(id []byte) bool {
	return s.Begins(id) || s.InID(string(id)) != nil || IsCounter(string(id)) || strings.HasPrefix(
		"call", string(id))
}

// Begins reports whether name is the beginning of a name that Find would accept, including prefixes
// and f.f.
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

// leads reports whether some folded name begins with folded. The names are sorted, so only the
// first that is not smaller has to be looked at.
func (s *Set) leads(folded string) bool {
	i, _ := slices.BinarySearch(s.sorted, folded)
	return i < len(s.sorted) && strings.HasPrefix(s.sorted[i], folded)
}

// Recipient returns the tool that a header means by name, or nil. Signs and the type of the content
// may be attached to the name: gpt-oss attaches "json" or a question mark when it forgets the mark
// between them, to=get_weatherjson<|message|>. The plain name is tried first, since the name of a
// tool may end in "code".
func (s *Set) Recipient(name string) *Tool {
	if t := s.Find(name); t != nil {
		return t
	}
	name = strings.TrimRight(name, "?:;,.")
	// to=get_weather?, to=get_weatherjson
	for _, glued := range []string{"", "json", "code"} {
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

// MemberNames returns the names of the members that the offered tools list.
func (s *Set) MemberNames() (names []string) {
	s.build()
	for _, t := range s.exact {
		names = append(names, t.Type().Members()...)
	}
	return names
}

// InnerNames returns the names of the members of members that are objects.
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
