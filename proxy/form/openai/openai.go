package openai

import (
	"net/http"

	"toolnorm/adapters"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/form"
)

// Chat returns the chat completions API. Open may put other forms in front of Form.
func Chat(open func(h http.Header, a *form.Ask, out form.Out) (form.Reply, error)) form.API {
	return form.API{Name: "chat", Prefix: "chatcmpl-", Read: readChat, Open: open, Fail: fault.Write}
}

// Form is the form of the chat completions API, streamed and whole.
// The zero value is ready, and has no state: each reply has its own.
type Form struct{}

var _ form.Form = Form{}

// Open takes every request. Calls wait as the client's header Toolnorm-Hold says, and until they are complete where nobody
// watches them grow, and where a tool is strict: then what is wrong can still be put right.
func (Form) Open(h http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	if v := h.Get("Toolnorm-Hold"); v != "" {
		hold, err := adapters.ParseHold(v)
		if err != nil {
			return nil, fault.New(fault.Invalid, "the header Toolnorm-Hold: %v", err)
		}
		a.Hold = hold
	}
	if !a.Stream || anyStrict(a) {
		a.Hold = adapters.HoldCall
	}
	if a.Stream {
		return newStream(sse.NewWriter(out.W, out.Stall), a, out), nil
	}
	return &whole{Whole: form.Whole{Out: out, Model: a.Model, MayBeEmpty: len(a.Stop) > 0}, probs: logprobs{wanted: a.Logprobs}}, nil
}

// anyStrict says that the client wants the arguments of some tool to fit exactly.
// OpenAI's strict promises arguments that match the schema, and a fragment that has left cannot be taken back.
func anyStrict(a *form.Ask) bool {
	for _, t := range a.Tools {
		if t.Strict {
			return true
		}
	}
	return false
}
