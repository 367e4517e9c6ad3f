package proxy

import (
	"encoding/json"

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

// readEffort reads OpenAI's level of thinking. "none" switches it off and every other level on; the level itself stays
// among the unread fields for a model that knows levels.
func (a *Ask) readEffort(v *fastjson.Value) error {
	var level string
	if err := a.keep("reasoning_effort", v); err != nil {
		return err
	}
	if err := text(&level)(v); err != nil || level == "" {
		return err
	}
	on := true
	switch level {
	case "none":
		on = false
	case "minimal", "low", "medium", "high", "xhigh", "max":
	default:
		return bad("", "must be none, minimal, low, medium, high, xhigh or max, not %q", level)
	}
	a.Think = &on
	return nil
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
