package adapters

import (
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// tool is an offered tool with its schema, compiled when it is first called.
type tool struct {
	chat.Tool
	compiled bool
	typ      *schema.Type
}

func (t *tool) schema() *schema.Type {
	if !t.compiled {
		t.compiled, t.typ = true, schema.Compile(t.Schema)
	}
	return t.typ
}

// toolset finds the offered tools by the names that models write: exactly, then without a known prefix, then without
// regard to case and separators when that is unique. Never by edit distance.
type toolset struct {
	exact map[string]*tool
	forms []form // sorted by folded name
}

// form is a folded spelling of a tool's name. A spelling that two tools share belongs to neither.
type form struct {
	folded string
	tool   *tool
}

// prefixes are name spaces that models put in front of a name although nobody offered them.
var prefixes = []string{"functions", "function", "defaultapi", "tools", "tool", "api"}

func newToolset(offered []chat.Tool) *toolset {
	s := &toolset{exact: make(map[string]*tool, len(offered))}
	for _, o := range offered {
		t := &tool{Tool: o}
		if s.exact[o.Name] != nil || o.Name == "" {
			continue
		}
		s.exact[o.Name] = t
		for _, f := range folds(o.Name) {
			s.forms = append(s.forms, form{f, t})
			for _, p := range prefixes {
				s.forms = append(s.forms, form{p + f, t})
			}
		}
	}
	slices.SortFunc(s.forms, func(a, b form) int { return strings.Compare(a.folded, b.folded) })
	return s
}

// folds are the folded spellings of an offered name: whole, and without a server's or a client's own prefix.
func folds(name string) []string {
	out := []string{fold(name)}
	for _, sep := range []string{".", "__"} {
		if i := strings.LastIndex(name, sep); i > 0 {
			out = append(out, fold(name[i+len(sep):]))
		}
	}
	if len(name) > 7 && name[6] == '_' && isBase36(name[:6]) {
		out = append(out, fold(name[7:]))
	}
	return out
}

// isBase36 says whether s could be a random prefix: small letters and digits with at least one digit.
func isBase36(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// fold drops case and separators.
func fold(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.' || c == ' ':
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// find returns the tool that a model means by name, or nil.
func (s *toolset) find(name string) *tool {
	name = strings.TrimSpace(name)
	if t := s.exact[name]; t != nil {
		return t
	}
	folded := fold(name)
	if folded == "" {
		return nil
	}
	var found *tool
	for i := s.search(folded); i < len(s.forms) && s.forms[i].folded == folded; i++ {
		if found != nil && found != s.forms[i].tool {
			return nil
		}
		found = s.forms[i].tool
	}
	return found
}

// begins says whether some offered name can still be written once name has been.
func (s *toolset) begins(name []byte) bool {
	folded := fold(string(name))
	i := s.search(folded)
	return i < len(s.forms) && strings.HasPrefix(s.forms[i].folded, folded)
}

func (s *toolset) search(folded string) int {
	i, _ := slices.BinarySearchFunc(s.forms, folded, func(f form, want string) int { return strings.Compare(f.folded, want) })
	return i
}
