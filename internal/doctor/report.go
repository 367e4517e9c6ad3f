package doctor

import (
	"encoding/json"
	"io"
	"slices"

	"toolnorm/internal/exam"
)

// Report is the result of an examination. toolnorm doctor --json prints its JSON, without empty
// members. Programs read it, so names must not change, but members may be added.
type Report struct {
	Toolnorm string   `json:"toolnorm,omitempty"` // its version
	Servers  []Server `json:"servers"`            // all servers, or only that of the model
	// nil: no model was asked for, or its server cannot be reached
	Model *Model    `json:"model,omitempty"`
	MCP   []Finding `json:"mcp,omitempty"` // of mcp.json; only without a model to examine
	// keys and families that cannot be used; likewise
	Settings []Finding `json:"settings,omitempty"`
	Cut      string    `json:"cut,omitempty"` // why the examination ended early
}

// Server is a model server and what it says of itself. Which of its members are there depends on
// the kind: OpenAI's API has no version and no list of what is loaded.
type Server struct {
	// "ollama", "demo", or the name in the settings, which is the prefix of its models' names
	Name string `json:"name"`
	URL  string `json:"url,omitempty"` // empty: it is in this process
	// "ollama" or "openai"; empty: it cannot be reached
	Kind     string    `json:"kind,omitempty"`
	Version  string    `json:"version,omitempty"` // as the server says
	Missing  string    `json:"unreachable,omitempty"`
	Slots    int       `json:"slots,omitempty"` // requests that it answers at a time; 0: unknown
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
	// from the settings, or else the expected one; empty: the model writes no text
	Strategy string `json:"strategy,omitempty"`
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
	Parser       string   `json:"parser,omitempty"` // the server's parser for this model's calls

	Format string `json:"format"`
	// the form of its calls by its template, where its name does not tell
	Template   string   `json:"template,omitempty"`
	Strategy   string   `json:"strategy,omitempty"`   // that toolnorm uses
	Strategies []string `json:"strategies,omitempty"` // all that may work
	Wording    string   `json:"wording,omitempty"`    // of strategy prompt
	Context    Context  `json:"context"`
	Speed      Speed    `json:"speed"`
	Ways       []Way    `json:"ways,omitempty"` // of reading its calls, compared
	Chatter    *Chatter `json:"small_talk,omitempty"`

	Findings []Finding `json:"findings"`
	Settings string    `json:"settings,omitempty"` // lines for the settings file
}

// Context holds context lengths in tokens; 0 means unknown.
type Context struct {
	Trained int `json:"trained,omitempty"`
	Loaded  int `json:"loaded,omitempty"`
	Asked   int `json:"asked,omitempty"` // by toolnorm, for every request
	Most    int `json:"most,omitempty"`  // the most that toolnorm asks for, for long requests
	// "silently" or "no": whether the server drops messages that do not fit; empty: not tried
	Cuts string `json:"cuts,omitempty"`
}

// Speed is how fast a model answers.
type Speed struct {
	// until the first piece of a short answer, with the model loaded
	First float64 `json:"first_seconds,omitempty"`
	// by the server's count of a prompt with tools; 0: the server does not count
	Prompt float64 `json:"prompt_tokens_per_s,omitempty"`
	// by the server's count, else by the clock
	Completion float64 `json:"completed_tokens_per_s,omitempty"`
}

// Way is one way of reading a model's calls, and how well it does. Questions that ended in an error
// count as unanswered.
type Way struct {
	Name    string `json:"name"` // "server" for the server's own reading, else a strategy
	Wording string `json:"wording,omitempty"`
	Taken   bool   `json:"taken"` // whether toolnorm uses it by its settings
	Asked   int    `json:"asked"` // questions
	exam.Score
	Errors  int     `json:"errors"`
	Seconds float64 `json:"seconds"`        // per reply, as the median
	Note    string  `json:"note,omitempty"` // why it was not tried, or not with every question
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
	Does  string `json:"does,omitempty"` // what toolnorm does about it, or what to do
}

// Level is the severity of a finding. Notes do not affect the exit status.
type Level string

// The levels of a Finding.
const (
	OK      Level = "ok"
	Note    Level = "note"    // good to know; toolnorm handles it
	Problem Level = "problem" // something has to be done
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

// Problems reports whether there is a problem, or the examination is incomplete. Then the exit
// status is 1.
func (r *Report) Problems() bool {
	bad := func(f Finding) bool { return f.Level == Problem }
	return r.Cut != "" || slices.ContainsFunc(r.MCP, bad) || slices.ContainsFunc(r.Settings, bad) ||
		slices.ContainsFunc(r.Servers, func(s Server) bool {
			return slices.ContainsFunc(s.Findings, bad)
		}) ||
		r.Model != nil && slices.ContainsFunc(r.Model.Findings, bad)
}
