package dynamic

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"toolnorm/tools"
)

// Report says whether a draft of a tool is valid, which problems it has, and how models would see
// the tool. Set.Validate returns it.
type Report struct {
	Valid    bool      `json:"valid"`
	Problems []Problem `json:"problems"`
	// the definition in its stored form, if that differs from what was sent
	Definition string          `json:"definition,omitempty"`
	Tool       json.RawMessage `json:"tool,omitempty"` // as models would see it
	Tokens     int             `json:"tokens,omitempty"`
}

// Validate reports what is wrong with a draft and, if it is valid, how models would see it. It
// changes nothing.
func (s *Set) Validate(ctx context.Context, d Draft) Report {
	c, p := s.compile(ctx, d, true)
	s.nameTaken(&d, &p)
	r := Report{Valid: !p.errors(), Problems: append([]Problem{}, p...)}
	if c == nil {
		return r
	}
	if c.draft.Definition != d.Definition {
		r.Definition = c.draft.Definition
	}
	if shown, tokens, err := c.draft.offered(c.choicesOf(ctx)); err == nil {
		r.Tool, r.Tokens = shown, tokens
	}
	return r
}

// Trial is the outcome of a test run. Result is unchanged, so that the API can show it in the form
// in which its clients would get it.
type Trial struct {
	OK         bool          `json:"ok"`
	Problems   []Problem     `json:"problems"`
	Result     *tools.Result `json:"-"` // nil: nothing was run
	Millis     float64       `json:"duration_ms"`
	Rows       int           `json:"rows"`
	Truncated  bool          `json:"truncated"`
	Hit        []string      `json:"limits_hit"`
	Connection string        `json:"connection,omitempty"` // the connection that was queried
}

// Test runs a draft, which need not be saved. It uses a registry and a handler like those of a
// saved tool, so that the result is what models and clients would get. The call is logged as well.
// If the draft cannot be run, the Trial has only the draft's problems.
func (s *Set) Test(ctx context.Context, d Draft, args json.RawMessage) Trial {
	c, p := s.compile(ctx, d, true)
	out := Trial{Problems: append([]Problem{}, p...), Hit: []string{}}
	if c == nil {
		return out
	}
	out.Connection = c.connection
	alone := tools.New(tools.Options{Fit: s.config.Fit})
	if err := alone.Set(source, c.tool(s.config.Audit)); err != nil {
		p.wrong("name", "name", "%v", err)
		out.Problems = p
		return out
	}
	var noted atomic.Pointer[Run] // a call that is abandoned may still note something later
	res := alone.Call(context.WithValue(ctx, noteKey{}, &noted), c.draft.Name, args)
	note := noted.Load()
	if note == nil {
		note = &Run{}
	}
	out.OK, out.Result, out.Millis, out.Rows, out.Truncated = !res.IsError, &res, note.Millis,
		note.Rows, note.Truncated
	out.Hit = append(out.Hit, note.Hit...)
	switch {
	case note.problem != nil:
		out.Problems = append(out.Problems, *note.problem)
	case res.IsError: // the arguments, or a result that is too large
		out.Problems = append(out.Problems, Problem{Severity: "error", Field: "arguments",
			Rule: "arguments", Message: res.Text()})
	}
	return out
}
