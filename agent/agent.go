package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/tools"
	"toolnorm/tools/find"
)

// Servers are the MCP servers whose tools a run may use. remote.Set implements it. The agent does
// not know how they are reached.
type Servers interface {
	// Names returns the names of the registered servers.
	Names() []string
	// Collect returns the tools of the named servers. The map has the servers that do not answer,
	// each with the reason. A server that is down must not affect the others, and must not cause an
	// error.
	Collect(ctx context.Context, names []string) (all []tools.Tool, down map[string]string)
	// Left closes the connections of a session (tools.Peer) that has ended.
	Left(session string)
}

// Config sets up a Loop. Model and Tools are required; the other fields may be zero. All bounds are
// on by default: a model that repeats itself would otherwise occupy its server, and block waiting
// requests, for ever.
type Config struct {
	Model chat.Model
	// runs every call; tools that belong to no MCP server are offered as local.NAME
	Tools   *tools.Registry
	Servers Servers // nil: there are none
	Queue   *Queue  // the queue for the model; nil: requests do not wait
	Log     zerolog.Logger

	Bases Bases // the knowledge bases that are models (kb/NAME); nil: none
	// the model that answers from these knowledge bases; empty: DefaultModel, or else the first
	// model that Catalog lists
	BaseModel string
	Catalog   chat.Catalog // the models that Model serves; nil: not known

	// finds tools by their meaning when there are too many to describe; nil: tools are found only
	// by their words
	Meanings *find.Meanings

	// when the user is asked before a call, one of the Consent constants; empty: never
	Consent string

	// Sample lets servers ask the model of a run while it calls their tools (sampling). If it is
	// false, no capability is declared to them, so that they do not ask.
	Sample bool

	DefaultModel string // answers requests that name none; empty: such requests are an error

	// returns an error for callers that may not use a model at Path; nil: all callers may use all
	// models
	May func(ctx context.Context, model string) error
	// The bounds. Each bound that ends a run has a Stop or an error of its own, so that the reason
	// is clear.
	Time time.Duration // time of a whole run; 0: 10 min, since a model may have to be loaded
	// time of one reply, without the wait in the queue; 0: four fifths of Time, but at least 8 min
	ModelTime time.Duration
	Tokens    int // tokens that one run may read and write; 0: 200,000
	// tokens that the descriptions of tools may take, counted as four bytes each; 0: 4,000
	ToolTokens  int
	Observation int           // bytes of a result that the model sees; 0: 16,384
	Beat        time.Duration // time between two keep-alives while a tool runs; 0: 8 s
}

// Loop is the agent. It implements http.Handler for Path, and chat.Model. It is safe for concurrent
// use.
type Loop struct{ cfg Config }

// New returns a Loop with defaults for what cfg leaves at zero. It starts no goroutines, and a Loop
// needs no Close, because each run belongs to its caller.
func New(cfg Config) *Loop {
	cfg.Time = cmp.Or(cfg.Time, 10*time.Minute)
	cfg.ModelTime = cmp.Or(cfg.ModelTime, max(8*time.Minute, cfg.Time*4/5))
	cfg.Tokens = cmp.Or(cfg.Tokens, 200_000)
	cfg.ToolTokens = cmp.Or(cfg.ToolTokens, 4000)
	cfg.Observation = cmp.Or(cfg.Observation, 16<<10)
	cfg.Beat = cmp.Or(cfg.Beat, 8*time.Second)
	return &Loop{cfg}
}

// Bounds of a run that no setting changes. Five steps are the specification's default; a caller may
// ask for up to 25.
const (
	defaultSteps = 5
	mostSteps    = 25
	mostCalls    = 8 // calls of one reply that are run
)

// Ask is the request for a run. Both the chat API and the JSON-RPC API at Path use it. The chat API
// leaves the fields at zero that its requests cannot express.
type Ask struct {
	Request chat.Request // without Tools, since a run has its own
	Servers []string     // nil: all, and this program's tools; empty: no tools
	Steps   int          // replies of the model; 0: 5, at most 25
	Force   string       // the tool that the first step must call; empty: the model chooses
	// the knowledge base that the question is about: only its tools are offered, and one of them is
	// called first
	Base    string
	Choose  bool     // the model chooses the tool of the first step in a separate question
	Results []string // texts of user turns that tools have written, according to the caller
	// at the last step the model is asked once more, for an answer without tools
	Closing bool
}

// Outcome is the result of a run. Every run that ends with a Stop has an Outcome, even after a
// failure, because the caller must be able to see which calls have run.
type Outcome struct {
	// the last reply, without white space around it; when a limit ended the run, it may be a raw
	// call
	Text    string
	Model   string // the model that was asked, without @agent
	Steps   int    // replies of the model
	Stop    Stop
	Calls   []Ran
	Consent *Wanted // the call that waits for the user; nil: no call waits
	// how the first tool was chosen: llm, rule, forced or none; empty: there was no separate choice
	Chosen   string
	Usage    chat.Counts   // tokens over all steps; 0 if the server counts none
	Waited   time.Duration // time in the queue
	Warnings []string      // for people: servers that were left out, a model that failed
}

// Ran is a call that was made or refused. OK is false if the tool is unknown, if the arguments do
// not fit, or if the tool failed. In each case the model has read the error message.
type Ran struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	OK        bool            `json:"ok"`
	Millis    int64           `json:"ms"`
}

// Stop is why a run ended. The values are part of the API (stop_reason), so they do not change.
type Stop string

// The reasons for the end of a run. Each run has exactly one.
const (
	Final         Stop = "final"          // the model has answered
	MaxIterations Stop = "max_iterations" // the model has not answered within its steps
	WallTime      Stop = "wall_time"      // the run's time is over
	RepeatedCall  Stop = "repeated_call"  // the model makes the same call over and over
	TokenBudget   Stop = "token_budget"   // the model has read and written as much as it may
	Escalated     Stop = "escalate"       // a tool has ended the step, and the model has answered
	Cut           Stop = "length"         // the model's reply was cut
	Empty         Stop = "empty_reply"    // the model's reply was empty, even when asked once more
	NeedsConsent  Stop = "consent"        // a call waits for the user's consent
	ModelError    Stop = "model_error"    // the model failed after at least one step
	Cancelled     Stop = "cancelled"      // the client has left
)

// Progress is one event of a run, reported as it happens. In the JSON-RPC API it becomes the params
// of a notifications/progress. Kind decides which members are set. The Millis of a queue event are
// the wait so far.
type Progress struct {
	Step      int             `json:"step"`
	Kind      string          `json:"type"` // queue, text, reasoning, call or result
	Text      string          `json:"text,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	OK        *bool           `json:"ok,omitempty"`
	Millis    int64           `json:"ms,omitempty"`
	Position  int             `json:"position,omitempty"` // in the queue; the next request has 1
}

// errTime is the cause of the context of a run whose time is over. It distinguishes such a run from
// one whose client has left.
var errTime = fault.New(fault.Timeout, "the agent's time is over")

// Run asks the model until it answers or a bound is reached. Unless tell is nil, Run calls it for
// each event, in order, from the calling goroutine. Run returns an error when there is nothing to
// show, because the request is wrong (fault.Invalid) or the model did not answer at all. A run
// whose model fails after a call returns an Outcome with ModelError, since the call cannot be taken
// back.
func (l *Loop) Run(ctx context.Context, a Ask, tell func(Progress)) (*Outcome, error) {
	// The limit on everything: the queue, the model and the tools. A tool has its own limit, and so
	// has the model's reply.
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.Time, errTime)
	defer cancel()
	if a.Request.Model = cmp.Or(a.Request.Model, l.cfg.DefaultModel); a.Request.Model == "" {
		return nil, fault.New(fault.Invalid,
			"model: name one; no setting says which answers otherwise")
	}
	// A number out of bounds is not an error: a caller that asks for 100 steps gets 25, and sees
	// how many were used.
	if a.Steps = cmp.Or(a.Steps, defaultSteps); a.Steps < 1 || a.Steps > mostSteps {
		a.Steps = min(max(a.Steps, 1), mostSteps)
	}
	if tell == nil {
		tell = func(Progress) {}
	}
	// The tools are collected before the model is asked, so a server that takes its five seconds
	// costs them once per run, not once per step.
	ts, warnings, err := l.collect(ctx, a.Servers)
	if a.Base != "" && err == nil {
		ts, err = l.knowledge(ctx)
	}
	if err != nil {
		return nil, err
	}
	// Otherwise the server would describe tools in its own form too, and the model would have two
	// contracts.
	a.Request.Tools = nil
	r := &run{loop: l, ask: a, tools: ts, speech: newContract(ts).described(l.cfg.ToolTokens),
		tell: tell, turns: a.Request.Messages, beats: func() func() { return func() {} }}
	r.out = Outcome{Model: a.Request.Model, Warnings: warnings}
	defer r.samples.leave(l)
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	r.allowed(ctx)
	if err := r.steps(ctx); err != nil {
		return nil, err
	}
	return &r.out, nil
}
