package proxy

import (
	"net/http"
	"strings"

	"toolnorm/chat"
)

// AliasPrefix in front of a model's name makes a name that Void takes for a model with tool calls
// of its own: it knows models by words in their names, and "grok" is one of the first that it looks
// for. Such a model gets native tools, a system role and a window of 131,072 tokens from Void.
// Family names would win over "4o", the other word with that effect, so "grok" it is.
const AliasPrefix = "grok-local-"

// When aliases are listed.
const (
	AliasesAuto   = "auto"   // to clients that carry the libraries of Void
	AliasesAlways = "always" // to everyone
	AliasesNever  = "never"  // they can be asked all the same
)

// voidAgents begin the names of the libraries by which Void asks. They are the versions of the SDKs
// that Void 1.4.9 carries; other programs with the same ones see aliases as well, which does them
// no harm.
var voidAgents = []string{"OpenAI/JS 4.96.0", "ollama-js/0.5.15"}

// isAlias reports whether a client asked for a model by such a name.
func isAlias(model string) bool { return strings.HasPrefix(model, AliasPrefix) }

// aliasOf returns the alias of a model, empty where it would not help: Void looks for two words
// before that of the prefix. The demo's many models have aliases that are not listed. They are
// asked for by name all the same: grok-local-demo/hermes works.
func aliasOf(model string) string {
	lower := strings.ToLower(model)
	if strings.Contains(lower, "gemini") || strings.Contains(lower, "claude") || strings.HasPrefix(lower, "demo/") || isAlias(model) {
		return ""
	}
	return AliasPrefix + model
}

// listsAliases reports whether this client is shown them.
// Aliases can be asked for whoever lists them.
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

// withAliases adds the aliases of models behind them.
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

// aliasesFor returns what gives models their alias for a client that is shown them, else nil.
func (s *Server) aliasesFor(r *http.Request) func(model string) string {
	if s.listsAliases(r) {
		return aliasOf
	}
	return nil
}
