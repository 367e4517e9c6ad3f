package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/pattern"
)

// describeTools returns a copy of r for a model that was never taught to call. Its tools are
// described before the system text. Calls of earlier turns are written as text in the format of f,
// and results come from the user, as the model's family shows them. The prompt grows at its end
// only, so the server's prompt cache stays valid from turn to turn. A change at the beginning costs
// reading the whole prompt again, 8 to 11 s on a CPU, but an appended turn less than one second.
func describeTools(r *chat.Request, f *adapters.Format, w adapters.Wording) *chat.Request {
	c := *r
	c.Tools, c.Messages = nil, make([]chat.Message, 0, len(r.Messages)+1)
	rest := r.Messages
	text := f.Prompt(r.Tools, w)
	// earlier calls are shown in the form that the prompt asks for, not in the family's own
	f = f.Asked(w)
	if len(rest) > 0 && rest[0].Role == chat.System {
		text = strings.TrimPrefix(text+"\n\n"+rest[0].Content, "\n\n")
		rest = rest[1:]
	}
	if text != "" {
		c.Messages = append(c.Messages, chat.Message{Role: chat.System, Content: text})
	}
	h := retold{f: f, calls: map[string]chat.Call{}}
	for len(rest) > 0 {
		n := 0
		for n < len(rest) && rest[n].Role == chat.ToolRole {
			n++
		}
		if n == 0 {
			c.Messages = append(c.Messages, h.turn(rest[0]))
		} else {
			// the results of one turn become one message: some templates refuse two of a role in a
			// row
			c.Messages = append(c.Messages,
				chat.Message{Role: chat.User, Content: h.results(rest[:n])})
		}
		rest = rest[max(n, 1):]
	}
	return &c
}

// retold writes the calls and results of a conversation as text in the format of a model family.
// Some families number the calls through the whole conversation. So a retold must be given every
// turn, from the first one on.
type retold struct {
	f     *adapters.Format
	n     int                  // number of calls so far
	calls map[string]chat.Call // calls as the family numbers them, by the client's id
}

// turn returns m with its calls written as text. A template without tools prints only the text of a
// message, so the calls would be lost otherwise.
func (h *retold) turn(m chat.Message) chat.Message {
	if len(m.Calls) == 0 {
		return m
	}
	calls := h.f.Number(h.n, m.Calls)
	for i, c := range m.Calls {
		h.calls[c.ID] = calls[i]
	}
	h.n += len(calls)
	m.Content, m.Calls = string(h.f.Append([]byte(m.Content), calls...)), nil
	return m
}

// results returns the results of tools as text, in the form that the model's family declares for
// them. If the family declares none, each result comes after a line that names its tool, because
// one message may have several results, and nothing else distinguishes them.
//
// In the form of Hermes: <tool_response>\nsunny\n</tool_response>. For a family that declares no
// form: Result of get_weather:\nsunny.
func (h *retold) results(ms []chat.Message) string {
	calls, texts, plain := make([]chat.Call, len(ms)), make([]string, len(ms)),
		make([]string, len(ms))
	for i, m := range ms {
		calls[i] = h.calls[m.CallID]
		if m.Name != "" {
			calls[i].Name = m.Name
		}
		texts[i], plain[i] = m.Content, fmt.Sprintf("Result of %s:\n%s", calls[i].Name, m.Content)
	}
	if h.f.Results() {
		return string(h.f.AppendResults(nil, calls, texts))
	}
	return strings.Join(plain, "\n")
}

const (
	// wordingTime is the time limit for probing all wordings. The client's request waits for the
	// probe, once per model. On a machine without a GPU the time may be over before the last
	// wording was tried, and then the family's own wording is used.
	wordingTime = 40 * time.Second
	// wordingTokens is how long each reply to the probe may be. The expected call needs about 30
	// tokens, so a model that writes more than four times as many only talks about calling.
	wordingTokens = 120
)

// wordings are in the order in which they are tried. The wording with which a small model was right
// most often comes first (docs/evidence/models.md).
var wordings = []adapters.Wording{
	adapters.Signatures | adapters.Example, adapters.Schemas | adapters.Example,
	adapters.Signatures, adapters.Schemas,
}

// wordingOf returns the wording in which tools are described to the job's model, such as JSON
// schemas or Python signatures. The settings decide first, then the model's family, then what an
// earlier request has found out. If none of them says anything, the model is asked now, with a few
// test questions. Nothing is learned if the questions end because the client leaves.
func (j *job) wordingOf(ctx context.Context) adapters.Wording {
	if s, ok := pattern.Find(j.engine.cfg.Wording, j.name); ok {
		w, _ := adapters.ParseWording(s) // a wording that Validate refuses is ignored
		return w
	}
	if w := j.format.Wording(); w != 0 || j.engine.cfg.NoProbe || len(j.request.Tools) == 0 {
		return w
	}
	if w := j.known().wording; w != nil {
		return *w
	}
	w, err := j.server.memory.wordings.do(ctx, j.pulse, wanted{model: j.model, by: j.facts.Digest},
		func() (adapters.Wording, error) { return j.probeWording(ctx, j.understands), nil })
	if err == nil && ctx.Err() == nil {
		j.learn(func(l *lessons) { l.wording = &w })
	}
	return w
}

// probeWording tries the wordings in which tools can be described to a model. It returns the first
// one in which the model makes the call that it is asked for, or 0 if there is none, or if the time
// is over. The probe is worth up to four generations, because the same small model called correctly
// in 23 to 30 of 30 prompts, depending on the wording (docs/evidence/models.md). If the model
// understands no wording, the log says so.
func (t *target) probeWording(ctx context.Context,
	understands func(context.Context, adapters.Wording) bool) adapters.Wording {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, wordingTime)
	defer cancel()
	log := t.engine.cfg.Log.Info().Str("model", t.model)
	for _, w := range wordings {
		if understands(ctx, w) {
			log.Stringer("wording", w).Dur("took_ms", time.Since(began)).Msg(
				"the model understands tools in this wording")
			return w
		}
	}
	log.Dur("took_ms", time.Since(began)).Msg(
		"the model understands tools in no wording that was tried")
	return 0
}

// probeTools and probeAsk are made so that exactly one answer is right. The second tool must not be
// called, because a model that calls every tool it sees has understood nothing.
var probeTools = []chat.Tool{
	{Name: "get_weather", Description: "Get the weather forecast for a city",
		Schema: json.RawMessage(
			`{"type":"object","required":["city","days"],"properties":{"city":{"type":"string","description":"name of the city"},"days":{"type":"integer","description":"number of days"}}}`)},
	{Name: "send_mail", Description: "Send an e-mail", Schema: json.RawMessage(
		`{"type":"object","required":["to"],"properties":{"to":{"type":"string","description":"address"}}}`)},
}

// probeAsk is the user's message of the probe.
const probeAsk = "Get the weather forecast for Paris for 3 days."

// understands reports whether the model makes the right call when tools are described in the
// wording w. The reply passes through the same stages as one to a client, because the client must
// get the right call. If the strategy fails, no other one is tried. Two calls are as wrong as none.
func (j *job) understands(ctx context.Context, w adapters.Wording) bool {
	cold := 0.0
	p := j.aside(limitTokens(&chat.Request{
		Model: j.request.Model, Messages: []chat.Message{{Role: chat.User, Content: probeAsk}},
		Tools:    probeTools,
		Sampling: chat.Sampling{Temperature: &cold}, Options: j.request.Options,
		Keep: j.request.Keep,
	}, wordingTokens))
	p.wording = w
	var reply chat.Collector
	_, events := p.reply(ctx)
	for ev, err := range events {
		if err != nil || ev.Kind == chat.CallStart && len(reply.Calls) > 0 {
			return false
		}
		reply.Add(ev)
	}
	var got struct {
		City string
		Days int
	}
	return len(reply.Calls) == 1 && reply.Calls[0].Name == probeTools[0].Name &&
		json.Unmarshal(reply.Calls[0].Args, &got) == nil && got.City == "Paris" && got.Days == 3
}
