package messages

import (
	"net/http"
	"strconv"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/exchange"
	"toolnorm/proxy/form"
)

// API returns the Messages API.
func API() form.API {
	return form.API{
		Name: "messages", Prefix: "msg_", Fail: fault.WriteAnthropic, Open: open,
		Fields: map[string]string{"messages": "messages", "tools": "tools", "response_format": "output_config.format"},
		Read: func(body []byte) (*form.Ask, error) {
			r, err := read(body)
			return r.Ask, err
		},
	}
}

// open opens the reply. A whole reply can wait for whole calls, and so can what is strict: until it
// has left, a call that does not fit can still be put right.
func open(h http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	if err := a.SetAlone(h); err != nil {
		return nil, err
	}
	if err := a.SetHold(h); err != nil {
		return nil, err
	}
	out.W.Header().Set("Request-Id", out.ID) // where Anthropic's SDKs look for it
	if a.Stream {
		return newStream(sse.NewWriter(out.W, out.Stall), a, out), nil
	}
	return &whole{Whole: form.Whole{Out: out, Model: a.Model, MayBeEmpty: len(a.Stop) > 0}, quiet: quiet(a), seal: a.SealThoughts}, nil
}

// quiet reports whether the client did not ask for thoughts, so what a model thinks all the same is
// not shown. Programs that never asked read content[0].text, and a thinking block in front of it
// breaks them; gpt-oss cannot leave thinking.
func quiet(a *form.Ask) bool { return a.Think != nil && !*a.Think }

// CountTokens returns what serves /v1/messages/count_tokens. The count is an estimate, by what the
// model's server counted for earlier requests: none of them counts without reading the prompt.
func CountTokens(run *exchange.Runner, of chat.Counter) exchange.Handler {
	api := form.API{Name: "count_tokens", Prefix: "msg_", Fail: fault.WriteAnthropic}
	return run.Logged(api, func(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
		if of == nil {
			return fault.New(fault.NotFound, "tokens cannot be counted on this server")
		}
		body, err := run.Body(w, r)
		if err != nil {
			return err
		}
		ask, err := read(body)
		if err != nil {
			return err
		}
		if err := ask.SetAlone(r.Header); err != nil { // as for a reply: what is refused there has no count
			return err
		}
		if err := run.OrDefault(r.Context(), &ask.Model); err != nil {
			return err
		}
		x.Model = ask.Model
		n, err := of.CountTokens(r.Context(), &ask.Request)
		if err != nil {
			return err
		}
		x.Count.Prompt = n
		return form.WriteJSON(w, http.StatusOK, append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(n), 10), "}\n"...))
	})
}

// stopReason returns Anthropic's reason for the end of a reply with so many calls, and the stop
// sequence if one ended it.
func stopReason(end *chat.Event, calls int) (reason, sequence string) {
	switch {
	case end.Text == chat.Length:
		return "max_tokens", ""
	case calls > 0:
		return "tool_use", ""
	case end.Meta != nil && end.Meta.Stopped != "":
		return "stop_sequence", end.Meta.Stopped
	}
	return "end_turn", ""
}

// signature ends the thinking block of a thought that is shown. It marks the thought as one that
// came from here and was never encrypted: clients want some text in its place, and hand it back
// unread. Nothing is proved by it, since a changed thought could only mislead the model of the one
// who changed it. A thought that is not shown stands in the signature itself (form.SealThought), so
// that it comes back with the conversation all the same.
const signature = "toolnorm"
