package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/engine/demo"
	"toolnorm/engine/history"
	"toolnorm/engine/ollama"
	"toolnorm/engine/wait"
)

// Config says where the models are and how they are read. The zero value uses Ollama at its default address.
type Config struct {
	Ollama       string            // base URL of Ollama, as ollama.ParseHost gives it; empty: http://127.0.0.1:11434
	Log          zerolog.Logger    // the zero value logs nothing
	Strategy     map[string]string // model name with * for any text -> one of the strategies; the longest match wins; no match: by probing
	Wording      map[string]string // model name with * for any text -> how strategy prompt describes tools, as adapters.ParseWording reads it; no match: the family's, else by probing
	NoGrammar    bool              // llama-server is not asked to hold the model to calls that fit their schemas
	NoProbe      bool              // of the wording: the family's, else schemas
	Format       map[string]string // model name with * for any text -> name of a format; no match: by the model's name
	NamesOnly    bool              // a model's format is by its name alone; its template is not asked
	Formats      *adapters.Set     // the formats that are known; nil: those that come with the program
	Hold         int               // adapters.Options.Hold of requests that do not say; 0: short calls leave whole, long ones stream
	Which        adapters.Which    // adapters.Options.Which: which texts that look like calls are calls
	Quiet        bool              // adapters.Options.Quiet: calls inside reasoning are thoughts
	Unchecked    bool              // calls leave as they were read, whether they fit their schemas or not
	NoRewrite    bool              // a call that does not fit is not written again, held to its schema
	NoReask      bool              // nor is the model told what was wrong with it
	OutOfBounds  string            // what becomes of a call that nothing could repair, and that fails by bounds of values alone: BoundsRewrite, BoundsClamp or BoundsPass; empty: BoundsRewrite
	Gate         bool              // before tools are offered, the model is asked whether it needs one
	Timeouts     wait.Timeouts     // zero fields take the defaults
	NumCtx       int               // context length asked of Ollama, in tokens; 0: by the request's size
	MaxCtx       int               // the longest context that is asked for by a request's size, in tokens; 0: window.Most
	Overflow     string            // what becomes of a conversation that is longer: Trim or Refuse; empty: Trim
	ToolBudget   int               // tokens that the tools of a request may take without a warning; 0: half of the context
	Reasoning    string            // which turns of the history keep their reasoning, as history.Policy; empty: all
	LoopGuard    string            // what is done about the same call with the same result over and over: LoopOff, LoopWarn or LoopBreak; empty: LoopWarn
	Unwedge      bool              // an Ollama model that is loaded and does not begin to write in time is unloaded, and asked once more
	MaxRepeat    int               // bytes for which a model may write the same over and over until its reply is ended; 0: 8192, negative: for ever
	SameCalls    int               // how often one reply may make the same call, or the same few calls, in a row; 0: 3, negative: as often as the model likes
	DefaultModel string            // answers requests that name no model; empty: such requests are an error
	Upstreams    []Upstream        // further model servers, whose models are called name/model
	Aliases      map[string]string // a name that clients may ask for -> the model that it stands for, with its server's name in front; settings go by the latter
	Prefix       string            // in front of any model's name it says nothing, so that each has a second name; empty: there is none
	Demos        string            // when the demo models are listed, and whether they are there: DemoAuto, DemoAlways or DemoNever; empty: DemoAuto
	Demo         demo.Server       // the zero value writes at a pace that can be seen
}

// strategyGone is a strategy that settings of earlier releases may still name.
const strategyGone = "clone"

// What becomes of a conversation that is longer than its context.
const (
	Trim   = "trim"   // its oldest turns are left out, and the client is told
	Refuse = "refuse" // it is an error
)

// What becomes of a call whose values are out of their bounds, when writing it again has not helped.
const (
	BoundsRewrite = "rewrite" // nothing more is done: it is text
	BoundsClamp   = "clamp"   // its numbers are brought to their nearest bounds
	BoundsPass    = "pass"    // it leaves as it is, for agents that learn from a tool's error
)

// Bounds are the names of the above.
func Bounds() []string { return []string{BoundsRewrite, BoundsClamp, BoundsPass} }

// When the demo models are listed.
const (
	DemoAuto   = "auto"   // when no model server answers; by their names they can be asked at any time
	DemoAlways = "always" // beside the models of every server
	DemoNever  = "never"  // and there are none
)

// Validate says what is wrong with the configuration: an unknown strategy or format, a negative number, a bad address.
func (c Config) Validate() error {
	for model, s := range c.Strategy {
		if !slices.Contains(Strategies(), s) {
			gone := ""
			if s == strategyGone {
				gone = " (it is gone: raw and tokens read the same without a second model)"
			}
			return fmt.Errorf("strategy of %q: %q is none of %s%s", model, s, strings.Join(Strategies(), ", "), gone)
		}
	}
	for model, w := range c.Wording {
		if _, err := adapters.ParseWording(w); err != nil {
			return fmt.Errorf("wording of %q: %w", model, err)
		}
	}
	for model, name := range c.Format {
		if c.formats().Named(name) == nil {
			return fmt.Errorf("format of %q: there is no format %q", model, name)
		}
	}
	for name, n := range map[string]int{"num_ctx": c.NumCtx, "max_ctx": c.MaxCtx, "tool_budget": c.ToolBudget} {
		if n < 0 {
			return fmt.Errorf("%s: %d is negative", name, n)
		}
	}
	if c.LoopGuard != "" && !slices.Contains(LoopGuards(), c.LoopGuard) {
		return fmt.Errorf("loop guard: %q is none of %s", c.LoopGuard, strings.Join(LoopGuards(), ", "))
	}
	if demos := []string{"", DemoAuto, DemoAlways, DemoNever}; !slices.Contains(demos, c.Demos) {
		return fmt.Errorf("demo: %q is none of %s", c.Demos, strings.Join(demos[1:], ", "))
	}
	if c.OutOfBounds != "" && !slices.Contains(Bounds(), c.OutOfBounds) {
		return fmt.Errorf("out of bounds: %q is none of %s", c.OutOfBounds, strings.Join(Bounds(), ", "))
	}
	if c.Overflow != "" && c.Overflow != Trim && c.Overflow != Refuse {
		return fmt.Errorf("overflow: %q is neither %s nor %s", c.Overflow, Trim, Refuse)
	}
	if c.Reasoning != "" && !slices.Contains(history.Policies(), c.Reasoning) {
		return fmt.Errorf("reasoning: %q is none of %s", c.Reasoning, strings.Join(history.Policies(), ", "))
	}
	if _, err := ollama.ParseHost(c.Ollama); err != nil {
		return err
	}
	return c.validateNames()
}

// validateNames says what is wrong with the upstreams and aliases.
func (c Config) validateNames() error {
	names := map[string]bool{}
	for _, u := range c.Upstreams {
		if _, _, err := u.parse(); err != nil {
			return fmt.Errorf("upstream %q: %w", u.Name, err)
		}
		if names[u.Name] {
			return fmt.Errorf("upstream %q is there twice", u.Name)
		}
		names[u.Name] = true
	}
	for name, model := range c.Aliases {
		if _, isAlias := c.Aliases[model]; isAlias || name == "" || model == "" {
			return fmt.Errorf("alias %q: %q must be the name of a model, and of no alias", name, model)
		}
	}
	return nil
}

// formats are the formats that are known.
func (c Config) formats() *adapters.Set {
	if c.Formats == nil {
		return adapters.Builtin()
	}
	return c.Formats
}
