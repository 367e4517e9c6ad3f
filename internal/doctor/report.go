package doctor

import (
	"encoding/json"
	"io"
	"slices"

	"toolnorm/internal/exam"
)

// Report is the result of an examination. toolnorm doctor --json prints it as JSON without empty
// members. Programs read that, so members may be added, but names must not change.
type Report struct {
	Toolnorm string   `json:"toolnorm,omitempty"` // its version
	Servers  []Server `json:"servers"`            // all servers, or only that of the model
	// nil: no model was asked for, or its server cannot be reached
	Model *Model    `json:"model,omitempty"`
	MCP   []Finding `json:"mcp,omitempty"` // findings about mcp.json; only if no model is examined
	// keys and families that cannot be used; only if no model is examined
	Settings []Finding `json:"settings,omitempty"`
	Cut      string    `json:"cut,omitempty"` // why the examination ended early
}

// Server is a model server and what it reports about itself. Which members are set depends on its
// kind: OpenAI's API has no version and no list of loaded models.
type Server struct {
	// "ollama", "demo", or the name in the settings, with which the names of its models begin
	Name string `json:"name"`
	URL  string `json:"url,omitempty"` // empty: it is in this process
	// "ollama" or "openai"; empty: it cannot be reached
	Kind    string `json:"kind,omitempty"`
	Version string `json:"version,omitempty"` // as the server reports it
	Missing string `json:"unreachable,omitempty"`
	// requests that it answers at the same time; 0: unknown
	Slots    int       `json:"slots,omitempty"`
	Loaded   []Loaded  `json:"loaded,omitempty"`
	Models   []Listed  `json:"models,omitempty"` // only if no model is examined
	Findings []Finding `json:"findings,omitempty"`
}

// Loaded is a model in a server's memory.
type Loaded struct {
	Name    string `json:"name"`
	Context int    `json:"context,omitempty"` // tokens
	Bytes   int64  `json:"bytes,omitempty"`   // of memory that it takes
}

// Listed is a model on a server, and how its calls would be read.
type Listed struct {
	Name         string   `json:"name"`             // the name that clients use
	Digest       string   `json:"digest,omitempty"` // as the server says
	Bytes        int64    `json:"bytes,omitempty"`
	Family       string   `json:"family,omitempty"`
	Parameters   string   `json:"parameters,omitempty"`   // "7.6B"
	Quantization string   `json:"quantization,omitempty"` // "Q4_K_M"
	Trained      int      `json:"trained,omitempty"`      // context length in tokens
	Capabilities []string `json:"capabilities,omitempty"` // as the server says
	Format       string   `json:"format"`
	// from the settings, or else the expected one; empty: the model writes no text, or its
	// abilities are unknown
	Strategy string `json:"strategy,omitempty"`
}

// Model is the result of examining one model.
type Model struct {
	Name         string   `json:"name"`   // the name that was asked for
	Server       string   `json:"server"` // the name of its server
	Model        string   `json:"model"`  // the server's name for it
	Family       string   `json:"family,omitempty"`
	Parameters   string   `json:"parameters,omitempty"`
	Quantization string   `json:"quantization,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	// the parser that the server uses for this model's calls
	Parser string `json:"parser,omitempty"`

	Format string `json:"format"`
	// the format of calls that its template shows, if the name does not reveal it
	Template   string   `json:"template,omitempty"`
	Strategy   string   `json:"strategy,omitempty"`   // the one that toolnorm uses
	Strategies []string `json:"strategies,omitempty"` // all strategies that may work
	Wording    string   `json:"wording,omitempty"`    // the wording that strategy prompt uses
	Context    Context  `json:"context"`
	Speed      Speed    `json:"speed"`
	Ways       []Way    `json:"ways,omitempty"` // ways of reading its calls, for comparison
	Chatter    *Chatter `json:"small_talk,omitempty"`

	Findings []Finding `json:"findings"`
	Settings string    `json:"settings,omitempty"` // lines for the settings file
}

// Context holds context lengths in tokens; 0 means unknown.
type Context struct {
	Trained int `json:"trained,omitempty"`
	Loaded  int `json:"loaded,omitempty"`
	Asked   int `json:"asked,omitempty"` // what toolnorm requests every time
	Most    int `json:"most,omitempty"`  // the most that toolnorm requests, for long prompts
	// "silently" or "no": whether the server drops messages that do not fit; empty: not tried
	Cuts string `json:"cuts,omitempty"`
}

// Speed is how fast a model answers.
type Speed struct {
	// the time until the first piece of a short answer, with the model loaded
	First float64 `json:"first_seconds,omitempty"`
	// measured by the server, for a prompt with tools; 0: it does not measure
	Prompt float64 `json:"prompt_tokens_per_s,omitempty"`
	// measured by the server, or else by this program's clock
	Completion float64 `json:"completed_tokens_per_s,omitempty"`
}

// Way is one way of reading a model's calls, with its results. Questions that ended in an error
// count as unanswered.
type Way struct {
	Name    string `json:"name"` // "server" for the server's own parser, else a strategy
	Wording string `json:"wording,omitempty"`
	Taken   bool   `json:"taken"` // whether toolnorm uses it with the current settings
	Asked   int    `json:"asked"` // the number of questions
	exam.Score
	Errors  int     `json:"errors"`
	Seconds float64 `json:"seconds"`        // the median time of a reply
	Note    string  `json:"note,omitempty"` // why it was not tried, or not with all questions
	Misses  []Miss  `json:"misses,omitempty"`

	times []float64 // times of the replies, sorted
}

// Miss is a question that was answered wrongly.
type Miss struct {
	Question string `json:"question"`
	Wrote    string `json:"wrote,omitempty"` // what the model wrote, up to 400 bytes
	Error    string `json:"error,omitempty"`
}

// Finding is the result of one check.
type Finding struct {
	Level Level  `json:"level"`
	What  string `json:"what"`
	Found string `json:"found"`
	Does  string `json:"does,omitempty"` // what toolnorm does about it, or what the user should do
}

// Level is the severity of a finding. Notes do not affect the exit status.
type Level string

// The levels of a Finding.
const (
	OK      Level = "ok"
	Note    Level = "note"    // good to know; toolnorm handles it
	Problem Level = "problem" // something has to be done
)

// PrintJSON writes the report as JSON. The error is that of w.
func (r *Report) PrintJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Unreachable reports whether any examined server cannot be reached.
func (r *Report) Unreachable() bool {
	return slices.ContainsFunc(r.Servers, func(s Server) bool { return s.Missing != "" })
}

// Problems reports whether there is a problem, or the examination is incomplete. In both cases the
// program's exit status is 1.
func (r *Report) Problems() bool {
	bad := func(f Finding) bool { return f.Level == Problem }
	return r.Cut != "" || slices.ContainsFunc(r.MCP, bad) || slices.ContainsFunc(r.Settings, bad) ||
		slices.ContainsFunc(r.Servers, func(s Server) bool {
			return slices.ContainsFunc(s.Findings, bad)
		}) ||
		r.Model != nil && slices.ContainsFunc(r.Model.Findings, bad)
}
