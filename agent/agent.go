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
)

// Servers are the MCP servers whose tools a run may use; remote.Set is one. The agent knows nothing
// of how they are reached.
type Servers interface {
	// Names are the servers that are registered.
	Names() []string
	// Collect gives the tools of servers, and says which do not answer, with why.
	// A server that is down must cost the others nothing, and must not make this an error.
	Collect(ctx context.Context, names []string) (all []tools.Tool, down map[string]string)
}

// Config sets up a Loop. Model and Tools are needed; the zero value of the rest will do. All bounds
// are on by default: a model that goes round in circles would else hold its server, and whoever
// waits for it, for ever.
type Config struct {
	Model   chat.Model
	Tools   *tools.Registry // runs every call; what of it belongs to no server is offered as local.NAME
	Servers Servers         // nil: there are none
	Queue   *Queue          // in front of the model; nil: nobody waits
	Log     zerolog.Logger

	Bases     Bases        // the knowledge bases that are models (kb/NAME); nil: none
	BaseModel string       // that answers from them; empty: DefaultModel, else the first that Catalog lists
	Catalog   chat.Catalog // the models behind Model; nil: not known

	Embed Embed // finds tools by what they mean, where they are too many to describe; nil: by their words alone

	Consent string // when the user is asked in front of a call, one of ConsentNever and its neighbours; empty: never

	DefaultModel string // answers requests that name none; empty: such requests are an error

	May func(ctx context.Context, model string) error // refuses who may not ask a model at Path; nil: all may
	// The bounds. Each that ends a run has a Stop or an error of its own, so that nobody has to
	// guess which one it was.
	Time        time.Duration // of a whole run; 0: 10 min, since a model may have to be loaded
	ModelTime   time.Duration // of one reply, its place in the queue not counted; 0: four fifths of Time, but at least 8 min
	Tokens      int           // read and written in one run; 0: 200,000
	ToolTokens  int           // that the descriptions of tools may take, at four bytes each; 0: 4,000
	Observation int           // bytes of a result that the model is told; 0: 16,384
	Beat        time.Duration // between two keep-alives while a tool runs; 0: 8 s
}

// Loop is the agent: an http.Handler for Path, and a chat.Model. It may be used by many at once.
type Loop struct{ cfg Config }

// New makes a Loop. It starts nothing and needs no Close: each run is its caller's.
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
	mostCalls    = 8 // of one reply
)

// Ask is what a run is asked. It is the same for both ways in; what a chat request cannot say stays
// at its zero value.
type Ask struct {
	Request chat.Request // Tools are left out of it: a run has its own
	Servers []string     // nil: all, and the tools of this program; none: no tools at all
	Steps   int          // replies of the model; 0: 5, at most 25
	Force   string       // the tool that the first step calls; empty: the model chooses
	Base    string       // the knowledge base that the question is about: its tools alone are offered, one is called first
	Choose  bool         // the tool of the first step is chosen by a question of its own
	Results []string     // texts of the user's turns that tools have written, as the caller says
	Closing bool         // at the last step the model is asked once more, for an answer without tools
}

// Outcome is what came of a run. It is there for every end with a name, also a bad one: what ran
// has run, and the caller must be able to see it.
type Outcome struct {
	Text     string // the last reply, without white space around it; at a limit it may be a raw call
	Model    string // that was asked, without @agent
	Steps    int    // replies of the model
	Stop     Stop
	Calls    []Ran
	Consent  *Wanted       // the call that waits for the user; nil: none does
	Chosen   string        // how the first tool was chosen: llm, rule, forced or none; empty: by no question of its own
	Usage    chat.Counts   // tokens over all steps; 0 where the server counts none
	Waited   time.Duration // in the queue
	Warnings []string      // for people: servers that were left out, a model that failed
}

// Ran is a call that was made, or refused: OK is false for a tool that is unknown, arguments that
// do not fit, and a tool that failed, whose sentences the model has read.
type Ran struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	OK        bool            `json:"ok"`
	Millis    int64           `json:"ms"`
}

// Stop is why a run ended. The words are part of the API (stop_reason), so they do not change.
type Stop string

// The reasons of an end. Each run has exactly one.
const (
	Final         Stop = "final"          // the model has answered
	MaxIterations Stop = "max_iterations" // it has not, in as many steps as it may take
	WallTime      Stop = "wall_time"      // the run's time is over
	RepeatedCall  Stop = "repeated_call"  // it makes the same call over and over
	TokenBudget   Stop = "token_budget"   // it has read and written as much as it may
	Escalated     Stop = "escalate"       // a tool has ended the step, and the model has answered
	Cut           Stop = "length"         // its reply was cut
	Empty         Stop = "empty_reply"    // it has answered nothing, also when it was asked once more
	NeedsConsent  Stop = "consent"        // a call waits for the user's consent
	ModelError    Stop = "model_error"    // the model failed behind at least one step
	Cancelled     Stop = "cancelled"      // whoever asked has left
)

// Progress is one thing that happens in a run, as it happens. On the wire it is the params of a
// notifications/progress. Which members are set goes by Kind; a queue's Millis are how long was
// waited so far.
type Progress struct {
	Step      int             `json:"step"`
	Kind      string          `json:"type"` // queue, text, reasoning, call or result
	Text      string          `json:"text,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	OK        *bool           `json:"ok,omitempty"`
	Millis    int64           `json:"ms,omitempty"`
	Position  int             `json:"position,omitempty"` // in the queue; the next has 1
}

// errTime is why what a run waits for ends when its time is over. It is the cause of the context,
// by which a run that is out of time is told from one whose client has left.
var errTime = fault.New(fault.Timeout, "the agent's time is over")

// Run asks the model until it answers, or a bound is met. tell hears of each step, in order, from
// the goroutine that called; nil: nobody does. An error means that there is nothing to show: the
// request is wrong (fault.Invalid), or the model did not answer at all. A run whose model fails
// behind a call is an Outcome with ModelError, since the call cannot be taken back.
func (l *Loop) Run(ctx context.Context, a Ask, tell func(Progress)) (*Outcome, error) {
	// Over everything: the queue, the model and the tools. A tool has its own limit, and the
	// model's reply too.
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.Time, errTime)
	defer cancel()
	if a.Request.Model = cmp.Or(a.Request.Model, l.cfg.DefaultModel); a.Request.Model == "" {
		return nil, fault.New(fault.Invalid, "model: name one; no setting says which answers otherwise")
	}
	// Out of bounds is no error: whoever asks for 100 steps gets 25, and sees how many were used.
	if a.Steps = cmp.Or(a.Steps, defaultSteps); a.Steps < 1 || a.Steps > mostSteps {
		a.Steps = min(max(a.Steps, 1), mostSteps)
	}
	if tell == nil {
		tell = func(Progress) {}
	}
	// In front of the model: a server that takes its five seconds costs them once a run, not once a
	// step.
	ts, warnings, err := l.collect(ctx, a.Servers)
	if a.Base != "" && err == nil {
		ts, err = l.knowledge(ctx)
	}
	if err != nil {
		return nil, err
	}
	// Else the server would describe tools in its own form too, and the model would have two
	// contracts.
	a.Request.Tools = nil
	r := &run{loop: l, ask: a, tools: ts, speech: newContract(ts).described(l.cfg.ToolTokens), tell: tell, turns: a.Request.Messages, beats: func() func() { return func() {} }}
	r.out = Outcome{Model: a.Request.Model, Warnings: warnings}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	r.allowed(ctx)
	if err := r.steps(ctx); err != nil {
		return nil, err
	}
	return &r.out, nil
}
