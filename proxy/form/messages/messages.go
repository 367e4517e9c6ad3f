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
		Fields: map[string]string{"messages": "messages", "tools": "tools",
			"response_format": "output_config.format"},
		Read: func(body []byte) (*form.Ask, error) {
			r, err := read(body)
			return r.Ask, err
		},
	}
}

// open returns the reply to a request. If the reply is not streamed or a tool is strict, each call
// is held back until it is whole, because a call can be corrected only before it is sent. It
// returns an error if the request asks for another client form, or its Toolnorm-Hold header is
// invalid.
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
	return &whole{Whole: form.Whole{Out: out, Model: a.Model, MayBeEmpty: len(a.Stop) > 0},
		quiet: quiet(a), seal: a.SealThoughts}, nil
}

// quiet reports whether thoughts are not shown because the client did not ask for them. The model
// may think all the same, as gpt-oss always does. Programs that did not ask for thoughts read
// content[0].text, and a thinking block before it breaks them.
func quiet(a *form.Ask) bool { return a.Think != nil && !*a.Think }

// CountTokens returns the handler of /v1/messages/count_tokens. The count is an estimate by the
// model server's counts for earlier requests, because model servers cannot count without reading
// the prompt. A request that would be refused as a message is refused here as well.
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
		// as for a reply, since a request that is refused there must have no count
		if err := ask.SetAlone(r.Header); err != nil {
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
		return form.WriteJSON(w, http.StatusOK,
			append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(n), 10), "}\n"...))
	})
}

// stopReason returns Anthropic's stop reason for a reply with this number of calls, and the stop
// sequence if one ended the reply.
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

// promptTokens returns the number of prompt tokens that the server has counted. Before that it
// returns an estimate, or 0 if there is none.
func promptTokens(usage chat.Counts, out form.Out) int {
	if usage.Prompt > 0 || out.PromptTokens == nil {
		return usage.Prompt
	}
	return out.PromptTokens()
}

// signature is the signature of a thought that is shown. It says that the thought comes from this
// server and is not encrypted. Clients require some text in this place, and send it back unread. It
// proves nothing, which does no harm, since a client that changes a thought could only mislead its
// own model. A thought that is not shown is inside the signature (form.SealThought), so that it
// returns with the conversation all the same.
const signature = "toolnorm"
