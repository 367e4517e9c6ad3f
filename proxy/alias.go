package proxy

import (
	"net/http"
	"strings"

	"toolnorm/chat"
)

// AliasPrefix is put before a model's name so that Void takes the model for one with native tool
// calls: Void knows models by words in their names, and "grok" is one of the first words that it
// looks for. Such a model gets native tools, a system role and a window of 131,072 tokens from
// Void. "4o" is the other word with that effect, but names of model families would win over it.
const AliasPrefix = "grok-local-"

// The values of Config.VoidAliases: when aliases are listed.
const (
	AliasesAuto   = "auto"   // to clients that carry the libraries of Void
	AliasesAlways = "always" // to everyone
	AliasesNever  = "never"  // they can be asked all the same
)

// voidAgents are the beginnings of the User-Agent headers that Void sends: the versions of the SDKs
// that Void 1.4.9 contains. Other programs with the same versions see aliases as well, which does
// them no harm.
var voidAgents = []string{"OpenAI/JS 4.96.0", "ollama-js/0.5.15"}

// isAlias reports whether a client asked for a model by an alias.
func isAlias(model string) bool { return strings.HasPrefix(model, AliasPrefix) }

// aliasOf returns the alias of a model, empty where it would not help: Void looks for two other
// words before the prefix's "grok". The aliases of the demo's many models are not listed, but they
// can be asked for all the same: grok-local-demo/hermes works.
func aliasOf(model string) string {
	lower := strings.ToLower(model)
	if strings.Contains(lower, "gemini") || strings.Contains(lower, "claude") ||
		strings.HasPrefix(lower, "demo/") || isAlias(model) {
		return ""
	}
	return AliasPrefix + model
}

// listsAliases reports whether aliases are listed for this client. Every client can ask for them.
func (s *Server) listsAliases(r *http.Request) bool {
	switch s.cfg.VoidAliases {
	case AliasesAlways:
		return true
	case AliasesNever:
		return false
	}
	for _, agent := range voidAgents {
		if strings.HasPrefix(r.UserAgent(), agent) {
			return true
		}
	}
	return false
}

// withAliases returns the models followed by their aliases.
// The models' own names come first, so that a client that takes the first one gets no alias.
func withAliases(infos []chat.Info) []chat.Info {
	all := infos[:len(infos):len(infos)]
	for _, i := range infos {
		if i.ID = aliasOf(i.ID); i.ID != "" {
			all = append(all, i)
		}
	}
	return all
}

// aliasesFor returns the function that returns a model's alias, or nil if aliases are not listed
// for the client.
func (s *Server) aliasesFor(r *http.Request) func(model string) string {
	if s.listsAliases(r) {
		return aliasOf
	}
	return nil
}
