package form

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
)

// mostStop is how long stop sequences may be together, in bytes. They are words, and a reply is
// searched for each of them.
const mostStop = 64 << 10

// ReadStop reads one stop sequence or an array of them. Empty ones stop nothing.
// Clients write null, "" and [] to say that they set none.
func (a *Ask) ReadStop(v *fastjson.Value) error {
	a.Stop = nil
	bytes := 0
	add := func(v *fastjson.Value) error {
		var s string
		err := field.Into(v, &s)
		if bytes += len(s); bytes > mostStop {
			err = field.Bad("", "may have %d bytes at most, with those in front of it", mostStop)
		}
		if s != "" {
			a.Stop = append(a.Stop, s)
		}
		return err
	}
	if v.Type() == fastjson.TypeArray {
		return field.Items(v, add)
	}
	return add(v)
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
	if err := field.Into(v, &on); err != nil {
		return err
	}
	a.Think = &on
	return nil
}

// ReadEffort reads OpenAI's level of thinking. "none" switches it off and every other level on.
// What a level means depends on the model family: gpt-oss knows low, medium and high and cannot
// stop thinking, most others know only on and off.
func (a *Ask) ReadEffort(v *fastjson.Value) error {
	var level string
	if err := field.Into(v, &level); err != nil || level == "" {
		return err
	}
	on := true
	switch level {
	case "none":
		on, level = false, ""
	case "minimal", "low", "medium", "high", "xhigh", "max":
	default:
		return field.Bad("", "must be none, minimal, low, medium, high, xhigh or max, not %q",
			level)
	}
	a.Think, a.Effort = &on, level
	return nil
}

// KeepAlive returns the reader of the time for which the model stays loaded: seconds, or a duration
// such as "5m". A negative value means for ever, and 0 unloads the model at once. The client's
// spelling is kept, since Ollama reads it.
func KeepAlive(dst *json.RawMessage) func(*fastjson.Value) error {
	return func(v *fastjson.Value) (err error) {
		switch v.Type() {
		case fastjson.TypeNull:
			return nil
		case fastjson.TypeNumber:
		case fastjson.TypeString:
			if _, err := time.ParseDuration(string(v.GetStringBytes())); err != nil {
				return field.Bad("", `must be a number of seconds or a time such as "5m"`)
			}
		default:
			return field.Bad("", `must be a number of seconds or a time such as "5m", not %s`,
				field.KindOf(v))
		}
		*dst, err = field.Raw(v)
		return err
	}
}

// ReadOptions reads the options of the model server, all in one object:
// {"num_ctx":16384,"top_k":20}. Stop sequences are not among the options that are passed on: while
// tools are offered they are matched here, since the server would cut inside a call.
func (a *Ask) ReadOptions(v *fastjson.Value) error {
	return Options(&a.Options, field.Members{{"stop", a.ReadStop}})(v)
}

// Options returns the reader of an object of options. Members of the table known are read by it
// instead.
func Options(dst *map[string]json.RawMessage, known field.Members) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if field.IsNull(v) {
			return nil
		}
		return known.Read(v, Option(dst))
	}
}

// optionTypes are the kinds of Ollama's options. Ollama refuses another kind with a message that
// names no field of the request; other servers ignore it, and a temperature of "0" then changes
// nothing.
var optionTypes = map[string]func() any{
	"temperature": number, "top_p": number, "min_p": number, "typical_p": number, "tfs_z": number,
	"repeat_penalty":   number,
	"presence_penalty": number, "frequency_penalty": number, "mirostat_tau": number,
	"mirostat_eta": number,
	"num_ctx":      integer, "num_predict": integer, "num_keep": integer, "num_batch": integer,
	"num_gpu": integer, "main_gpu": integer,
	"num_thread": integer, "top_k": integer, "repeat_last_n": integer, "seed": integer,
	"mirostat": integer,
	"use_mmap": flag, "use_mlock": flag, "numa": flag, "low_vram": flag, "penalize_newline": flag,
}

// The types of optionTypes. A value is read into one of them only to check it: the client's
// spelling is what is passed on.
func number() any  { return new(*float64) }
func integer() any { return new(*int64) }
func flag() any    { return new(bool) }

// Option returns the reader of one option of the model server. It checks the type of options that
// it knows; unknown options and the size of values are left to the server, which knows best.
func Option(dst *map[string]json.RawMessage) func(key string, v *fastjson.Value) error {
	return func(key string, v *fastjson.Value) error {
		if field.IsNull(v) {
			return nil
		}
		err := keep(dst, key, v) // before the check, since a reader unescapes what it reads
		if kind, known := optionTypes[key]; known && err == nil {
			err = field.Into(v, kind())
		}
		return err
	}
}

// keep keeps a member as it is.
func keep(dst *map[string]json.RawMessage, key string, v *fastjson.Value) error {
	b, err := field.Raw(v)
	if *dst == nil {
		*dst = make(map[string]json.RawMessage)
	}
	(*dst)[key] = b
	return err
}

// ReadParallel reads parallel_tool_calls: false ends a reply after its first call.
func (a *Ask) ReadParallel(v *fastjson.Value) error {
	several := true
	err := field.Into(v, &several)
	a.Single = !several
	return err
}

// ReadFormat reads {"type":"text"}, "json_object" or "json_schema". The path leads to the schema,
// which OpenAI's two APIs have in different places.
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

// ReadSchema reads the JSON Schema that the whole reply must have, in the form of Ollama's field
// format. path says where the schema is in the field, for the error.
func (a *Ask) ReadSchema(path string, schema *fastjson.Value) (err error) {
	a.Format, err = readSchema(schema)
	return field.Within(path, err)
}

// readSchema reads a JSON Schema. true and false are schemas as well, but no API takes them.
func readSchema(v *fastjson.Value) (json.RawMessage, error) {
	if v == nil || v.Type() != fastjson.TypeObject {
		return nil, field.Bad("", "must be a JSON Schema, an object, not %s", field.KindOf(v))
	}
	return field.Raw(v)
}

// ReadLimit returns the reader of a reply's length limit in tokens; null leaves dst. 0 and -1 are
// refused, as by the services whose APIs these are. Ollama takes them for "no limit", and so a
// client that wanted no tokens once got 8,000.
func ReadLimit(dst *int) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var n *int64
		if err := field.Into(v, &n); err != nil || n == nil {
			return err
		}
		if *n < 1 {
			return field.Bad("", "must be at least 1, not %d; without it there is no limit", *n)
		}
		*dst = int(min(*n, math.MaxInt32))
		return nil
	}
}

// Sampling returns the fields that say how the model should write, in the names of OpenAI's and
// Ollama's APIs. Absent fields stay nil, so that the model's own settings count: a server gets only
// what the client sent.
func (a *Ask) Sampling() field.Members {
	option := Option(&a.Options)
	return field.Members{
		{"stop", a.ReadStop},
		{"seed", &a.Seed},
		{"temperature", &a.Temperature},
		{"top_p", &a.TopP},
		{"presence_penalty", &a.PresencePenalty},
		{"frequency_penalty", &a.FrequencyPenalty},
		{"think", a.ReadThink},
		{"keep_alive", KeepAlive(&a.Keep)},
		{"options", a.ReadOptions},
		{"num_ctx", option}, {"top_k", option}, {"min_p", option}, {"repeat_penalty", option},
	}
}

// KeepUnknown keeps an unknown field. Only servers that speak OpenAI's API get it, unchanged.
func (a *Ask) KeepUnknown(key string, v *fastjson.Value) error { return keep(&a.Extra, key, v) }
