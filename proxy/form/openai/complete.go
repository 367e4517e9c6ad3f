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
// and tools. The editor Void's autocomplete uses it for its providers OpenAI-Compatible, vLLM, LM
// Studio and LiteLLM, with prompt, suffix and max_tokens 300. For Ollama Void uses /api/generate.
func Completions() form.API {
	return form.API{Name: "completion", Prefix: "cmpl-", Read: readCompletion, Open: openText,
		Fail: fault.Write}
}

// readCompletion returns the request in a body of the completions API. Every error is a fault of
// kind Invalid that names the field. The request's field Continue is always set, because a request
// without it is a chat.
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
		r.settle()
		return nil
	})
	return r.Ask, err
}

// textFields returns the fields, with what reads each of them, that only requests of
// /v1/completions have, or that mean something else in them than in chats. A field for something
// that this program cannot do is an error only if its value asks for it.
func (r *request) textFields() field.Members {
	chats := field.Refuse("belongs to /v1/chat/completions")
	return field.Members{
		{"prompt", r.readPrompt},
		{"suffix", &r.Continue.Suffix},
		{"best_of", field.Between(new(int), 1, 1,
			"only one text a request is written, so there is no best one")},
		{"echo", field.Off("the prompt is not repeated in the reply")},
		{"logprobs", field.Refuse("probabilities are given by /v1/chat/completions only")},
		{"messages", chats}, {"tools", chats}, {"tool_choice", chats},
	}
}

// readPrompt stores a text, which is given alone or as the only element of an array. It returns an
// error for token numbers, and for several texts. OpenAI answers several texts with a choice for
// each, but a completion here has one choice.
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

// openText returns the reply to a completions request, and never fails. The reply may be empty,
// because a text may need no continuation. In a chat an empty reply is an error, since agents then
// ask again for ever.
func openText(_ http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	head := headOf("text_completion", a, out)
	if a.Stream {
		return newTextStream(sse.NewWriter(out.W, out.Stall), head, a, out), nil
	}
	return &textWhole{Whole: form.Whole{Out: out, MayBeEmpty: true}, head: head}, nil
}

// appendText appends the one choice of a completion. Its logprobs is null and never left out, as in
// OpenAI's replies.
func appendText(b []byte, text, reason string) []byte {
	b = append(b, `{"text":`...)
	b = chat.AppendQuoted(b, text)
	b = append(b, `,"index":0,"logprobs":null,"finish_reason":`...)
	b = chat.AppendQuoted(b, reason)
	return append(b, '}')
}

// newTextStream returns a stream of a completion. It is like a stream of a chat, but each chunk has
// a text in place of a delta, and no role. There is no place for a model's thinking, and calls are
// not searched for. A reply without any text is not an error.
func newTextStream(w *sse.Writer, head string, a *form.Ask, out form.Out) *stream {
	head = "data: " + head
	return &stream{out: w, head: head, prefix: head + "{", text: `"text":"`, usage: a.Usage,
		older: true, role: true, reply: out}
}

// textWhole collects a reply of /v1/completions, the API in which the model continues a prompt, if
// the reply is not streamed. It writes no headers about repaired calls, because nobody looks for
// calls in such a text.
type textWhole struct {
	form.Whole
	head string
}

var _ form.Reply = (*textWhole)(nil)

// Close implements form.Reply. It writes the reply, or returns the error of a reply that failed.
func (w *textWhole) Close(err error) error {
	if err = w.Ended(err); err != nil {
		return err
	}
	b := appendText([]byte(w.head), w.Reply.Text.String(), w.Reply.End.Text)
	b = appendCounts(append(b, `],"usage":`...), w.Reply.Usage)
	return form.WriteJSON(w.Out.W, http.StatusOK, append(b, "}\n"...))
}
