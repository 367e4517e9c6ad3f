package responses

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// request is a request while it is read, and what its reply needs to know of it: the names of its tools, how
// thoughts are shown, and what the response object repeats. form.Ask has no place for these, as no other form
// needs them.
type request struct {
	*form.Ask
	tools toolset
	echo  map[string]json.RawMessage // fields that the response object repeats

	owner    string // who asks; what is kept belongs to it
	store    bool   // the reply is to be kept
	replies  *replies
	earlier  []json.RawMessage // items of the conversation that previous_response_id goes on with
	items    []json.RawMessage // of this request, when the reply is kept
	seal     bool              // the client wants thoughts in encrypted_content, to send them back
	summary  bool              // thoughts are shown as a summary, else as they are
	previous string

	said, thought []string // texts of the last turn of the assistant, which endTurn joins

	// Fields that make sense together with others alone, read when all are there. They live as long as the
	// body.
	instructions         string
	input, offer, choice *fastjson.Value
}

// read reads a request. Every error is a fault of kind Invalid that names the field. The order matters: calls
// in the input are called by the names that the tools get, and the input may load tools that tool_choice
// names.
func (r *request) read(body []byte) (*form.Ask, error) {
	r.Ask, r.store = new(form.Ask), true
	r.echo = map[string]json.RawMessage{}
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := field.Each(v, r.field); err != nil {
			return err
		}
		if err := field.Within("tools", r.readTools(r.offer)); err != nil {
			return err
		}
		if err := r.converse(); err != nil {
			return err
		}
		r.tellLeftOut()
		return r.Choose(r.choice, r.tools.named, "function", "custom", "tool_search")
	})
	return r.Ask, err
}

// field reads one field of the body. A field of the Responses API that only speaks of OpenAI's own service is
// passed over, one that nobody here knows is kept as it is. What is kept goes to a server that speaks
// OpenAI's API; the fields of this one would mean nothing to it.
func (r *request) field(key string, v *fastjson.Value) error {
	if slices.ContainsFunc(echoed, func(e echoedField) bool { return e.key == key }) {
		b, err := repeatable(v)
		if err != nil {
			return err
		}
		r.echo[key] = b
	}
	switch key {
	case "model":
		return field.Text(&r.Model)(v)
	case "stream":
		return field.Flag(&r.Stream)(v)
	case "input":
		r.input = v
		return nil
	case "instructions":
		return field.Text(&r.instructions)(v)
	case "tools":
		r.offer = v
		return nil
	case "tool_choice":
		r.choice = v
		return nil
	case "parallel_tool_calls":
		return r.ReadParallel(v)
	case "max_output_tokens":
		return form.ReadLimit(&r.MaxTokens)(v)
	case "store":
		return field.Flag(&r.store)(v)
	case "previous_response_id":
		return field.Text(&r.previous)(v)
	}
	return r.manner(key, v)
}

// repeatable copies a value that a reply will hold. Bytes that are no UTF-8 become U+FFFD there, as everywhere else: a reply
// with such a byte cannot be decoded, and the SDK for Python gives the whole stream up.
func repeatable(v *fastjson.Value) (json.RawMessage, error) {
	b, err := field.Raw(v)
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), err
}

// manner reads the fields that say how the model should answer, and in which form. It is apart from field
// because a function has a length that one can read. What the reply repeats has the type that it has there, or the SDKs could
// not read the reply.
func (r *request) manner(key string, v *fastjson.Value) error {
	switch key {
	case "reasoning":
		return r.readReasoning(v)
	case "text":
		return r.readText(v)
	case "include":
		return r.readInclude(v)
	case "truncation":
		return oneOf(v, "auto", "disabled")
	case "max_tool_calls":
		var most *int64
		return field.Integer(&most)(v)
	case "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "user":
		var text string
		return field.Text(&text)(v)
	case "metadata":
		if field.IsNull(v) || v.Type() == fastjson.TypeObject {
			return nil
		}
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	case "client_metadata", "stream_options", "context_management":
		return nil
	}
	if slices.Contains(elsewhere, key) {
		return refused(key, v)
	}
	return r.ReadSampling(key, v)
}

// elsewhere are the fields that refused knows.
var elsewhere = []string{"background", "conversation", "prompt", "top_logprobs", "messages"}

// refused reports a field without which the reply would be a wrong one. null and false ask for nothing. A
// background response outlives its request, which nothing here does; a conversation and a prompt lie at
// OpenAI.
func refused(key string, v *fastjson.Value) error {
	switch key {
	case "background":
		on := false
		if err := field.Flag(&on)(v); err != nil || !on {
			return err
		}
		return field.Bad("", "a reply lasts as long as its request here; send the request without it")
	case "conversation", "prompt":
		if !field.IsNull(v) {
			return field.Bad("", "is kept by OpenAI's own service; send what it holds as input and instructions")
		}
	case "top_logprobs":
		var n *int64
		if err := field.Integer(&n)(v); err != nil || n == nil || *n == 0 {
			return err
		}
		return field.Bad("", "probabilities are given by /v1/chat/completions only")
	case "messages":
		return field.Bad("", "belongs to /v1/chat/completions; here it is input")
	}
	return nil
}

// oneOf checks that a field is null or one of the words. It is for fields that change nothing here: a word of
// which OpenAI knows nothing is a mistake all the same, and whoever made it should hear of it.
func oneOf(v *fastjson.Value, words ...string) error {
	var word string
	if err := field.Text(&word)(v); err != nil || word == "" || slices.Contains(words, word) {
		return err
	}
	return field.Bad("", "must be one of %q, not %q", words, word)
}

// readReasoning reads how much the model is to think, and how its thoughts are shown. OpenAI shows a summary
// that another model writes; here the thoughts themselves stand in its place, since that is where clients
// look for them. generate_summary is the older name.
func (r *request) readReasoning(v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	return field.Each(v, func(key string, v *fastjson.Value) error {
		switch key {
		case "effort":
			return r.ReadEffort(v)
		case "summary", "generate_summary":
			r.summary = r.summary || !field.IsNull(v)
			return oneOf(v, "auto", "concise", "detailed", "none")
		}
		return nil
	})
}

// readText reads the form that the text must have. verbosity only advises.
// {"format":{"type":"json_schema","name":…,"schema":{…},"strict":true}} is flat here, where chat completions
// wrap it.
func (r *request) readText(v *fastjson.Value) error {
	r.Format = nil
	if field.IsNull(v) {
		return nil
	}
	return field.Each(v, func(key string, v *fastjson.Value) error {
		if key != "format" || field.IsNull(v) {
			return nil
		}
		return r.ReadFormat(v, "schema")
	})
}

// readInclude reads what the response should hold besides. What belongs to tools that OpenAI runs asks for
// nothing here, as no such tool runs.
func (r *request) readInclude(v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	return field.Items(v, func(_ int, v *fastjson.Value) error {
		var what string
		err := field.Text(&what)(v)
		switch what {
		case "reasoning.encrypted_content":
			r.seal = true
		case "message.output_text.logprobs":
			return field.Bad("", "probabilities are given by /v1/chat/completions only")
		}
		return err
	})
}
