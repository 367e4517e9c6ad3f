package ollama

import "encoding/json"

// ChatRequest is the body of /api/chat. Unlike Ollama's own type it keeps schemas and arguments as they are spelled: the order of a
// schema's properties is the order in which models write them, and a number such as 1.50 or 12345678901234567890 stays what it was.
// Truncate is false wherever a reply is wanted, since a server that truncates drops the oldest messages silently; an error
// says how many tokens there were.
type ChatRequest struct {
	Model       string                     `json:"model"`
	Messages    []Message                  `json:"messages"`
	Tools       []Tool                     `json:"tools,omitempty"`
	Stream      bool                       `json:"stream"`
	Think       json.RawMessage            `json:"think,omitempty"`  // true, false or a level
	Format      json.RawMessage            `json:"format,omitempty"` // a schema, or "json"
	Logprobs    bool                       `json:"logprobs,omitempty"`
	TopLogprobs int                        `json:"top_logprobs,omitempty"`
	KeepAlive   json.RawMessage            `json:"keep_alive,omitempty"`
	Truncate    bool                       `json:"truncate"`
	Options     map[string]json.RawMessage `json:"options,omitempty"`
	RenderOnly  bool                       `json:"_debug_render_only,omitempty"`
}

// Message is one turn in Ollama's form.
type Message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitempty"`
	Images   [][]byte `json:"images,omitempty"`
	Calls    []Call   `json:"tool_calls,omitempty"`
	ToolName string   `json:"tool_name,omitempty"`
	CallID   string   `json:"tool_call_id,omitempty"`
}

// Call is a tool call in Ollama's form. Arguments must be an object: text that holds one is a 400.
type Call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // an object
	} `json:"function"`
}

// Tool is a tool in Ollama's form.
type Tool struct {
	Type     string   `json:"type"` // "function"
	Function Function `json:"function"`
}

// Function is what a Tool offers. Parameters is a schema of the kind that every version of Ollama can print.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// GenerateRequest is the body of /api/generate for a prompt that is rendered already.
type GenerateRequest struct {
	Model     string                     `json:"model"`
	Prompt    string                     `json:"prompt"`
	Template  string                     `json:"template,omitempty"`
	Raw       bool                       `json:"raw"`
	Stream    bool                       `json:"stream"`
	Think     bool                       `json:"think"` // false: else the server takes the thinking out of raw text
	Truncate  bool                       `json:"truncate"`
	Logprobs  bool                       `json:"logprobs,omitempty"`
	Format    json.RawMessage            `json:"format,omitempty"` // a schema
	Options   map[string]json.RawMessage `json:"options,omitempty"`
	KeepAlive json.RawMessage            `json:"keep_alive,omitempty"`
}
