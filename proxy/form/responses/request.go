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

// request is a request that is being read. Later it has the facts that its reply needs: the names
// of the tools, how thoughts are shown, and the fields that the response object repeats. These are
// not in form.Ask, since no other form needs them.
type request struct {
	*form.Ask
	tools toolset
	echo  map[string]json.RawMessage // fields that the response object repeats

	kept    keeping
	seal    bool // whether the client wants thoughts in encrypted_content, to send them back
	summary bool // whether thoughts are shown as a summary, not as thoughts

	// Fields that only make sense together with others, read when all are known. They are valid as
	// long as the body.
	instructions, previous string
	input, offer, choice   *fastjson.Value
}

// keeping is what is stored of a request and its reply, for clients that continue them.
type keeping struct {
	replies *Replies
	owner   string            // the caller, to whom the stored reply belongs
	store   bool              // whether the reply is stored
	earlier []json.RawMessage // items of the conversation that previous_response_id continues
	items   []json.RawMessage // of this request, if the reply is stored
}

// read returns the request in a body. Every error is a fault of kind Invalid that names the field.
// The order of reading matters. Calls in the input use the names that the tools get, and the input
// may load tools that tool_choice names.
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
		return r.Choose(r.choice, r.tools.named)
	})
	return r.Ask, err
}

// echoes stores the value of a request's field if the response object must contain that field, too.
// It ignores other fields, and always returns nil.
func (r *request) echoes(key string, v *fastjson.Value) error {
	if slices.ContainsFunc(echoedFields, func(e echoedField) bool { return e.key == key }) {
		r.echo[key] = repeatable(v)
	}
	return nil
}

// repeatable returns a copy of a value for a reply that repeats it. Invalid UTF-8 becomes U+FFFD,
// as everywhere else. Otherwise the reply could not be decoded, and the SDK for Python would drop
// the whole stream.
func repeatable(v *fastjson.Value) json.RawMessage {
	b := field.Raw(v)
	if !utf8.Valid(b) { // else ToValidUTF8 would copy all of it
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b
}

// fields returns the fields that the body may have, each with the variable or function that reads
// its value. Fields that only concern OpenAI's own service are skipped. Unknown fields are sent
// unchanged to servers with OpenAI's chat API. The fields of this API are not sent to them, because
// they mean nothing there. The types of fields that the reply repeats are checked, because SDKs
// could not read the reply otherwise.
func (r *request) fields() field.Members {
	pass := func(*fastjson.Value) error { return nil }
	elsewhere := field.Refuse(
		"is kept by OpenAI's own service; send what it holds as input and instructions")
	return append(field.Members{
		{"model", &r.Model},
		{"stream", &r.Stream},
		{"input", &r.input},
		{"instructions", field.Given(&r.instructions)},
		{"tools", &r.offer},
		{"tool_choice", &r.choice},
		{"parallel_tool_calls", r.ReadParallel},
		{"max_output_tokens", form.ReadLimit(&r.MaxTokens)},
		// the names of other APIs
		{"max_tokens", form.ReadLimit(&r.MaxTokens)},
		{"max_completion_tokens", form.ReadLimit(&r.MaxTokens)},
		{"system", field.Given(&r.instructions)},
		{"response_format", func(v *fastjson.Value) error {
			return r.ReadFormat(v, "json_schema", "schema")
		}},
		{"format", r.ReadOllamaFormat},
		{"store", &r.kept.store},
		{"previous_response_id", &r.previous},
		{"reasoning", field.Members{{"effort", r.ReadEffort}, {"summary", r.readSummary},
			{"generate_summary", r.readSummary}}},
		{"text", r.readText},
		{"include", r.readInclude},
		{"truncation", oneOf("auto", "disabled")},
		{"max_tool_calls", new(*int64)},
		{"prompt_cache_key", new(string)}, {"prompt_cache_retention", new(string)},
		{"safety_identifier", new(string)},
		{"service_tier", new(string)}, {"user", new(string)},
		{"metadata", field.Members{}},
		{"client_metadata", pass}, {"stream_options", pass}, {"context_management", pass},
		// Without these the reply would be wrong: a background response outlives its request, which
		// is not possible here.
		{"background", field.Off(
			"a reply lasts as long as its request here; send the request without it")},
		{"conversation", elsewhere}, {"prompt", elsewhere},
		{"top_logprobs", field.Between(new(int), 0, 0,
			"probabilities are given by /v1/chat/completions only")},
		{"messages", field.Refuse("belongs to /v1/chat/completions; here it is input")},
	}, r.Sampling()...)
}

// oneOf returns a check for a field that changes nothing here. The check returns an error unless
// the field is null or one of the words, because a word that OpenAI does not know is a mistake of
// which the client should learn.
func oneOf(words ...string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var word string
		if err := field.Into(v, &word); err != nil || word == "" || slices.Contains(words, word) {
			return err
		}
		return field.Bad("", "must be one of %q, not %q", words, word)
	}
}

// readSummary stores whether the model's thoughts are shown as a summary. OpenAI shows a summary
// that another model writes. Here the thoughts themselves are shown in its place, because clients
// look for them there. readSummary also reads the field generate_summary, an older name. It returns
// an error for an unknown value.
func (r *request) readSummary(v *fastjson.Value) error {
	r.summary = r.summary || !field.IsNull(v)
	return oneOf("auto", "concise", "detailed", "none")(v)
}

// readText stores the format that the text must have. The format
// {"format":{"type":"json_schema","name":…,"schema":{…},"strict":true}} is flat in this API, while
// it is nested in chat completions. The member verbosity is only advice and is ignored. It returns
// an error if the format is wrong.
func (r *request) readText(v *fastjson.Value) error {
	r.Format = nil
	return field.Into(v, field.Members{{"format", func(v *fastjson.Value) error {
		return r.ReadFormat(v, "schema")
	}}})
}

// readInclude stores what else the response should contain. It returns an error if probabilities
// are asked for. Values for tools that OpenAI runs are ignored, because no such tool runs here.
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
