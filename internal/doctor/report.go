package doctor

import (
	"encoding/json"
	"io"
	"slices"

	"toolnorm/internal/exam"
)

// Report is what was found. Its JSON is what toolnorm doctor --json prints; members that say
// nothing are left out. Programs read it, so names stay and new members may be added.
type Report struct {
	Toolnorm string    `json:"toolnorm,omitempty"` // its version
	Servers  []Server  `json:"servers"`            // all of them, or the one of the model
	Model    *Model    `json:"model,omitempty"`    // nil: no model was asked for, or its server cannot be reached
	MCP      []Finding `json:"mcp,omitempty"`      // of mcp.json; only without a model to examine
	Settings []Finding `json:"settings,omitempty"` // keys and families that cannot be used; the same
	Cut      string    `json:"cut,omitempty"`      // why the examination ended early
}

// Server is a model server and what it says of itself. Which of its members are there depends on
// the kind: OpenAI's API has no version and no list of what is loaded.
type Server struct {
	Name     string    `json:"name"`              // "ollama", "demo", or that of the settings, which stands in front of its models' names
	URL      string    `json:"url,omitempty"`     // none: it is in this process
	Kind     string    `json:"kind,omitempty"`    // "ollama" or "openai"; none: it cannot be reached
	Version  string    `json:"version,omitempty"` // as it says
	Missing  string    `json:"unreachable,omitempty"`
	Slots    int       `json:"slots,omitempty"` // requests that it answers at a time; 0: it does not say
	Loaded   []Loaded  `json:"loaded,omitempty"`
	Models   []Listed  `json:"models,omitempty"` // only without a model to examine
	Findings []Finding `json:"findings,omitempty"`
}

// Loaded is a model in a server's memory.
type Loaded struct {
	Name    string `json:"name"`
	Context int    `json:"context,omitempty"` // tokens
	Bytes   int64  `json:"bytes,omitempty"`   // of memory
}

// Listed is a model that a server has, and how it would be read.
type Listed struct {
	Name         string   `json:"name"`             // as clients call it
	Digest       string   `json:"digest,omitempty"` // as the server says
	Bytes        int64    `json:"bytes,omitempty"`
	Family       string   `json:"family,omitempty"`
	Parameters   string   `json:"parameters,omitempty"`   // "7.6B"
	Quantization string   `json:"quantization,omitempty"` // "Q4_K_M"
	Trained      int      `json:"trained,omitempty"`      // context length in tokens
	Capabilities []string `json:"capabilities,omitempty"` // as the server says
	Format       string   `json:"format"`
	Strategy     string   `json:"strategy,omitempty"` // by the settings, else the one that is expected; none: it writes no text
}

// Model is what was found out about one model by asking it.
type Model struct {
	Name         string   `json:"name"`   // as it was asked for
	Server       string   `json:"server"` // its name
	Model        string   `json:"model"`  // as its server calls it
	Family       string   `json:"family,omitempty"`
	Parameters   string   `json:"parameters,omitempty"`
	Quantization string   `json:"quantization,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Parser       string   `json:"parser,omitempty"` // of the server, for this model's calls

	Format     string   `json:"format"`
	Template   string   `json:"template,omitempty"`   // what its template says of its calls, where its name says less
	Strategy   string   `json:"strategy,omitempty"`   // that toolnorm takes
	Strategies []string `json:"strategies,omitempty"` // all that may work
	Wording    string   `json:"wording,omitempty"`    // of strategy prompt
	Context    Context  `json:"context"`
	Speed      Speed    `json:"speed"`
	Ways       []Way    `json:"ways,omitempty"` // of reading its calls, compared
	Chatter    *Chatter `json:"small_talk,omitempty"`

	Findings []Finding `json:"findings"`
	Settings string    `json:"settings,omitempty"` // lines for the settings file
}

// Context are context lengths in tokens; 0 is what nobody says.
type Context struct {
	Trained int    `json:"trained,omitempty"`
	Loaded  int    `json:"loaded,omitempty"`
	Asked   int    `json:"asked,omitempty"` // by toolnorm, for every request
	Most    int    `json:"most,omitempty"`  // or else, for long ones
	Cuts    string `json:"cuts,omitempty"`  // "silently" or "no": what the server does with messages that do not fit; none: not tried
}

// Speed is how fast a model answers.
type Speed struct {
	First      float64 `json:"first_seconds,omitempty"`          // until the first piece of a short answer, the model being loaded
	Prompt     float64 `json:"prompt_tokens_per_s,omitempty"`    // by the server's count of a prompt with tools; 0: it does not count
	Completion float64 `json:"completed_tokens_per_s,omitempty"` // by the server's count, else by the clock
}

// Way is one way of reading a model's calls, and how well it does. Questions that ended in an error
// count as unanswered.
type Way struct {
	Name    string `json:"name"` // "server" for its own reading, else a strategy
	Wording string `json:"wording,omitempty"`
	Taken   bool   `json:"taken"` // by toolnorm, as it is set up
	Asked   int    `json:"asked"` // questions
	exam.Score
	Errors  int     `json:"errors"`
	Seconds float64 `json:"seconds"`        // a reply, as the median
	Note    string  `json:"note,omitempty"` // why it was not asked, or not everything
	Misses  []Miss  `json:"misses,omitempty"`

	times []float64 // of the replies, sorted
}

// Miss is a question that was not answered as it should be.
type Miss struct {
	Question string `json:"question"`
	Wrote    string `json:"wrote,omitempty"` // by the model, up to 400 bytes
	Error    string `json:"error,omitempty"`
}

// Finding is one thing that was looked at.
type Finding struct {
	Level Level  `json:"level"`
	What  string `json:"what"`
	Found string `json:"found"`
	Does  string `json:"does,omitempty"` // what toolnorm does about it, or what to do
}

// Level says how bad a finding is.
// Notes do not count for the exit status.
type Level string

// The levels of a Finding.
const (
	OK      Level = "ok"
	Note    Level = "note"    // good to know; toolnorm copes
	Problem Level = "problem" // something to be done
)

// PrintJSON writes the report for programs.
func (r *Report) PrintJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Unreachable reports whether a server that was looked at cannot be reached.
func (r *Report) Unreachable() bool {
	return slices.ContainsFunc(r.Servers, func(s Server) bool { return s.Missing != "" })
}

// Problems reports whether something is to be done, or the examination is not whole. It decides the
// exit status 1.
func (r *Report) Problems() bool {
	bad := func(f Finding) bool { return f.Level == Problem }
	return r.Cut != "" || slices.ContainsFunc(r.MCP, bad) || slices.ContainsFunc(r.Settings, bad) || slices.ContainsFunc(r.Servers, func(s Server) bool { return slices.ContainsFunc(s.Findings, bad) }) ||
		r.Model != nil && slices.ContainsFunc(r.Model.Findings, bad)
}
