package proxy

import (
	"encoding/json"
	"time"

	"github.com/valyala/fastjson"
)

// streamOptions reads whether the client wants tokens counted.
func (a *Ask) streamOptions(v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	return each(v, func(key string, v *fastjson.Value) error {
		if key == "include_usage" {
			return flag(&a.Usage)(v)
		}
		return nil
	})
}

// readStop reads one stop sequence or an array of them. Empty ones stop nothing.
func (a *Ask) readStop(v *fastjson.Value) error {
	a.Stop = nil
	add := func(_ int, v *fastjson.Value) error {
		var s string
		if err := text(&s)(v); err != nil {
			return err
		}
		if s != "" {
			a.Stop = append(a.Stop, s)
		}
		return nil
	}
	if isNull(v) {
		return nil
	}
	if v.Type() == fastjson.TypeArray {
		return items(v, add)
	}
	return add(0, v)
}

// readThink reads Ollama's switch: true, false, or a level as in reasoning_effort.
func (a *Ask) readThink(v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString {
		return a.readEffort(v)
	}
	if isNull(v) {
		return nil
	}
	var on bool
	if err := flag(&on)(v); err != nil {
		return err
	}
	a.Think = &on
	return nil
}

// readReasoning reads {"effort": …}, as some clients write reasoning_effort.
func (a *Ask) readReasoning(v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	return each(v, func(key string, v *fastjson.Value) error {
		if key == "effort" {
			return a.readEffort(v)
		}
		return nil
	})
}

// readEffort reads OpenAI's level of thinking. "none" switches it off and every other level on.
func (a *Ask) readEffort(v *fastjson.Value) error {
	var level string
	if err := text(&level)(v); err != nil || level == "" {
		return err
	}
	on := true
	switch level {
	case "none":
		on, level = false, ""
	case "minimal", "low", "medium", "high", "xhigh", "max":
	default:
		return bad("", "must be none, minimal, low, medium, high, xhigh or max, not %q", level)
	}
	a.Think, a.Effort = &on, level
	return nil
}

// readKeep reads how long the model stays loaded: seconds, or a time such as "5m".
func readKeep(dst *json.RawMessage, v *fastjson.Value) error {
	switch v.Type() {
	case fastjson.TypeNull:
		return nil
	case fastjson.TypeNumber:
	case fastjson.TypeString:
		if _, err := time.ParseDuration(string(v.GetStringBytes())); err != nil {
			return bad("", `must be a number of seconds or a time such as "5m"`)
		}
	default:
		return bad("", `must be a number of seconds or a time such as "5m", not %s`, kindOf(v))
	}
	b, err := raw(v)
	*dst = b
	return err
}

// readOptions reads options of the model server's own: all of them in a field "options", or a field that is one.
func readOptions(dst *map[string]json.RawMessage, key string, v *fastjson.Value) error {
	switch {
	case isNull(v):
		return nil
	case key == "options":
		return each(v, func(key string, v *fastjson.Value) error { return readOption(dst, key, v) })
	}
	return readOption(dst, key, v)
}

// readOption reads one option of the model server.
func readOption(dst *map[string]json.RawMessage, key string, v *fastjson.Value) error {
	if isNull(v) {
		return nil
	}
	b, err := raw(v)
	if err != nil {
		return err
	}
	if *dst == nil {
		*dst = make(map[string]json.RawMessage)
	}
	(*dst)[key] = b
	return nil
}
