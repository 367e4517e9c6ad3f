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

// ReadOptions reads the options of the model server, all in one object: {"num_ctx":16384,"top_k":20}. Stop sequences are taken
// out of them: while tools are offered they are matched here, since the server would cut inside a call.
func (a *Ask) ReadOptions(v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	return field.Each(v, func(key string, v *fastjson.Value) error {
		if key == "stop" {
			return a.ReadStop(v)
		}
		return ReadOption(&a.Options, key, v)
	})
}

// optionTypes are the kinds of Ollama's options. Ollama refuses another kind with a sentence of its own, which names no field of
// the request; other servers pass it over, and a temperature of "0" then changes nothing.
var optionTypes = map[string]func() func(*fastjson.Value) error{
	"temperature": number, "top_p": number, "min_p": number, "typical_p": number, "tfs_z": number, "repeat_penalty": number,
	"presence_penalty": number, "frequency_penalty": number, "mirostat_tau": number, "mirostat_eta": number,
	"num_ctx": integer, "num_predict": integer, "num_keep": integer, "num_batch": integer, "num_gpu": integer, "main_gpu": integer,
	"num_thread": integer, "top_k": integer, "repeat_last_n": integer, "seed": integer, "mirostat": integer,
	"use_mmap": flag, "use_mlock": flag, "numa": flag, "low_vram": flag, "penalize_newline": flag,
}

// The readers of optionTypes. They check alone: what is sent on is the spelling of the client.
func number() func(*fastjson.Value) error  { return field.Number(new(*float64)) }
func integer() func(*fastjson.Value) error { return field.Integer(new(*int64)) }
func flag() func(*fastjson.Value) error    { return field.Flag(new(bool)) }

// ReadOption reads one option of the model server, which knows best what it may be: an option of another name, and how large a
// value is, are the server's to judge.
func ReadOption(dst *map[string]json.RawMessage, key string, v *fastjson.Value) error {
	if field.IsNull(v) {
		return nil
	}
	b, err := field.Raw(v) // first: a reader unescapes what it looks at
	if kind, known := optionTypes[key]; known && err == nil {
		err = kind()(v)
	}
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

// ReadLimit reads a reply's length limit in tokens; null leaves dst. 0 and -1 are refused, as the services refuse them whose APIs
// these are: taken for "no limit", as a server of Ollama's takes them, they wrote 8,000 tokens for a client that wanted none.
func ReadLimit(dst *int) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var n *int64
		if err := field.Integer(&n)(v); err != nil || n == nil {
			return err
		}
		if *n < 1 {
			return field.Bad("", "must be at least 1, not %d; without it there is no limit", *n)
		}
		*dst = int(min(*n, math.MaxInt32))
		return nil
	}
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
	case "options":
		return a.ReadOptions(v)
	case "num_ctx", "top_k", "min_p", "repeat_penalty":
		return ReadOption(&a.Options, key, v)
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
