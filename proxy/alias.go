package proxy

import (
	"net/http"
	"slices"
	"strings"

	"toolnorm/chat"
)

// AliasPrefix is a prefix of model names that makes Void use native tool calls. Void recognizes
// models by words in their names, and "grok" is one of the first words that it looks for. A model
// with this word gets native tools, a system role and a window of 131,072 tokens from Void. The
// word "4o" has the same effect, but Void looks for the names of model families before it.
const AliasPrefix = "grok-local-"

// The values of Config.VoidAliases, which say when aliases are listed.
const (
	AliasesAuto   = "auto"   // for clients that use the same libraries as Void
	AliasesAlways = "always" // for every client
	AliasesNever  = "never"  // never, but they can be asked for all the same
)

// voidAgents are prefixes of the User-Agent headers that Void sends, which are the versions of the
// SDKs in Void 1.4.9. Other programs with the same versions see aliases as well, which does them no
// harm.
var voidAgents = []string{"OpenAI/JS 4.96.0", "ollama-js/0.5.15"}

// isAlias reports whether a model name begins with AliasPrefix, and so is a second name that this
// program has made for the editor Void.
func isAlias(model string) bool { return strings.HasPrefix(model, AliasPrefix) }

// aliasOf returns the second name of a model, which is AliasPrefix and its name, or "" if it has
// none. A model with "gemini" or "claude" in its name has none, because the editor Void looks for
// these words before "grok". A second name itself has none either. The demo's models get none,
// because they are too many to list, but a client can ask for grok-local-demo/hermes all the same.
func aliasOf(model string) string {
	lower := strings.ToLower(model)
	if strings.Contains(lower, "gemini") || strings.Contains(lower, "claude") ||
		strings.HasPrefix(lower, "demo/") || isAlias(model) {
		return ""
	}
	return AliasPrefix + model
}

// listsAliases reports whether the list of models also has the second names (see AliasPrefix) for
// the client of a request. Clients can ask for a model by such a name even if it is not listed.
func (s *Server) listsAliases(r *http.Request) bool {
	switch s.cfg.VoidAliases {
	case AliasesAlways:
		return true
	case AliasesNever:
		return false
	}
	return slices.ContainsFunc(voidAgents, func(agent string) bool {
		return strings.HasPrefix(r.UserAgent(), agent)
	})
}

// withAliases returns the models, followed by the same models under the second names that aliasOf
// returns. The real names come first, so that a client that takes the first one gets a real one.
func withAliases(infos []chat.Info) []chat.Info {
	all := infos[:len(infos):len(infos)]
	for _, i := range infos {
		if i.ID = aliasOf(i.ID); i.ID != "" {
			all = append(all, i)
		}
	}
	return all
}

// aliasesFor returns a function from a model's name to the second name, such as
// grok-local-qwen3:8b, under which the model is also listed. It returns nil if the client of this
// request gets no such names.
func (s *Server) aliasesFor(r *http.Request) func(model string) string {
	if s.listsAliases(r) {
		return aliasOf
	}
	return nil
}
