package proxy

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// parseCompletion reads a request of the completions API: a text that is to be written on.
func parseCompletion(body []byte) (*Ask, error) {
	a := &Ask{Request: chat.Request{Continue: new(chat.Continuation)}}
	err := parse(body, func(v *fastjson.Value) error {
		var in incoming
		if err := each(v, func(key string, v *fastjson.Value) error { return a.textField(&in, key, v) }); err != nil {
			return err
		}
		if a.Continue.Prompt == "" {
			return bad("prompt", "must be a text that is not empty")
		}
		return in.apply(a)
	})
	return a, err
}

// textField reads one field of a completions request. Those that ask for what cannot be had are an error only when they
// really ask for it.
func (a *Ask) textField(in *incoming, key string, v *fastjson.Value) error {
	switch key {
	case "prompt":
		return a.readPrompt(v)
	case "suffix":
		return text(&a.Continue.Suffix)(v)
	case "best_of":
		var of *int64
		if err := integer(&of)(v); err != nil || of == nil || *of == 1 {
			return err
		}
		return bad("", "only one text a request is written, so there is no best one")
	case "echo":
		echo := false
		if err := flag(&echo)(v); err != nil || !echo {
			return err
		}
		return bad("", "the prompt is not repeated in the reply")
	case "logprobs":
		if isNull(v) {
			return nil
		}
		return bad("", "probabilities are given by /v1/chat/completions only")
	case "messages", "tools", "tool_choice":
		return bad("", "belongs to /v1/chat/completions")
	}
	return a.field(in, key, v)
}

// readPrompt reads a text, alone or in an array of its own.
func (a *Ask) readPrompt(v *fastjson.Value) error {
	if v.Type() != fastjson.TypeArray {
		return text(&a.Continue.Prompt)(v)
	}
	list := v.GetArray()
	if len(list) > 0 && list[0].Type() != fastjson.TypeString {
		return bad("", "must be a text; token numbers are not taken, since only the model's own server knows them")
	}
	if len(list) != 1 {
		return bad("", "must be one text; send a request for each of the %d", len(list))
	}
	return text(&a.Continue.Prompt)(list[0])
}
