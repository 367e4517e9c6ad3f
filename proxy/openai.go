package proxy

import (
	"net/http"

	"toolnorm/adapters"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
)

// openAI is the dialect of the chat completions API, streamed and whole.
type openAI struct{}

var _ Dialect = openAI{}

// Open takes every request. Calls wait as the client's header Toolnorm-Hold says, and until they are complete where nobody
// watches them grow, and where a tool is strict: then what is wrong can still be put right.
func (openAI) Open(h http.Header, a *Ask, out Out) (Reply, error) {
	if v := h.Get("Toolnorm-Hold"); v != "" {
		hold, err := adapters.ParseHold(v)
		if err != nil {
			return nil, fault.New(fault.Invalid, "the header Toolnorm-Hold %v", err)
		}
		a.Hold = hold
	}
	if !a.Stream || anyStrict(a) {
		a.Hold = adapters.HoldCall
	}
	if a.Stream {
		return newStream(sse.NewWriter(out.W, out.Stall), a, out), nil
	}
	return &whole{out: out, model: a.Model, mayBeEmpty: len(a.Stop) > 0, probs: logprobs{wanted: a.Logprobs}}, nil
}

// anyStrict says that the client wants the arguments of some tool to fit exactly.
func anyStrict(a *Ask) bool {
	for _, t := range a.Tools {
		if t.Strict {
			return true
		}
	}
	return false
}
