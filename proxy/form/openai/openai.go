package openai

import (
	"net/http"

	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

// Chat returns the chat completions API. The function open may try other forms before Form.
func Chat(open func(h http.Header, a *form.Ask, out form.Out) (form.Reply, error)) form.API {
	return form.API{Name: "chat", Prefix: "chatcmpl-", Read: readChat, Open: open,
		Fail: fault.Write}
}

// Form is the client form of the chat completions API, both streamed and whole. The zero value is
// ready to use. It has no state, since each reply has its own.
type Form struct{}

var _ form.Form = Form{}

// Open implements form.Form. It accepts every request, so this form must be the last in the list.
// It returns an error if the request's header Toolnorm-Hold, which says how much of a call is held
// back, is invalid.
func (Form) Open(h http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	if err := a.SetHold(h); err != nil {
		return nil, err
	}
	if a.Stream {
		return newStream(sse.NewWriter(out.W, out.Stall), a, out), nil
	}
	return &whole{Whole: form.Whole{Out: out, Model: a.Model, MayBeEmpty: len(a.Stop) > 0},
		probs: logprobs{form.Logprobs{Wanted: a.Logprobs}}}, nil
}
