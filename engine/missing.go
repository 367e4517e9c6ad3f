package engine

import (
	"context"
	"fmt"
	"strings"

	"toolnorm/engine/ollama"
	"toolnorm/internal/fault"
)

// borrowed are the models of others that agents ask for when nobody tells them which, and the pattern for all of a kind:
// Claude Code asks for claude-opus-5-5, and for claude-haiku-… beside it, Codex for gpt-5.5-codex.
var borrowed = []struct{ begins, pattern string }{
	{"claude-", "claude-*"}, {"gpt-5", "gpt-5*"}, {"gpt-4", "gpt-4*"}, {"codex-", "codex-*"}, {"gemini-", "gemini-*"},
}

// mostNamed is how many models an error names.
const mostNamed = 5

// advised is the error of a request, and, where the server has no such model, what to do: agents ask for models of their makers by
// default, and "not found" alone sends their users looking for an account.
func (e *Engine) advised(ctx context.Context, err error, model string) error {
	f := fault.From(err)
	if f.Kind != fault.NotFound || f.Param != "model" {
		return err
	}
	told := *f
	s, name := e.place(model)
	if has := e.named(ctx, s); has != "" {
		told.Message += "; " + s.name + " has " + has
	}
	for _, b := range borrowed {
		if strings.HasPrefix(model, b.begins) {
			told.Message += fmt.Sprintf("; to have a model of yours answer for it, set --alias '%s=MODEL'", b.pattern)
			return &told
		}
	}
	if _, isOllama := s.backend.(*ollama.Backend); isOllama && s.name != demoName {
		told.Message += fmt.Sprintf("; \"ollama pull %s\" gets it", name)
	}
	return &told
}

// named are the models that a server has, for a sentence; empty: it does not say.
func (e *Engine) named(ctx context.Context, s *server) string {
	list, err := s.list(ctx)
	if err != nil {
		return ""
	}
	var names []string
	for _, m := range list[:min(mostNamed, len(list))] {
		if s != e.servers[0] {
			m.ID = s.name + "/" + m.ID
		}
		names = append(names, m.ID)
	}
	text := strings.Join(names, ", ")
	if more := len(list) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
