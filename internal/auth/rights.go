package auth

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/internal/fault"
	"toolnorm/internal/pattern"
)

// Right is a set of operations that a caller may perform.
type Right uint8

// The rights. Each comment begins with the word for it in the setting.
const (
	Models     Right = 1 << iota // models: ask models
	Tools                        // tools: call tools
	MCPServers                   // mcp-servers: list, add and remove other MCP servers
	Library                      // manage-models: pull, create, copy and delete models
	Administer                   // administration: the console and all other rights

	// the rights of every admitted caller without a setting
	uses       = Models | Tools
	everything = uses | MCPServers | Library | Administer
)

// rightWords maps the words of the setting to rights.
var rightWords = map[string]Right{"models": Models, "tools": Tools, "mcp-servers": MCPServers,
	"manage-models": Library, "administration": everything}

// String returns the word that the settings have for a single right, such as "tools", or "unknown"
// for any other set of rights.
func (r Right) String() string {
	for word, right := range rightWords {
		if right == r || right == everything && r == Administer {
			return word
		}
	}
	return "unknown"
}

// grant is what the setting of rights allows one caller to do.
type grant struct {
	rights Right
	models []string // patterns of the models that may be asked; nil: all
}

// Rights maps callers to what they may do. A key of the map is the label of an API key, the sub of
// a JWT, or "local". It may also be "role:" followed by a role of a JWT, or "*" for all callers
// that are not named otherwise. If Rights is not empty and no key fits a caller, the caller may ask
// models and call tools, but change nothing.
type Rights map[string]grant

// ReadRights parses a setting that maps callers to their rights, separated by commas or blanks. The
// word models=PATTERN is the right to ask some models, and the word none gives no right. It returns
// nil without an error if the setting is empty, and fails if a word or the name of a caller is
// invalid.
func ReadRights(words map[string]string) (Rights, error) {
	if len(words) == 0 {
		return nil, nil
	}
	all := Rights{}
	for who, text := range words {
		if strings.TrimSpace(who) == "" || who == ofRole {
			return nil, fmt.Errorf(
				"%q names nobody; there are the label of a key, the sub of a JWT, role:NAME, local and *", who)
		}
		var g grant
		everyModel := false
		for _, word := range strings.FieldsFunc(text, func(c rune) bool {
			return c == ',' || c == ' '
		}) {
			name, models, some := strings.Cut(word, "=")
			right, ok := rightWords[name]
			switch {
			case word == "none":
				continue
			case !ok, some && (right != Models || models == ""):
				return nil, fmt.Errorf(
					"%s=%s: %q is no right; there are models, models=PATTERN, tools, mcp-servers, manage-models, administration and none", who, text, word)
			case some:
				g.models = append(g.models, models)
			default:
				everyModel = everyModel || right&Models != 0
			}
			g.rights |= right
		}
		if everyModel {
			g.models = nil
		}
		all[who] = g
	}
	return all, nil
}

// Settle sets the rights of a caller. Three kinds of caller keep all rights, so that no setting
// locks them out: the holder of an admin key, a JWT with the administrator's role, and, unless the
// setting names local, the user who runs the server on this machine.
func (r Rights) Settle(p *Principal) {
	if len(r) == 0 || p.chief {
		return
	}
	g, named := grant{}, false
	take := func(who string) {
		more, ok := r[who]
		if !ok {
			return
		}
		switch has, adds := g.rights&Models != 0, more.rights&Models != 0; {
		case has && adds && (g.models == nil || more.models == nil):
			g.models = nil
		case adds:
			g.models = append(slices.Clone(g.models), more.models...)
		}
		g.rights, named = g.rights|more.rights, true
	}
	// A token must not get a role, or the rights of "*", by the choice of its subject.
	if !strings.HasPrefix(p.Subject, ofRole) && p.Subject != everyone {
		take(p.Subject)
	}
	for _, role := range p.roles {
		take(ofRole + role)
	}
	if !named && p.Subject == local {
		return
	}
	if !named {
		take(everyone)
	}
	if !named {
		g.rights = uses
	}
	p.rights, p.models = g.rights, g.models
	if p.rights&Tools == 0 {
		p.Sets = []string{} // no tool, on any path
	}
}

// May reports whether a caller has all the given rights. A nil caller has none.
func (p *Principal) May(right Right) bool { return p != nil && p.rights&right == right }

// MayAsk reports whether a caller may ask a model that has these names; one allowed name is enough.
func (p *Principal) MayAsk(names ...string) bool {
	return p.May(Models) &&
		(p.models == nil || slices.ContainsFunc(p.models, func(allowed string) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				return pattern.Fits(allowed, name)
			})
		}))
}

// RefuseModel returns the error for a caller who may not ask a model.
func RefuseModel(p *Principal, name string) error {
	who := "nobody"
	if p != nil {
		who = p.Subject
	}
	f := fault.New(fault.Forbidden,
		"%s may not ask the model %q; GET /v1/models lists those that may be asked, and the setting rights says who may ask which", who, name)
	f.Code = "model_not_allowed"
	return f
}
