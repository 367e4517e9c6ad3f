package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
)

// demoDelta is the length of one piece of the demo's text, in bytes. This is about the length of a
// model's token in English, so that tags arrive in several pieces.
const demoDelta = 4

// demoContext is the context length of the demo's models, in tokens of demoDelta bytes. It is as
// long as that of the largest models.
const demoContext = 1 << 20

// Server is a model server for a machine without models. It has Ollama's native API and imitates
// every model family, each with a model that has the format's name. It picks a tool by the words of
// the last user message, fills the arguments from that message and the schema, and writes the call
// as the family does, piece by piece. After a tool's result it answers in words.
//
// So everything between a client and a model server is the same as with a real server: rendering,
// decoding, checks, streams.
type Server struct {
	Delay   time.Duration // between two pieces; 0: 2 ms, negative: none
	Formats *adapters.Set // the formats that it writes; nil: those of the program
}

var _ http.Handler = (*Server)(nil)

// demoText is the demo's continuation of a text that is not a conversation. It begins with a blank,
// as a model's words after other words do.
const demoText = " and here a model would write on. This is only a demo of how its words arrive."

// demoTurn is the content of a prompt that the demo renders: the tools and the messages, written as
// JSON. The demo needs nothing else for an answer. The engine may add text after the JSON, such as
// the beginning of a call; generate ignores it.
type demoTurn struct {
	Tools    []upstream.Tool  `json:"tools,omitempty"`
	Messages []ollama.Message `json:"messages"`
}

// ServeHTTP implements http.Handler. It answers as Ollama would, with 404 for an unknown path.
func (d *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/version":
		demoJSON(w, http.StatusOK, struct {
			Version string `json:"version"`
		}{"0.0.0-demo"})
	case "/api/tags":
		demoJSON(w, http.StatusOK, d.tags())
	case "/api/show":
		demoRead(w, r, d.show)
	case "/api/chat":
		demoRead(w, r, d.chat)
	case "/api/generate":
		demoRead(w, r, d.generate)
	case "/api/embed":
		demoRead(w, r, d.embed)
	default:
		demoFail(w, http.StatusNotFound, "404 page not found")
	}
}

// formats returns the formats that the server writes. If Formats is set, they include the user's
// own formats, so that these can be tried without a model.
func (d *Server) formats() *adapters.Set {
	if d.Formats == nil {
		return adapters.Builtin()
	}
	return d.Formats
}

// tags returns a list with one model for each format. A digest is never empty, since facts about a
// model are stored by its digest.
func (d *Server) tags() api.ListResponse {
	var list api.ListResponse
	for _, f := range d.formats().All() {
		list.Models = append(list.Models, api.ListModelResponse{Name: f.Name, Model: f.Name,
			Digest: "demo:" + f.Name, ModifiedAt: time.Unix(0, 0).UTC()})
	}
	return list
}

// format returns the format that a demo model writes. If there is no such model, it answers the
// request with 404 and returns nil. As in Ollama, "hermes" and "hermes:latest" are the same.
func (d *Server) format(w http.ResponseWriter, name string) *adapters.Format {
	f := d.formats().Named(strings.TrimSuffix(name, ":latest"))
	if f == nil {
		demoFail(w, http.StatusNotFound, fmt.Sprintf("model '%s' not found", name))
	}
	return f
}

// show answers with the description of a model. Its template has .Tools, so that the model counts
// as one that accepts tools.
func (d *Server) show(w http.ResponseWriter, _ *http.Request, r *api.ShowRequest) {
	if d.format(w, r.Model) == nil {
		return
	}
	demoJSON(w, http.StatusOK, api.ShowResponse{
		Template: "{{ .Tools }}{{ .Messages }}",
		ModelInfo: map[string]any{"general.architecture": "demo", "general.basename": r.Model,
			"demo.context_length": demoContext},
		Capabilities: []model.Capability{model.CapabilityCompletion, model.CapabilityTools},
	})
}

// demoChat is a chat request whose member stream may be missing. If it is missing, Ollama streams,
// but a plain bool would be false.
type demoChat struct {
	ollama.ChatRequest
	Stream *bool `json:"stream"`
}

// chat answers with the rendered prompt if the request asks for it (RenderOnly), and otherwise with
// a reply whose calls are already parsed. The rendered prompt is the turn as JSON, which generate
// parses again, so the demo keeps nothing between the two requests.
func (d *Server) chat(w http.ResponseWriter, r *http.Request, q *demoChat) {
	f := d.format(w, q.Model)
	if f == nil {
		return
	}
	turn := demoTurn{q.Tools, q.Messages}
	// chat.JSON keeps <: as \u003c it would be six times as long, and even longer in the answer
	prompt, _ := chat.JSON(turn)
	if q.RenderOnly {
		demoJSON(w, http.StatusOK,
			api.ChatResponse{Model: q.Model,
				DebugInfo: &api.DebugInfo{RenderedTemplate: string(prompt)}})
		return
	}
	out := demoWriter{w: w, r: r, delay: d.delay(), model: q.Model, chat: true, stream: q.Stream,
		prompt: len(prompt)}
	if len(q.Messages) == 0 {
		out.loaded(q.KeepAlive)
		return
	}
	turn, agent := turn.contracted()
	text, calls := turn.answer()
	switch {
	case wantsFormat(q.Format):
		text, calls = turn.fitting(q.Format), nil
	case agent != nil:
		text, calls = inDialect(agent, turn.Tools, text, calls), nil
	}
	out.write(text, q.Options)
	for i, c := range calls {
		out.call(i, c)
	}
	out.end()
}

// wantsFormat reports whether a request asks for a format. It returns false for null and the empty
// text, because clients that always send the member write these.
func wantsFormat(format json.RawMessage) bool {
	return len(format) > 0 && string(format) != "null" && string(format) != `""`
}

// demoPrompt is a request to continue a text. Unlike in Ollama's own type, a missing member stream
// can be distinguished from false.
type demoPrompt struct {
	ollama.GenerateRequest
	Stream *bool `json:"stream"`
}

// generate answers /api/generate. A prompt that the demo rendered itself is a conversation, which
// it continues. Any other text is continued if the request is raw or has a suffix, and is otherwise
// a user's message.
func (d *Server) generate(w http.ResponseWriter, r *http.Request, q *demoPrompt) {
	f := d.format(w, q.Model)
	if f == nil {
		return
	}
	out := demoWriter{w: w, r: r, delay: d.delay(), model: q.Model, stream: q.Stream,
		prompt: len(q.Prompt) + len(q.Suffix)}
	if out.prompt == 0 {
		out.loaded(q.KeepAlive)
		return
	}
	var turn demoTurn
	if err := json.NewDecoder(strings.NewReader(q.Prompt)).Decode(&turn); err != nil ||
		turn.Messages == nil {
		// An editor's text: there is no user who could ask for a tool.
		if q.Raw || q.Suffix != "" {
			out.write(demoText, q.Options)
			out.end()
			return
		}
		turn = demoTurn{Messages: []ollama.Message{{Role: "user", Content: q.Prompt}}}
	}
	// Calls of tools in the system prompt are written in the contract's form, whatever the model's
	// family is.
	if contracted, agent := turn.contracted(); agent != nil {
		turn, f = contracted, agent
	}
	if wantsFormat(q.Format) {
		out.write(turn.fitting(q.Format), q.Options)
	} else {
		text, calls := turn.answer()
		out.write(inDialect(f, turn.Tools, text, calls), q.Options)
	}
	out.end()
}
