package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/upstream"
	"toolnorm/engine/valid"
	"toolnorm/internal/fault"
)

// sayable returns an error for a request that cannot be sent to any server, because the arguments
// of an earlier call are not a JSON object, or a number cannot be written as JSON. A request that
// came over HTTP has neither fault. The check is for programs that build their requests themselves,
// and the code that writes requests to the servers relies on it.
func sayable(r *chat.Request) error {
	for i, m := range r.Messages {
		for n, c := range m.Calls {
			args := bytes.TrimSpace(c.Args)
			if len(args) > 0 && (args[0] != '{' || !json.Valid(args)) {
				at := fmt.Sprintf("messages[%d].tool_calls[%d].function.arguments", i, n)
				return fault.Wrong(at, "%s must be one JSON object", at)
			}
		}
	}
	for name, value := range upstream.Sampling(r) {
		if _, err := json.Marshal(value); err != nil {
			return &fault.Error{Kind: fault.Invalid, Param: name, Message: name + " is no number",
				Cause: err}
		}
	}
	return nil
}

// affordable returns an error for a request whose schemas are larger than the limit. It is called
// before any code processes them. An allOf of 300,000 empty schemas once occupied a core for 14
// minutes, even after its client had left. Ignoring such a schema is not enough: its megabytes
// would still be sent to a model that has no room for them, and calls would not be checked.
func affordable(r *chat.Request) error {
	var form json.RawMessage
	if r.Format != nil && r.Format[0] == '{' {
		form = r.Format
	}
	err := schema.Affordable(r.Tools, form)
	if excess, ok := errors.AsType[*schema.Excess](err); ok {
		return &fault.Error{Kind: fault.Invalid, Param: excess.Param, Code: schema.ExcessCode,
			Message: excess.Param + ": " + excess.Error(), Cause: err}
	}
	return err
}

// checkSupported returns the job. It returns an error instead if the request has pictures and its
// model takes none. The error's field Param names the message with the picture. A server would drop
// the pictures silently, and the model would answer as if there were none. If it is not known
// whether the model takes pictures, the request is accepted.
func (j *job) checkSupported(context.Context) (*job, error) {
	if !j.facts.NoVision {
		return j, nil
	}
	for i, m := range j.request.Messages {
		if len(m.Images) > 0 {
			return nil, fault.Wrong(fmt.Sprintf("messages[%d].content", i),
				"the model %s cannot see images", j.name)
		}
	}
	return j, nil
}

// rules returns the validator of a tool's arguments. The parameter called is the client's name of
// the tool. If the schema cannot be used, it returns a validator that accepts any object, because a
// client cannot correct the schemas of its tool servers. In that case it tells the client that
// calls are not checked, and logs a warning once per schema.
func (t *target) rules(tool chat.Tool, called string) *valid.Validator {
	e := t.engine
	v, err := e.schemas.Tool(tool)
	if err == nil {
		return v
	}
	t.tell(noteUnchecked, fmt.Sprintf("calls of %.64s are not checked: %s", called, err))
	log := e.cfg.Log.Debug()
	e.odd.Get(tool.Schema, func(string) struct{} {
		log = e.cfg.Log.Warn() // once per schema: a conversation sends it with every turn
		return struct{}{}
	})
	log.Err(err).Str("tool", called).Msg("the tool's calls are not checked")
	v, _ = e.schemas.Get(nil)
	return v
}

// foreignModels lists the models of other makers that agents ask for when no model is configured,
// each with the pattern that covers all models of the same kind. For example, Claude Code asks for
// claude-opus-5-5 and also for claude-haiku-…, Codex for gpt-5.5-codex.
var foreignModels = []struct{ begins, pattern string }{
	{"claude-", "claude-*"}, {"gpt-5", "gpt-5*"}, {"gpt-4", "gpt-4*"}, {"codex-", "codex-*"},
	{"gemini-", "gemini-*"},
}

// mostNamed is how many models an error names.
const mostNamed = 5

// advised returns err with advice added to its message if err means that the server has no such
// model. Agents ask for models of their makers by default, and "not found" alone makes their users
// look for an account. Other errors are returned unchanged.
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
	for _, b := range foreignModels {
		if strings.HasPrefix(model, b.begins) {
			told.Message += fmt.Sprintf(
				"; to have a model of yours answer for it, set --alias '%s=MODEL'", b.pattern)
			return &told
		}
	}
	if _, pulls := s.backend.(native); (pulls || s.pool != nil && s.name == firstName) &&
		s.name != demoName {
		told.Message += fmt.Sprintf("; \"ollama pull %s\" gets it", name)
	}
	return &told
}

// named returns the names of a server's first models as a list for an error message. It returns ""
// if the server does not list its models.
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
