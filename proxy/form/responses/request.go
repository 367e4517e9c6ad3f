package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request while it is read, and what its reply needs to know of it: the names of its
// tools, how thoughts are shown, and what the response object repeats. form.Ask has no place for
// these, as no other form needs them.
type request struct {
	*form.Ask
	tools toolset
	echo  map[string]json.RawMessage // fields that the response object repeats

	kept    keeping
	seal    bool // the client wants thoughts in encrypted_content, to send them back
	summary bool // thoughts are shown as a summary, else as they are

	// Fields that make sense together with others alone, read when all are there. They live as long
	// as the body.
	instructions, previous string
	input, offer, choice   *fastjson.Value
}

// keeping is what is kept of requests and their replies, for those who go on with them.
type keeping struct {
	replies *Replies
	owner   string            // who asks; what is kept belongs to it
	store   bool              // the reply is to be kept
	earlier []json.RawMessage // items of the conversation that previous_response_id goes on with
	items   []json.RawMessage // of this request, when the reply is kept
}

// read reads a request. Every error is a fault of kind Invalid that names the field. The order
// matters: calls in the input are called by the names that the tools get, and the input may load
// tools that tool_choice names.
func (r *request) read(body []byte) (*form.Ask, error) {
	r.Ask, r.kept.store = new(form.Ask), true
	r.tools.ask = r.Ask
	r.echo = map[string]json.RawMessage{}
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := field.Each(v, r.echoes); err != nil {
			return err
		}
		if err := r.fields().Read(v, r.KeepUnknown); err != nil {
			return err
		}
		if err := field.Within("tools", r.tools.read(r.offer)); err != nil {
			return err
		}
		c := conversation{ask: r.Ask, tools: &r.tools, kept: &r.kept}
		if err := c.read(r.instructions, r.previous, r.input); err != nil {
			return err
		}
		r.tools.tellLeftOut()
		return r.Choose(r.choice, r.tools.named, "function", "custom", "tool_search")
	})
	return r.Ask, err
}

// echoes keeps what the response object repeats.
func (r *request) echoes(key string, v *fastjson.Value) (err error) {
	if slices.ContainsFunc(echoed, func(e echoedField) bool { return e.key == key }) {
		r.echo[key], err = repeatable(v)
	}
	return err
}

// repeatable copies a value that a reply will hold. Bytes that are no UTF-8 become U+FFFD there, as
// everywhere else: a reply with such a byte cannot be decoded, and the SDK for Python gives the
// whole stream up.
func repeatable(v *fastjson.Value) (json.RawMessage, error) {
	b, err := field.Raw(v)
	if !utf8.Valid(b) { // else ToValidUTF8 would copy all of it
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b, err
}

// fields returns the fields of the body. A field of the Responses API that only speaks of OpenAI's
// own service is passed over, one that nobody here knows is kept as it is. What is kept goes to a
// server that speaks OpenAI's API; the fields of this one would mean nothing to it. What the reply
// repeats has the type that it has there, or the SDKs could not read the reply.
func (r *request) fields() field.Members {
	pass := func(*fastjson.Value) error { return nil }
	elsewhere := field.Refused("is kept by OpenAI's own service; send what it holds as input and instructions")
	return append(field.Members{
		{"model", &r.Model},
		{"stream", &r.Stream},
		{"input", &r.input},
		{"instructions", &r.instructions},
		{"tools", &r.offer},
		{"tool_choice", &r.choice},
		{"parallel_tool_calls", r.ReadParallel},
		{"max_output_tokens", form.ReadLimit(&r.MaxTokens)},
		{"store", &r.kept.store},
		{"previous_response_id", &r.previous},
		{"reasoning", field.Members{{"effort", r.ReadEffort}, {"summary", r.readSummary}, {"generate_summary", r.readSummary}}},
		{"text", r.readText},
		{"include", r.readInclude},
		{"truncation", oneOf("auto", "disabled")},
		{"max_tool_calls", new(*int64)},
		{"prompt_cache_key", new(string)}, {"prompt_cache_retention", new(string)}, {"safety_identifier", new(string)},
		{"service_tier", new(string)}, {"user", new(string)},
		{"metadata", field.Members{}},
		{"client_metadata", pass}, {"stream_options", pass}, {"context_management", pass},
		// Without these the reply would be a wrong one: a background response outlives its request,
		// which nothing here does.
		{"background", noBackground},
		{"conversation", elsewhere}, {"prompt", elsewhere},
		{"top_logprobs", noLogprobs},
		{"messages", field.Refused("belongs to /v1/chat/completions; here it is input")},
	}, r.Sampling()...)
}

// noBackground reads whether the reply is to outlive its request; false asks for nothing.
func noBackground(v *fastjson.Value) error {
	on := false
	if err := field.Into(v, &on); err != nil || !on {
		return err
	}
	return field.Bad("", "a reply lasts as long as its request here; send the request without it")
}

// noLogprobs reads how many probabilities are wanted; 0 asks for none.
func noLogprobs(v *fastjson.Value) error {
	var n *int64
	if err := field.Into(v, &n); err != nil || n == nil || *n == 0 {
		return err
	}
	return field.Bad("", "probabilities are given by /v1/chat/completions only")
}

// oneOf returns what checks that a field is null or one of the words. It is for fields that change
// nothing here: a word of which OpenAI knows nothing is a mistake all the same, and whoever made it
// should hear of it.
func oneOf(words ...string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var word string
		if err := field.Into(v, &word); err != nil || word == "" || slices.Contains(words, word) {
			return err
		}
		return field.Bad("", "must be one of %q, not %q", words, word)
	}
}

// readSummary reads how the model's thoughts are shown. OpenAI shows a summary that another model
// writes; here the thoughts themselves stand in its place, since that is where clients look for
// them. generate_summary is the older name.
func (r *request) readSummary(v *fastjson.Value) error {
	r.summary = r.summary || !field.IsNull(v)
	return oneOf("auto", "concise", "detailed", "none")(v)
}

// readText reads the form that the text must have. verbosity only advises.
// {"format":{"type":"json_schema","name":…,"schema":{…},"strict":true}} is flat here, where chat
// completions wrap it.
func (r *request) readText(v *fastjson.Value) error {
	r.Format = nil
	return field.Into(v, field.Members{{"format", func(v *fastjson.Value) error {
		if field.IsNull(v) {
			return nil
		}
		return r.ReadFormat(v, "schema")
	}}})
}

// readInclude reads what the response should hold besides. What belongs to tools that OpenAI runs
// asks for nothing here, as no such tool runs.
func (r *request) readInclude(v *fastjson.Value) error {
	return field.List(v, func(v *fastjson.Value) error {
		var what string
		err := field.Into(v, &what)
		switch what {
		case "reasoning.encrypted_content":
			r.seal = true
		case "message.output_text.logprobs":
			return field.Bad("", "probabilities are given by /v1/chat/completions only")
		}
		return err
	})
}
