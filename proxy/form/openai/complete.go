package openai

import (
	"net/http"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// Completions returns the older completions API, in which the model continues a text, without roles
// and tools. Void's autocomplete uses it, with prompt, suffix and max_tokens 300, for its providers
// OpenAI-Compatible, vLLM, LM Studio and LiteLLM; for Ollama it uses /api/generate.
func Completions() form.API {
	return form.API{Name: "completion", Prefix: "cmpl-", Read: readCompletion, Open: openText,
		Fail: fault.Write}
}

// readCompletion reads a request of the completions API.
// A nil Continue would make it a chat, so Continue is set from the start.
func readCompletion(body []byte) (*form.Ask, error) {
	r := &request{Ask: &form.Ask{Request: chat.Request{Continue: new(chat.Continuation)}}}
	err := field.Parse(body, func(v *fastjson.Value) error {
		if err := append(r.textFields(), r.fields()...).Read(v, r.rest); err != nil {
			return err
		}
		if r.Continue.Prompt == "" {
			return field.Bad("prompt", "must be a text that is not empty")
		}
		if r.n != nil && *r.n != 1 {
			return field.Bad("n", "only n=1 is supported")
		}
		return r.settle()
	})
	return r.Ask, err
}

// textFields returns the fields that only completions requests have, or that mean something else
// there than in chats. A field that asks for something that is not available is an error only when
// its value really asks for it.
func (r *request) textFields() field.Members {
	chats := field.Refuse("belongs to /v1/chat/completions")
	return field.Members{
		{"prompt", r.readPrompt},
		{"suffix", &r.Continue.Suffix},
		{"best_of", field.Only(1,
			"only one text a request is written, so there is no best one")},
		{"echo", field.Off("the prompt is not repeated in the reply")},
		{"logprobs", field.Refuse("probabilities are given by /v1/chat/completions only")},
		{"messages", chats}, {"tools", chats}, {"tool_choice", chats},
	}
}

// readPrompt reads a text, alone or as the only element of an array. OpenAI accepts several texts
// and answers with a choice for each; here a completion has one choice.
func (r *request) readPrompt(v *fastjson.Value) error {
	if v.Type() != fastjson.TypeArray {
		return field.Into(v, &r.Continue.Prompt)
	}
	list := v.GetArray()
	if len(list) > 0 && list[0].Type() != fastjson.TypeString {
		return field.Bad("",
			"must be a text; token numbers are not taken, since only the model's own server knows them")
	}
	if len(list) != 1 {
		return field.Bad("", "must be one text; send a request for each of the %d", len(list))
	}
	return field.Into(list[0], &r.Continue.Prompt)
}

// openText opens the reply to a completions request. The reply may be empty, since a text may need
// no continuation. In a chat an empty reply is an error, since agents ask again for ever.
func openText(_ http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	head := headOf("text_completion", a, out)
	if a.Stream {
		return newTextStream(sse.NewWriter(out.W, out.Stall), head, a, out), nil
	}
	return &textWhole{Whole: form.Whole{Out: out, MayBeEmpty: true}, head: head}, nil
}

// appendText appends the one choice of a completion.
// logprobs is null and never left out, as in OpenAI's replies.
func appendText(b []byte, text, reason string) []byte {
	b = append(b, `{"text":`...)
	b = chat.AppendQuoted(b, text)
	b = append(b, `,"index":0,"logprobs":null,"finish_reason":`...)
	b = chat.AppendQuoted(b, reason)
	return append(b, '}')
}

// newTextStream makes a stream of completions: like a stream of chats, but each chunk holds a text
// instead of a delta, without a role. A model's thinking has no place in this form, and calls are
// not looked for. The stream may be empty.
func newTextStream(w *sse.Writer, head string, a *form.Ask, out form.Out) *stream {
	head = "data: " + head
	return &stream{out: w, head: head, prefix: head + "{", text: `"text":"`, usage: a.Usage,
		older: true, role: true, reply: out}
}

// textWhole collects a completion.
// It writes no headers about repairs: calls are not looked for in a continued text.
type textWhole struct {
	form.Whole
	head string
}

var _ form.Reply = (*textWhole)(nil)

// Close writes the reply, or returns err for the caller to answer.
func (w *textWhole) Close(err error) error {
	if err = w.Ended(err); err != nil {
		return err
	}
	b := appendText([]byte(w.head), w.Reply.Text.String(), w.Reply.End.Text)
	b = appendCounts(append(b, `],"usage":`...), w.Reply.Usage)
	return form.WriteJSON(w.Out.W, http.StatusOK, append(b, "}\n"...))
}
