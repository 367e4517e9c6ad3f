package form

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/proxy/field"
)

// mostStop is the greatest length of all stop sequences together, in bytes. They are usually words,
// and a reply is searched for each of them.
const mostStop = 64 << 10

// ReadStop stores one stop sequence or an array of them. Empty ones are dropped, because clients
// write null, "" and [] to say that they set none. It returns an error for values that are not
// strings, and for more than mostStop bytes.
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

// ReadThink stores Ollama's switch for thinking: true, false, or a level such as "low". It returns
// an error for any other value; null changes nothing.
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

// ReadEffort reads OpenAI's level of thinking, such as "low", and sets it by SetEffort. It returns
// an error if v is no text or the level is unknown.
func (a *Ask) ReadEffort(v *fastjson.Value) error {
	var level string
	if err := field.Into(v, &level); err != nil {
		return err
	}
	return a.SetEffort(level)
}

// SetEffort stores OpenAI's level of thinking. "none" switches thinking off and every other level
// on. What a level means depends on the model. For example, gpt-oss knows low, medium and high and
// cannot stop thinking, most others know only on and off. It returns an error for an unknown level;
// "" changes nothing.
func (a *Ask) SetEffort(level string) error {
	on := true
	switch level {
	case "":
		return nil
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

// KeepAlive returns a function that reads how long the model stays loaded, as seconds or a duration
// such as "5m". A negative value means for ever, and 0 unloads the model at once. The function
// stores the client's own text in dst, since Ollama reads it. It returns an error for any other
// value. Null changes nothing.
func KeepAlive(dst *json.RawMessage) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
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
		*dst = field.Raw(v)
		return nil
	}
}

// ReadOptions stores the options of the model server, which come in one object:
// {"num_ctx":16384,"top_k":20}. Only stop sequences are stored elsewhere. While tools are offered,
// this program looks for them itself, because the server would cut the reply inside a call. It
// returns an error if an option has the wrong type.
func (a *Ask) ReadOptions(v *fastjson.Value) error {
	return Options(&a.Options, field.Members{{"stop", a.ReadStop}})(v)
}

// Options returns a function that reads an object of options. For a member in the table known, the
// table says how it is read; all other members are stored in dst. The function returns an error if
// an option has the wrong type; null changes nothing.
func Options(dst *map[string]json.RawMessage, known field.Members) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if field.IsNull(v) {
			return nil
		}
		return known.Read(v, Option(dst))
	}
}

// optionTypes are the types of Ollama's options. Ollama refuses another type with a message that
// does not name the field. Other servers ignore such an option, and then a temperature of "0"
// changes nothing.
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

// number, integer and flag return new variables of the types in optionTypes. A value is read into
// such a variable only to check it, because the client's own text is passed on.
func number() any  { return new(*float64) }
func integer() any { return new(*int64) }
func flag() any    { return new(bool) }

// Option returns a function that stores one option of the model server in dst. It returns an error
// if a known option has the wrong type. Unknown options and the range of values are left to the
// server, which knows best.
func Option(dst *map[string]json.RawMessage) func(key string, v *fastjson.Value) error {
	return func(key string, v *fastjson.Value) error {
		if field.IsNull(v) {
			return nil
		}
		keep(dst, key, v)
		if kind, known := optionTypes[key]; known {
			return field.Into(v, kind())
		}
		return nil
	}
}

// keep stores a member in dst, as the client wrote it. It makes the map if there is none.
func keep(dst *map[string]json.RawMessage, key string, v *fastjson.Value) {
	if *dst == nil {
		*dst = make(map[string]json.RawMessage)
	}
	(*dst)[key] = field.Raw(v)
}

// ReadParallel stores parallel_tool_calls; false ends a reply after its first call. It returns an
// error for a value that is not a boolean.
func (a *Ask) ReadParallel(v *fastjson.Value) error {
	several := true
	err := field.Into(v, &several)
	a.Single = !several
	return err
}

// ReadFormat stores a format such as {"type":"text"}. The other types are "json_object" and
// "json_schema". The parameter path leads to the schema, which OpenAI's two APIs have in different
// places. For both types a member schema is accepted as well, because other services, and
// Instructor's mode JSON_SCHEMA, write {"type":"json_object","schema":…}. It returns an error for
// an unknown type or an invalid schema; null changes nothing.
func (a *Ask) ReadFormat(v *fastjson.Value, path ...string) error {
	if field.IsNull(v) {
		return nil
	}
	schema := v.Get(path...)
	if beside := v.Get("schema"); field.IsNull(schema) && !field.IsNull(beside) {
		schema, path = beside, []string{"schema"}
	}
	switch kind := string(v.GetStringBytes("type")); {
	case kind == "text":
	case kind == "json_object" && field.IsNull(schema):
		a.Format = json.RawMessage(`"json"`)
	case kind == "json_object", kind == "json_schema":
		return a.ReadSchema(strings.Join(path, "."), schema)
	default:
		return field.Bad("type", "must be text, json_object or json_schema, not %q", kind)
	}
	return nil
}

// ReadOllamaFormat stores the field format of Ollama's API, which is "json" or a JSON Schema. It
// returns an error for any other value.
func (a *Ask) ReadOllamaFormat(v *fastjson.Value) error {
	if NoFormat(v) {
		return nil
	}
	a.Format = field.Raw(v)
	if v.Type() != fastjson.TypeObject && string(v.GetStringBytes()) != "json" {
		return field.Bad("", `must be "json" or a JSON Schema, an object`)
	}
	return nil
}

// NoFormat reports whether Ollama's field format asks for no format. Null does, and so does an
// empty text, as in Ollama: langchaingo writes "format":"" in every request.
func NoFormat(v *fastjson.Value) bool {
	return field.IsNull(v) || v.Type() == fastjson.TypeString && len(v.GetStringBytes()) == 0
}

// ReadSchema stores a JSON Schema that the whole reply must fit, in a.Format. It returns an error
// that names path if the schema is not an object.
func (a *Ask) ReadSchema(path string, schema *fastjson.Value) (err error) {
	a.Format, err = readSchema(schema)
	return field.Within(path, err)
}

// readSchema returns the JSON Schema in v. It returns an error if v is not an object. true and
// false are schemas as well, but no API accepts them.
func readSchema(v *fastjson.Value) (json.RawMessage, error) {
	if v == nil || v.Type() != fastjson.TypeObject {
		return nil, field.Bad("", "must be a JSON Schema, an object, not %s", field.KindOf(v))
	}
	return field.Raw(v), nil
}

// ReadLimit returns a function that stores a reply's length limit, in tokens, in dst. Null changes
// nothing. The function returns an error for numbers below 1, as the services with these APIs do.
// They must not be passed on, because Ollama takes 0 and -1 for "no limit", and so a client that
// wanted no tokens once got 8,000.
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

// Sampling returns the fields that say how the model should write, with the names of OpenAI's and
// Ollama's APIs. Absent fields stay nil, so that the model's own settings apply. A server gets only
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

// KeepUnknown stores an unknown field unchanged. Only servers with OpenAI's API get it. It always
// returns nil.
func (a *Ask) KeepUnknown(key string, v *fastjson.Value) error {
	keep(&a.Extra, key, v)
	return nil
}
