package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/agent"
	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/auth"
	"toolnorm/tools/kb"
)

// catalog lists the models of the engine together with those that the agent answers for, NAME@agent
// and kb/NAME.
type catalog struct {
	*engine.Engine
	loop     *agent.Loop
	suffixes []string
	may      func(ctx context.Context, model string) error
}

// May returns an error if the caller of ctx may not ask the model of this name.
func (c *catalog) May(ctx context.Context, model string) error { return c.may(ctx, model) }

// Models returns the models that the caller of ctx may ask. It returns an error if the engine
// cannot list its models.
func (c *catalog) Models(ctx context.Context) ([]chat.Info, error) {
	all, err := c.Engine.Models(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(c.loop.Listed(ctx, all, c.suffixes),
		func(i chat.Info) bool { return c.may(ctx, i.ID) != nil }), nil
}

// Plan returns how a model's replies are read. NAME@agent is read like NAME. For a knowledge base
// the plan has only the server and the model's name, since the model that answers is chosen only
// when it is asked.
func (c *catalog) Plan(model string) engine.Plan {
	if !c.loop.Answers(model) {
		return c.Engine.Plan(model)
	}
	if behind, ok := strings.CutSuffix(c.Real(model), agent.Suffix); ok {
		return c.Engine.Plan(behind)
	}
	return engine.Plan{Server: "toolnorm", Model: model}
}

// Server returns the transport of a model's server and the model's name there. The transport is nil
// for models that the agent answers for, since their requests cannot be passed on. It returns an
// error if the caller may not ask the model or the engine does not find its server.
func (c *catalog) Server(ctx context.Context, model string, request *fastjson.Value) (
	http.RoundTripper, string, error) {
	// requests that manage models name none
	if err := c.may(ctx, model); model != "" && err != nil {
		return nil, "", err
	}
	if c.loop.Answers(model) {
		return nil, model, nil
	}
	return c.Engine.Server(ctx, model, request)
}

// Describe returns the description of a model. If the agent answers for the model, it returns the
// description of the model that the agent asks. It returns an error if the caller may not ask the
// model, or if its server does not describe it.
func (c *catalog) Describe(ctx context.Context, model string, verbose bool) (
	json.RawMessage, error) {
	if err := c.may(ctx, model); err != nil {
		return nil, err
	}
	if c.loop.Answers(model) {
		behind, err := c.loop.Behind(ctx, model)
		if err != nil {
			return nil, err
		}
		model = behind
	}
	return c.Engine.Describe(ctx, model, verbose)
}

// Tags returns the models that the caller may ask, in the form of Ollama's /api/tags. It returns an
// error if the engine cannot list its models.
func (c *catalog) Tags(ctx context.Context) (json.RawMessage, error) {
	text, err := c.Engine.Tags(ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Models []json.RawMessage `json:"models"`
	}
	own, err := c.Engine.Models(ctx)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return text, err
	}
	for _, m := range c.loop.Listed(ctx, own, c.suffixes)[len(own):] {
		entry, err := engine.Tag(m)
		if err != nil {
			return nil, err
		}
		list.Models = append(list.Models, entry)
	}
	list.Models = slices.DeleteFunc(list.Models, func(entry json.RawMessage) bool {
		var m struct{ Name string }
		return json.Unmarshal(entry, &m) == nil && c.may(ctx, m.Name) != nil
	})
	return json.Marshal(list)
}

// bases implements agent.Bases with the program's knowledge bases.
type bases struct{ kb *kb.KB }

// newBases returns the knowledge bases, or nil if there is no store for them.
func newBases(k *kb.KB) agent.Bases {
	if k == nil || k.Store == nil {
		return nil
	}
	return bases{k}
}

// Bases returns the knowledge bases that the caller of ctx may see; none for an unknown caller or
// if they are switched off. It returns an error if the store cannot be read.
func (b bases) Bases(ctx context.Context) (all []agent.Base, err error) {
	if ok, err := b.kb.Wanted(ctx); err != nil || !ok || auth.PrincipalOf(ctx) == nil {
		return nil, err
	}
	list, err := b.kb.Store.Bases(ctx, auth.PrincipalOf(ctx))
	for _, base := range list {
		all = append(all, agent.Base{ID: base.ID, Name: base.Name})
	}
	return all, err
}

// Link returns the address of a passage on the server that the client has asked, or "" if the
// server's address is not known.
func (b bases) Link(ctx context.Context, base, document string, passage int) string {
	at, _ := ctx.Value(askedAt{}).(string)
	if at == "" {
		return ""
	}
	return at + kb.Paths + url.PathEscape(base) + "/" + url.PathEscape(document) + "/" +
		strconv.Itoa(passage)
}

// askedAt is the context key of the address to which a request was sent.
type askedAt struct{}

// withAddress returns a handler that stores this server's address in the request's context, for
// Link.
func withAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
			scheme = "https"
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), askedAt{}, scheme+"://"+
			r.Host)))
	})
}
