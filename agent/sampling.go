package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/tools"
)

// Bounds of what MCP servers may ask the model of a run. The run's own time and tokens are further
// bounds.
const (
	mostSampled   = 20        // questions in one run
	longestSample = 256 << 10 // bytes of one question
)

// Codes of JSON-RPC and of MCP for questions that are not answered.
const (
	noSuchMethod  = -32601
	wrongParams   = -32602
	noAnswer      = -32603
	sampleRefused = -1
)

// sampler answers the questions of a server (sampling/createMessage) with the model of the run,
// while the run waits for a call of the server's tool. Each question arrives in a goroutine of its
// own.
type sampler struct {
	loop  *Loop
	model string
	tool  string
	ctx   context.Context // the context of the call, so that no answer outlives it

	mu     sync.Mutex
	tokens int // tokens that may still be used
	left   int // questions that may still be asked
	used   chat.Counts
}

// samples limits and counts the questions (sampling) that MCP servers ask the model in one run.
type samples struct {
	session string // the session by which servers know the run; empty: no server may ask yet
	count   int    // questions that were answered
}

// answering returns the context for a call of a tool. If Config.Sample allows it, the tool's server
// may ask the model of the run under this context. The caller must call done after the call.
//
// The server gets a separate connection for the run, because questions of servers name no request.
// On a shared connection a question could be answered by another user's model.
func (q *samples) answering(ctx context.Context, r *run, name string) (
	_ context.Context, done func()) {
	t := r.tools.byName[name]
	server, _, of := strings.Cut(t.Name, ".")
	if !r.loop.cfg.Sample || r.loop.cfg.Servers == nil || !of || server == local {
		return ctx, func() {}
	}
	if q.session == "" {
		q.session = "agent-" + rand.Text()
	}
	ctx, end := context.WithCancel(ctx)
	spent := r.out.Usage.Prompt + r.out.Usage.Completion
	s := &sampler{loop: r.loop, model: r.ask.Request.Model, tool: t.Name, ctx: ctx,
		tokens: r.loop.cfg.Tokens - spent, left: mostSampled - q.count}
	before := s.left
	ctx = tools.WithPeer(ctx, &tools.Peer{
		Session: q.session, Ask: s.ask,
		Client: json.RawMessage(`{"name":"toolnorm","version":"1"}`), Can: json.RawMessage(
			`{"sampling":{}}`),
		// With a progress token, progress restarts the time limit of the call.
		Params: json.RawMessage(`{"_meta":{"progressToken":0}}`),
	})
	return ctx, func() {
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		q.count += before - s.left
		r.out.Usage = r.out.Usage.Plus(s.used)
	}
}

// leave closes the connections to MCP servers on which these could ask the model questions in this
// run.
func (q *samples) leave(l *Loop) {
	if q.session != "" {
		l.cfg.Servers.Left(q.session)
	}
}

// ask answers a question that an MCP server asks the model during a call. It returns a
// tools.RPCError if the method is unknown, the parameters are wrong, the run answers no more
// questions, or the model fails.
func (s *sampler) ask(asking context.Context, method string,
	params json.RawMessage) (json.RawMessage, error) {
	if method != "sampling/createMessage" {
		return nil, &tools.RPCError{Code: noSuchMethod,
			Message: "the agent does not answer " + method}
	}
	request, err := readSample(params)
	if err != nil {
		return nil, &tools.RPCError{Code: wrongParams, Message: err.Error()}
	}
	request.Model = s.model
	s.mu.Lock()
	refused := s.left <= 0 || s.tokens <= 0
	if !refused {
		s.left--
	}
	s.mu.Unlock()
	if refused {
		return nil, &tools.RPCError{Code: sampleRefused, Message: fmt.Sprintf(
			"this run answers no more questions: at most %d, within its tokens", mostSampled)}
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.loop.cfg.ModelTime, errTime)
	defer cancel()
	// A question that is taken back needs no answer. A question that has only timed out is still
	// answered: the protocol library limits each to 30 s.
	takenBack := func() {
		if errors.Is(asking.Err(), context.Canceled) {
			cancel()
		}
	}
	takenBack()
	defer context.AfterFunc(asking, takenBack)()
	got, err := s.answer(ctx, request)
	if err != nil && ctx.Err() != nil {
		err = fault.New(fault.Canceled,
			"the call is over, its time is, or the question was taken back")
	}
	if err != nil {
		return nil, &tools.RPCError{Code: noAnswer,
			Message: "the model has not answered: " + fault.From(err).Message}
	}
	why := "endTurn"
	if got.End.Text == chat.Length {
		why = "maxTokens"
	}
	return chat.JSON(map[string]any{
		"role":    "assistant",
		"content": map[string]string{"type": "text", "text": got.Text.String()}, "model": s.model,
		"stopReason": why,
	})
}

// answer asks the model, and returns its reply. Before that, it waits in the queue for the model's
// server. It returns an error if the queue is full, ctx ends, the model fails, or the reply breaks
// off.
func (s *sampler) answer(ctx context.Context, request *chat.Request) (*chat.Collector, error) {
	if q := s.loop.cfg.Queue; q != nil {
		leave, _, err := q.Enter(ctx, s.model, true, func(int, time.Duration) {})
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	got := &chat.Collector{}
	for e, err := range s.loop.cfg.Model.Stream(ctx, request) {
		if err != nil {
			return nil, err
		}
		got.Add(e)
	}
	if got.End == nil {
		return nil, fault.New(fault.Unavailable, "its reply has no end")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.used.Plus(got.Usage)
	s.tokens -= got.Usage.Prompt + got.Usage.Completion
	s.loop.cfg.Log.Info().Str("tool", s.tool).
		Int("tokens", got.Usage.Prompt+got.Usage.Completion).
		Msg("the model has answered a question of an MCP server")
	return got, nil
}

// readSample returns the request for a question with these parameters. Its texts come from a
// server, so special tokens in them are broken as in results (see harmless). The question has a
// conversation of its own, and sees nothing of the run's. It returns an error if the question is
// too large, cannot be parsed, asks for tools, or contains anything but text.
func readSample(params json.RawMessage) (*chat.Request, error) {
	var p struct {
		Messages []struct {
			Role    chat.Role       `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		System      string            `json:"systemPrompt"`
		Most        int               `json:"maxTokens"`
		Temperature *float64          `json:"temperature"`
		Stop        []string          `json:"stopSequences"`
		Tools       []json.RawMessage `json:"tools"`
	}
	switch {
	case len(params) > longestSample:
		return nil, fmt.Errorf("the question has more than %d bytes", longestSample)
	case json.Unmarshal(params, &p) != nil:
		return nil, errors.New("the question cannot be read")
	case len(p.Messages) == 0:
		return nil, errors.New("messages: there is none")
	case len(p.Tools) > 0:
		return nil, errors.New("tools: the model is asked without tools, as the capabilities say")
	}
	r := &chat.Request{MaxTokens: max(p.Most, 0), Stop: p.Stop,
		Sampling: chat.Sampling{Temperature: p.Temperature}}
	if p.System != "" {
		r.Messages = append(r.Messages,
			chat.Message{Role: chat.System, Content: harmless(p.System)})
	}
	for i, m := range p.Messages {
		text, err := sampleText(m.Content)
		if err == nil && m.Role != chat.User && m.Role != chat.Assistant {
			err = fmt.Errorf("the role is %.20q, not user or assistant", m.Role)
		}
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		r.Messages = append(r.Messages, chat.Message{Role: m.Role, Content: harmless(text)})
	}
	return r, nil
}

// sampleText returns the text of a message, which is one part or a list of parts. It returns an
// error for parts that are not text.
func sampleText(content json.RawMessage) (string, error) {
	type part struct{ Type, Text string }
	var all []part
	if json.Unmarshal(content, &all) != nil {
		all = make([]part, 1)
		if json.Unmarshal(content, &all[0]) != nil {
			return "", errors.New("the content is no part and no list of parts")
		}
	}
	var texts []string
	for _, p := range all {
		if p.Type != "text" {
			return "", fmt.Errorf("the content is %.20q, and only text can be asked about", p.Type)
		}
		texts = append(texts, p.Text)
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD"), nil
}
