package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
)

// Clients name tools as they like, but not every name is accepted by a family's markup, by a
// server's template or by its parser. A tool whose name may not come back unchanged gets an alias
// for the model: in the tools, the choice, the history and the constraint of a reply. The client
// sees only its own names. An alias depends on the name and on what else is offered, so it is the
// same in every turn, and the server's prompt cache stays valid.

const (
	// plainName is the longest name that is accepted without a trial. It is OpenAI's own limit.
	plainName = 64
	// longestAlias is the longest readable part of an alias. With it a hash still fits into
	// OpenAI's limit.
	longestAlias = 48
	// maxTried is how many unusual names of a request are tried. Each trial takes some ten
	// microseconds, so all of them take some ten milliseconds. If there are more, all get an alias.
	maxTried = 1 << 10
	// controlName is a name that every family can write. If a family cannot, a trial says nothing
	// about it.
	controlName = "get_item"
)

// names has the aliases of the tools of one request. The zero value, and nil, leave every name as
// it is. Each alias stands for exactly one name, because otherwise a call could come back under a
// wrong name.
type names struct {
	alias map[string]string // aliases by the client's name
	own   map[string]string // client's names by the alias
}

// forModel returns the name by which the model knows a tool: its alias, or the name itself.
func (n *names) forModel(name string) string {
	if n != nil && n.alias[name] != "" {
		return n.alias[name]
	}
	return name
}

// forClient returns the name by which the client knows a tool.
func (n *names) forClient(name string) string {
	if n != nil && n.own[name] != "" {
		return n.own[name]
	}
	return name
}

// tool returns the offered tool that the client or the model knows by that name. If there is none,
// it returns a tool without a schema. That is rare, since onlyOffered lets only offered names
// through.
func (n *names) tool(offered []chat.Tool, name string) chat.Tool {
	name = n.forModel(name) // a server's own parser may return a name from the conversation
	for _, tool := range offered {
		if tool.Name == name {
			return tool
		}
	}
	return chat.Tool{Name: name}
}

// others returns a map from the client's names of tools to their aliases, or nil if there are no
// aliases. A model may know the client's names from the conversation, and use them.
func (n *names) others() map[string]string {
	if n == nil {
		return nil
	}
	return n.alias
}

// aliasTools returns the job with aliases for the tools whose names the model's family may not be
// able to write. A tool keeps its name if every family can write it, or if a test shows that this
// family can. A call whose name is written wrongly is lost, while an alias only hides from the
// model what the name says. aliasTools never fails.
func (j *job) aliasTools(context.Context) (*job, error) {
	odd := unsureNames(j.request)
	if len(odd) == 0 {
		return j, nil
	}
	n := &names{alias: map[string]string{}, own: map[string]string{}}
	var taken map[string]bool
	for _, name := range odd {
		if len(odd) <= maxTried && j.writes(name) {
			continue
		}
		if taken == nil {
			taken = takenNames(j.request.Tools)
		}
		alias := j.aliasOf(name, taken)
		taken[foldName(alias)] = true
		n.alias[name], n.own[alias] = alias, name
	}
	if len(n.alias) == 0 {
		return j, nil
	}
	k := j.with(n.renamed(j.request, j.format))
	k.names = n
	k.tell(noteNames, n.list(odd))
	return k, nil
}

// list returns the names in odd that have aliases, each with its alias, as a text. It is for logs
// and prompts that otherwise show only aliases. After maxListed names it says how many more there
// are.
func (n *names) list(odd []string) string {
	var list []string
	for _, name := range odd {
		if alias := n.alias[name]; alias != "" && len(list) < maxListed {
			list = append(list, fmt.Sprintf("%+.64q as %s", name, alias))
		}
	}
	if more := len(n.alias) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// unsureNames returns the tool names in the request that a model's family may not be able to write,
// each once: those of the offered tools in order, then those of earlier calls and results. These
// are included because earlier calls are written into the prompt in the family's format, and a name
// that breaks the markup breaks the prompt. Empty names are skipped.
func unsureNames(r *chat.Request) []string {
	var list []string
	var seen map[string]bool // allocated only when there are such names
	add := func(name string) {
		if name == "" || plain(name) || seen[name] {
			return
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		seen[name] = true
		list = append(list, name)
	}
	for i := range r.Tools {
		add(r.Tools[i].Name)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		for j := range m.Calls {
			add(m.Calls[j].Name)
		}
		if m.Role == chat.ToolRole {
			add(m.Name)
		}
	}
	return list
}

// plain reports whether models of every family can write the name. Such a name consists of the
// characters that OpenAI allows, begins with a letter, and is not a single word, since some
// families use single words for roles and functions ("assistant", "print").
func plain(name string) bool {
	word := true
	for i := range len(name) {
		switch c := name[i]; {
		case asciiLetter(rune(c)):
		case i > 0 && (c == '_' || c == '-' || '0' <= c && c <= '9'):
			word = false
		default:
			return false
		}
	}
	return !word && len(name) <= plainName
}

// asciiLetter reports whether c is one of the 52 ASCII letters.
func asciiLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// writes reports whether an unusual name can be used unchanged, so that it needs no alias. It
// returns false if the server refuses the name, or if the model's family may not be able to write
// it.
func (t *target) writes(name string) bool {
	if t.facts.StrictNames && (len(name) > plainName || strings.IndexFunc(name, notOpenAI) >= 0) {
		return false // OpenAI refuses the request
	}
	return !hasMarkup(name) && t.carries(name)
}

// notOpenAI reports whether OpenAI refuses names with that character. Its rule is
// ^[a-zA-Z0-9_-]{1,64}$.
func notOpenAI(c rune) bool {
	return !asciiLetter(c) && (c < '0' || c > '9') && c != '_' && c != '-'
}

// hasMarkup reports whether a name has characters with a meaning in some markup, such as JSON, XML
// or a template. It is not tested whether a model can write such a name, because the test parses
// what toolnorm prints, and a server's template may print the name differently. Letters of any
// script have no such meaning, and a model that knows the word picks the tool by it.
func hasMarkup(name string) bool {
	odd := strings.IndexFunc(name, func(c rune) bool {
		return notOpenAI(c) && !strings.ContainsRune(".:/", c) &&
			(c < unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsMark(c) &&
				!unicode.IsDigit(c))
	})
	// In a sentence about a tag such a character comes first, and after a name such a character may
	// continue the name of another tool as a path.
	return odd >= 0 || strings.Trim(name, ".:/") != name || name[0] == '-'
}

// takenNames returns the folded names of the offered tools. An alias must not fold to one of them,
// because the decoder could not distinguish the two tools. For example, it accepts get-weather for
// get_weather.
func takenNames(tools []chat.Tool) map[string]bool {
	taken := make(map[string]bool, len(tools))
	for i := range tools {
		if name := tools[i].Name; !hasMarkup(name) {
			taken[foldName(name)] = true
		}
	}
	return taken
}

// foldName returns a name in lower case, without the characters that models leave out. The decoder
// compares names in the same way, so that Get-Weather means get_weather.
func foldName(name string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("_-.:/", c) {
			return -1
		}
		return unicode.ToLower(c)
	}, name)
}

// aliasOf returns the first free alias for a name, one that the model's family can write. It is
// made of the letters of the name, or else of its hash. A model picks a tool mainly by its name, so
// "with space" becomes tool_with_space and not a number.
//
// With Gemma 3 "tool<b>" becomes tool_b, "print" becomes tool_print, and 工具 becomes tool_5ca6730d.
// If there are both "a b" and "a$b", the second becomes tool_a_b.
func (t *target) aliasOf(name string, taken map[string]bool) string {
	letters, all := readable(name)
	sum := hash(name)
	candidates := []string{letters, "tool_" + letters, letters + "_" + sum[:8], "tool_" + letters +
		"_" + sum[:8]}
	if !all {
		candidates = candidates[2:]
	}
	for _, alias := range candidates {
		if asciiLetter(rune(alias[0])) && !taken[foldName(alias)] &&
			(plain(alias) || t.carries(alias)) {
			return alias
		}
	}
	alias := "tool_" + sum
	for taken[foldName(alias)] {
		sum = hash(sum)
		alias = "tool_" + sum
	}
	return alias
}

// hash returns 24 hexadecimal digits of a text's hash. Because of the hash an alias depends on the
// name alone. A counter would change with the other tools that are offered, and so would the
// prompt, which the server has cached.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// readable returns a name reduced to ASCII letters and digits, or "tool" if nothing of it is left.
// The result all is false if a part of the name is missing in alias. For example, nothing of 工具 is
// left, so such tools are distinguished by a hash, and their descriptions contain the name.
func readable(name string) (alias string, all bool) {
	var b strings.Builder
	all, gap := true, false
	for _, c := range name {
		switch {
		case c > unicode.MaxASCII:
			all, gap = false, true
		case c == '_' || notOpenAI(c):
			gap = true
		default:
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(c)
		}
		if b.Len() > longestAlias {
			return strings.Trim(b.String()[:longestAlias], "_-"), false
		}
	}
	if alias = strings.Trim(b.String(), "_-"); alias == "" {
		return "tool", false
	}
	return alias, all
}

// renamed returns a copy of r with the names for the model. The description of a renamed tool
// mentions the client's name, because users call tools by that name, and the model must know which
// tool they mean. It does not mention a name that is long or contains a special token of the
// model's family.
func (n *names) renamed(r *chat.Request, f *adapters.Format) *chat.Request {
	c := *r
	c.Tools = slices.Clone(r.Tools)
	for i := range c.Tools {
		tool := &c.Tools[i]
		if alias := n.alias[tool.Name]; alias != "" {
			if len(tool.Name) <= 2*plainName && !f.Marked(tool.Name) {
				tool.Description = upstream.AlsoCalled(tool.Name, tool.Description)
			}
			tool.Name, tool.Found = alias, false // the conversation uses another name
		}
	}
	c.Allowed = slices.Clone(r.Allowed)
	for i := range c.Allowed {
		c.Allowed[i] = n.forModel(c.Allowed[i])
	}
	c.Messages = slices.Clone(r.Messages)
	for i := range c.Messages {
		m := &c.Messages[i]
		m.Calls = slices.Clone(m.Calls)
		for j := range m.Calls {
			m.Calls[j].Name = n.forModel(m.Calls[j].Name)
		}
		if m.Role == chat.ToolRole {
			m.Name = n.forModel(m.Name)
		}
	}
	return &c
}

// restore returns the events of a reply with the client's own names in every call. It comes after
// all stages that look up tools, since they use the model's names. Mentions of a tool in the
// model's text keep the alias.
func (n *names) restore(in events) events {
	if n == nil {
		return in
	}
	return eachEvent(in, func(ev chat.Event) chat.Event {
		if ev.Kind == chat.CallStart {
			ev.Text = n.forClient(ev.Text)
		}
		return ev
	})
}

// trial records the result of a test: whether a model family can write a name. Results are cached
// under a key that contains the family's address in memory. A trial holds the family, so that the
// address is not used again for another family.
type trial struct {
	format *adapters.Format
	ok     bool
}

// carries reports whether a call of a tool with that name keeps its name when the job's family
// prints the call and parses it again. If the family loses even a plain name (controlName), this
// test is of no use, and carries returns true. The result is cached, since a test takes some ten
// microseconds and clients send the same names with every request.
func (t *target) carries(name string) bool {
	f := t.format
	return t.engine.carried.Get(fmt.Appendf(nil, "%p %s", f, name),
		func(string) trial { return trial{f, f.Carries(name) || !f.Carries(controlName)} }).ok
}
