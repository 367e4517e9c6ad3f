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

// Config says where the model servers are and how their models are read. The zero value uses Ollama
// at its default address.
type Config struct {
	// Ollama is the base URL of Ollama, as ollama.ParseHost returns it, or several with commas
	// between them, which form a pool. Empty: http://127.0.0.1:11434.
	Ollama string
	// Upstreams are further model servers, whose models are called name/model.
	Upstreams []Upstream
	// Remember says where findings about models are stored.
	Remember Remember
	// Timeouts limit how long a server is waited for. Zero fields take the defaults.
	Timeouts wait.Timeouts
	// Log receives what operators need to know, never prompts, replies or keys. The zero value logs
	// nothing.
	Log zerolog.Logger

	Naming

	// Strategy, Wording and Format are keyed by the name of a model, in which * stands for any
	// text. The longest match wins. Strategy says how the model's text is read (see Strategies). No
	// match: the model is probed.
	Strategy map[string]string
	// Wording says how the strategy "prompt" describes tools, in the form that
	// adapters.ParseWording reads. No match: the family's own wording, or else the model is probed,
	// unless NoProbe is set.
	Wording map[string]string
	NoProbe bool
	// Format names the family in whose format the model writes. No match: the model's name decides,
	// or the model's template if no family claims the name, unless NamesOnly is set.
	Format    map[string]string
	NamesOnly bool
	// Formats are the families that are known. Nil: the families that come with the program.
	Formats *adapters.Set

	Decoding

	Checking
	// Gate says when a model is asked whether it needs a tool: GateAlways, GateNever, or GateAuto,
	// which depends on what the model does. The keys are those of Strategy. No match: GateAuto.
	Gate map[string]string

	Lengths

	Loops
	// Unwedge unloads an Ollama model that is loaded and does not begin to write in time, and asks
	// it once more.
	Unwedge bool

	// Demos says when the demo models are listed, and whether they exist at all: DemoAuto,
	// DemoAlways or DemoNever. Empty: DemoAuto.
	Demos string
	// Demo configures the server of the demo models. The zero value writes at a pace that a reader
	// can follow.
	Demo demo.Server
}

// Naming configures the names by which clients ask for models.
type Naming struct {
	// Aliases maps names that clients may ask for to names of models, which have their server's
	// name as a prefix. A * in a client's name stands for any text. Settings of Config that are
	// keyed by a model's name use the name of the model and not an alias, so a model is read alike
	// under every name.
	Aliases map[string]string
	// Prefix before a model's name makes a second name for the model. It has no other effect.
	// Empty: there is no prefix.
	Prefix string
	// DefaultModel answers requests that name no model. Empty: such requests are an error.
	DefaultModel string
}

// Decoding configures how calls are found in the text of a model.
type Decoding struct {
	// Hold, Which and Quiet are the fields of adapters.Options with these names. Hold applies to
	// requests that do not set it. If all are zero, short calls are sent whole and long ones are
	// streamed. Text that looks like a call is then read as one if the usual evidence is there,
	// also inside reasoning.
	Hold  int
	Which adapters.Which
	Quiet bool
}

// Checking configures how calls are made to fit their schemas.
type Checking struct {
	// NoGrammar stops llama-server from constraining the model to calls that fit their schemas.
	NoGrammar bool
	// Unchecked sends calls as they were read, whether they fit their schemas or not.
	Unchecked bool
	// NoRewrite and NoReask switch off the two ways in which a call that does not fit is repaired.
	// NoRewrite is for writing the call once more, constrained to its schema. NoReask is for
	// telling the model what was wrong with the call.
	NoRewrite, NoReask bool
	// OutOfBounds says what happens to a call that could not be repaired and whose only fault is
	// values outside their bounds: BoundsRewrite, BoundsClamp or BoundsPass. Empty: BoundsRewrite.
	OutOfBounds string
	// Misfit says what happens to a call that does not fit its schema: MisfitRepair, MisfitDrop or
	// MisfitPass. Empty: MisfitRepair.
	Misfit string
}

// Lengths limits how much a model is given to read.
type Lengths struct {
	// NumCtx is the context length that Ollama is asked for, in tokens. 0: as the size of the
	// request requires, up to MaxCtx.
	NumCtx int
	// MaxCtx is the longest context that the size of a request may require. 0: window.Most. A
	// context costs memory whether it is used or not, so a model that was trained with 262,144
	// tokens does not get that many.
	MaxCtx int
	// Overflow says what happens to a conversation that is longer than the context: Trim or Refuse.
	// Empty: Trim.
	Overflow string
	// ToolBudget is how many tokens the tools of a request may take. To make them fit, their
	// descriptions are cut first, then those of their parameters, and at last tools are left out.
	// 0: tools are limited only if the request does not fit the context otherwise, and then to half
	// of the context.
	ToolBudget int
	// Reasoning says which turns of the history keep their reasoning, as one of history.Policies.
	// Empty: all turns.
	Reasoning string
}

// Loops configures how a model that repeats itself is stopped.
type Loops struct {
	// LoopGuard says what is done if the model makes the same call with the same result turn after
	// turn: LoopOff, LoopWarn or LoopBreak. Empty: LoopWarn.
	LoopGuard string
	// SameCalls is how many calls in a row that repeat earlier calls of the reply end the reply.
	// Such repeated calls are dropped in any case. 0: 3, negative: any number.
	SameCalls int
	// MaxRepeat is how many bytes of repeated text a model may write before its reply is ended. 0:
	// 8192, negative: without limit.
	MaxRepeat int
}

// strategyGone is a strategy that settings of earlier releases may still name. The program then
// fails to start with an error that says which strategies to use instead. The usual error would
// only list the known strategies.
const strategyGone = "clone"

// The values of Lengths.Overflow: what happens to a conversation that is longer than its context.
const (
	Trim   = "trim"   // its oldest turns are left out, and the client is told
	Refuse = "refuse" // the request fails
)

// The values of Checking.OutOfBounds: what happens to a call whose values are out of their bounds,
// if rewriting it has not helped.
const (
	BoundsRewrite = "rewrite" // nothing more is done, so the call becomes text
	BoundsClamp   = "clamp"   // its numbers are set to the nearest bounds
	BoundsPass    = "pass"    // it is sent as it is, for agents that learn from a tool's error
)

// The values of Checking.Misfit: what happens to a call that does not fit its schema.
const (
	// it is written again; if that fails, optional members that do not fit are left out
	MisfitRepair = "repair"
	// optional members that do not fit are left out first, which costs no generation
	MisfitDrop = "drop"
	MisfitPass = "pass" // it is written again; if that fails, it is sent as it is
)

// The values of Config.Demos: when the demo models are listed.
const (
	// when no model server answers; requests for a demo model are always answered
	DemoAuto   = "auto"
	DemoAlways = "always" // next to the models of every server
	DemoNever  = "never"  // they do not exist
)

// Validate returns an error for the first fault of the configuration, such as an unknown strategy
// or format, a negative number, or a bad address. Otherwise it returns nil. The program refuses to
// start with a fault. New ignores the wrong part instead, for callers that make a Config
// themselves.
func (c Config) Validate() error {
	for model, s := range c.Strategy {
		if !slices.Contains(Strategies(), s) {
			gone := ""
			if s == strategyGone {
				gone = " (it is gone: raw and tokens read the same without a second model)"
			}
			return fmt.Errorf("strategy of %q: %q is none of %s%s", model, s,
				strings.Join(Strategies(), ", "), gone)
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
	for name, n := range map[string]int{"num_ctx": c.NumCtx, "max_ctx": c.MaxCtx,
		"tool_budget": c.ToolBudget} {
		if n < 0 {
			return fmt.Errorf("%s: %d is negative", name, n)
		}
	}
	for _, word := range []struct {
		of, is string
		known  []string
	}{
		{"loop guard", c.LoopGuard, []string{LoopOff, LoopWarn, LoopBreak}},
		{"demo", c.Demos, []string{DemoAuto, DemoAlways, DemoNever}},
		{"out of bounds", c.OutOfBounds, []string{BoundsRewrite, BoundsClamp, BoundsPass}},
		{"misfit", c.Misfit, []string{MisfitRepair, MisfitDrop, MisfitPass}},
		{"overflow", c.Overflow, []string{Trim, Refuse}},
		{"reasoning", c.Reasoning, history.Policies()},
	} {
		if word.is != "" && !slices.Contains(word.known, word.is) {
			return fmt.Errorf("%s: %q is none of %s", word.of, word.is,
				strings.Join(word.known, ", "))
		}
	}
	if _, err := ollama.ParseHosts(c.Ollama); err != nil {
		return err
	}
	return c.validateNames()
}

// validateNames returns an error for the first fault of the upstreams and aliases, or nil. It
// refuses an alias of an alias, because readers of the settings would have to follow the chain.
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
			return fmt.Errorf("alias %q: %q must be the name of a model, and of no alias", name,
				model)
		}
	}
	return nil
}

// formats returns the set of known formats. This is c.Formats, or the built-in set if that is nil.
func (c Config) formats() *adapters.Set {
	if c.Formats == nil {
		return adapters.Builtin()
	}
	return c.Formats
}
