package form

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
)

// ReadStop reads one stop sequence or an array of them. Empty ones stop nothing.
// null, "" and [] are all written by clients that mean none.
func (a *Ask) ReadStop(v *fastjson.Value) error {
	a.Stop = nil
	add := func(_ int, v *fastjson.Value) error {
		var s string
		if err := field.Text(&s)(v); err != nil {
			return err
		}
		if s != "" {
			a.Stop = append(a.Stop, s)
		}
		return nil
	}
	if field.IsNull(v) {
		return nil
	}
	if v.Type() == fastjson.TypeArray {
		return field.Items(v, add)
	}
	return add(0, v)
}

// ReadThink reads Ollama's switch: true, false, or a level as in reasoning_effort.
func (a *Ask) ReadThink(v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString {
		return a.ReadEffort(v)
	}
	if field.IsNull(v) {
		return nil
	}
	var on bool
	if err := field.Flag(&on)(v); err != nil {
		return err
	}
	a.Think = &on
	return nil
}

// ReadEffort reads OpenAI's level of thinking. "none" switches it off and every other level on.
// What a level means is the model family's to say: gpt-oss knows low, medium and high and cannot leave
// thinking, most others know only on and off.
func (a *Ask) ReadEffort(v *fastjson.Value) error {
	var level string
	if err := field.Text(&level)(v); err != nil || level == "" {
		return err
	}
	on := true
	switch level {
	case "none":
		on, level = false, ""
	case "minimal", "low", "medium", "high", "xhigh", "max":
	default:
		return field.Bad("", "must be none, minimal, low, medium, high, xhigh or max, not %q", level)
	}
	a.Think, a.Effort = &on, level
	return nil
}

// ReadKeepAlive reads how long the model stays loaded: seconds, or a time such as "5m".
// A negative time is for ever, and 0 unloads the model at once. The spelling is kept, as Ollama reads it.
func ReadKeepAlive(dst *json.RawMessage, v *fastjson.Value) error {
	switch v.Type() {
	case fastjson.TypeNull:
		return nil
	case fastjson.TypeNumber:
	case fastjson.TypeString:
		if _, err := time.ParseDuration(string(v.GetStringBytes())); err != nil {
			return field.Bad("", `must be a number of seconds or a time such as "5m"`)
		}
	default:
		return field.Bad("", `must be a number of seconds or a time such as "5m", not %s`, field.KindOf(v))
	}
	b, err := field.Raw(v)
	*dst = b
	return err
}

// ReadOptions reads options of the model server's own: all of them in a field "options", or a field that is one.
// {"options":{"num_ctx":16384}} and {"num_ctx":16384} mean the same. Values are not looked at: which options
// there are, and of which type, only the server knows.
func ReadOptions(dst *map[string]json.RawMessage, key string, v *fastjson.Value) error {
	switch {
	case field.IsNull(v):
		return nil
	case key == "options":
		return field.Each(v, func(key string, v *fastjson.Value) error { return ReadOption(dst, key, v) })
	}
	return ReadOption(dst, key, v)
}

// ReadOption reads one option of the model server.
func ReadOption(dst *map[string]json.RawMessage, key string, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	b, err := field.Raw(v)
	if err != nil {
		return err
	}
	if *dst == nil {
		*dst = make(map[string]json.RawMessage)
	}
	(*dst)[key] = b
	return nil
}

// ReadParallel reads parallel_tool_calls: false ends a reply behind its first call.
func (a *Ask) ReadParallel(v *fastjson.Value) error {
	several := true
	err := field.Flag(&several)(v)
	a.Single = !several
	return err
}

// ReadFormat reads {"type":"text"}, "json_object" or "json_schema", with the schema at a path below: OpenAI's two APIs have it
// at different ones.
func (a *Ask) ReadFormat(v *fastjson.Value, path ...string) error {
	switch kind := string(v.GetStringBytes("type")); kind {
	case "text":
	case "json_object":
		a.Format = json.RawMessage(`"json"`)
	case "json_schema":
		return a.ReadSchema(strings.Join(path, "."), v.Get(path...))
	default:
		return field.Bad("type", "must be text, json_object or json_schema, not %q", kind)
	}
	return nil
}

// ReadSchema reads the JSON Schema that the whole reply must have, in the form of Ollama's field format. path is where the field
// has it, for the error.
func (a *Ask) ReadSchema(path string, schema *fastjson.Value) (err error) {
	if schema == nil || schema.Type() != fastjson.TypeObject {
		return field.Bad(path, "must be a JSON Schema, an object, not %s", field.KindOf(schema))
	}
	a.Format, err = field.Raw(schema)
	return err
}

// Limit is a reply's length limit in tokens; what is not positive, or not said, means none, as many clients have it.
func Limit(tokens *int64) int {
	if tokens == nil {
		return 0
	}
	return int(min(max(*tokens, 0), math.MaxInt32))
}

// ReadSampling reads a field that says how the model should write, in the names of OpenAI's and Ollama's APIs. A field that is none of
// these is kept unread: a server that speaks OpenAI's API gets it as it is, nobody else does.
// What is absent stays nil, so that the model's own settings count: a server sees only what the client gave.
func (a *Ask) ReadSampling(key string, v *fastjson.Value) error {
	switch key {
	case "stop":
		return a.ReadStop(v)
	case "seed":
		return field.Integer(&a.Seed)(v)
	case "temperature":
		return field.Number(&a.Temperature)(v)
	case "top_p":
		return field.Number(&a.TopP)(v)
	case "presence_penalty":
		return field.Number(&a.PresencePenalty)(v)
	case "frequency_penalty":
		return field.Number(&a.FrequencyPenalty)(v)
	case "think":
		return a.ReadThink(v)
	case "keep_alive":
		return ReadKeepAlive(&a.Keep, v)
	case "options", "num_ctx", "top_k", "min_p", "repeat_penalty":
		return ReadOptions(&a.Options, key, v)
	}
	b, err := field.Raw(v)
	if err != nil {
		return err
	}
	if a.Extra == nil {
		a.Extra = make(map[string]json.RawMessage)
	}
	a.Extra[key] = b
	return nil
}
