package messages

import (
	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request that is being read. It keeps the fields that can be checked only after all
// others have been read, because they depend on others.
type request struct {
	*form.Ask
	system []string // the text parts of the field system
	offers []offer  // in their order, including deferred ones
	gone   []string // names of tools that Anthropic runs itself, which are left out
	// names of tools that the conversation refers to
	referenced map[string]bool
	// the tools to which a result refers, by the id of the call
	found    map[string][]string
	choice   *fastjson.Value
	thinking string // its type; empty: the field is missing
	budget   *int64 // tokens of thought, for thinking "enabled"
	effort   string // from output_config; empty: not set
}

// read returns the request in a body. Every error is a fault of kind Invalid that names the field.
// Some fields depend on others and are used after all have been read. For example, which
// tools are offered depends on the messages, and tool_choice depends on the tools.
func read(body []byte) (*request, error) {
	r := &request{Ask: new(form.Ask), referenced: map[string]bool{}, found: map[string][]string{}}
	r.TellStop = true
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := field.Object(v, r.fields()); err != nil {
			return err
		}
		if len(r.Messages) == 0 {
			return field.Bad("messages", "must be an array of at least one message")
		}
		r.addSystem()
		if err := r.settleThinking(); err != nil {
			return err
		}
		return r.settleTools()
	})
	return r, err
}

// fields returns the fields of the body. Unknown fields concern Anthropic's own service and are
// ignored. New betas bring new fields with nearly every release of Claude Code, which could not be
// used any more if such a field were an error.
func (r *request) fields() field.Members {
	return field.Members{
		{"model", &r.Model},
		{"messages", r.readMessages},
		{"system", r.readSystem},
		{"tools", r.readTools},
		{"tool_choice", &r.choice}, // read when the tools are known
		{"stream", &r.Stream},
		// Anthropic requires it; here its absence means no limit
		{"max_tokens", form.ReadLimit(&r.MaxTokens)},
		{"stop_sequences", r.ReadStop},
		{"temperature", &r.Temperature},
		{"top_p", &r.TopP},
		{"top_k", form.Option(&r.Options)}, {"options", r.ReadOptions},
		{"keep_alive", form.KeepAlive(&r.Keep)},
		// {"type":"enabled","budget_tokens":…}, {"type":"adaptive"} or {"type":"disabled"}
		{"thinking", field.Members{
			{"type", &r.thinking},
			{"budget_tokens", &r.budget},
			// Claude Code shows no thoughts, but sends them back in the next request
			{"display", func(v *fastjson.Value) error {
				r.SealThoughts = string(v.GetStringBytes()) == "omitted"
				return nil
			}},
		}},
		{"output_config", field.Members{{"effort", &r.effort}, {"format", r.readFormat}}},
		{"output_format", r.readFormat}, // the name in the beta
		{"mcp_servers", func(v *fastjson.Value) error {
			if len(v.GetArray()) > 0 {
				return field.Bad("",
					"is not served here: toolnorm's own MCP servers are a setting (docs/mcp.md)")
			}
			return nil
		}},
	}
}

// readFormat stores the schema in {"type":"json_schema","schema":{…}}. For null it stores none. It
// returns an error for another type or an invalid schema.
func (r *request) readFormat(v *fastjson.Value) error {
	r.Format = nil
	if field.IsNull(v) {
		return nil
	}
	if kind := string(v.GetStringBytes("type")); kind != "json_schema" {
		return field.Bad("type", "must be json_schema, not %q", kind)
	}
	return r.ReadSchema("schema", v.Get("schema"))
}

// The limits, in tokens, by which a thinking budget becomes a level of effort. Anthropic's smallest
// budget is 1,024, and its guide recommends 16,000 for hard tasks.
const (
	lowBudget  = 4 << 10
	highBudget = 16 << 10
)

// settleThinking turns thinking on or off by the field thinking. Without this field a Claude model
// does not think, so neither does a model here. The value adaptive leaves thinking to the model's
// default. It returns an error for an unknown type or effort.
func (r *request) settleThinking() error {
	on, off := true, false
	switch r.thinking {
	case "", "disabled":
		r.Think = &off
		return nil
	case "adaptive":
		if r.effort == "" {
			return nil
		}
	case "enabled":
		r.Think = &on
		if r.effort == "" && r.budget != nil {
			r.effort = budgetEffort(*r.budget)
		}
	default:
		return field.Bad("thinking.type", "must be enabled, adaptive or disabled, not %q",
			r.thinking)
	}
	return field.Within("output_config.effort", r.SetEffort(r.effort))
}

// budgetEffort returns the level of effort for a thinking budget: low, medium or high.
func budgetEffort(tokens int64) string {
	switch {
	case tokens <= lowBudget:
		return "low"
	case tokens < highBudget:
		return "medium"
	}
	return "high"
}
