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

// Completions returns the older completions API: a text that is to be written on, without roles and
// tools. Void's autocomplete asks here, with prompt, suffix and max_tokens 300, for its providers
// OpenAI-Compatible, vLLM, LM Studio and LiteLLM; for Ollama it asks /api/generate.
func Completions() form.API {
	return form.API{Name: "completion", Prefix: "cmpl-", Read: readCompletion, Open: openText, Fail: fault.Write}
}

// readCompletion reads a request of the completions API.
// A null Continue would make a chat of it, so the member is there from the start.
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

// textFields returns the fields that a completions request has besides those of chats, or that mean
// something else there. Those that ask for what is not available are an error only when they really
// ask for it.
func (r *request) textFields() field.Members {
	chats := field.Refused("belongs to /v1/chat/completions")
	return field.Members{
		{"prompt", r.readPrompt},
		{"suffix", &r.Continue.Suffix},
		{"best_of", readBestOf},
		{"echo", readEcho},
		{"logprobs", field.Refused("probabilities are given by /v1/chat/completions only")},
		{"messages", chats}, {"tools", chats}, {"tool_choice", chats},
	}
}

// readBestOf reads of how many texts the best is wanted.
func readBestOf(v *fastjson.Value) error {
	var of *int64
	if err := field.Into(v, &of); err != nil || of == nil || *of == 1 {
		return err
	}
	return field.Bad("", "only one text a request is written, so there is no best one")
}

// readEcho reads whether the prompt is to be repeated.
func readEcho(v *fastjson.Value) error {
	echo := false
	if err := field.Into(v, &echo); err != nil || !echo {
		return err
	}
	return field.Bad("", "the prompt is not repeated in the reply")
}

// readPrompt reads a text, alone or in an array of its own. OpenAI takes several texts and answers
// with a choice for each; a reply has one choice here, as n is 1.
func (r *request) readPrompt(v *fastjson.Value) error {
	if v.Type() != fastjson.TypeArray {
		return field.Into(v, &r.Continue.Prompt)
	}
	list := v.GetArray()
	if len(list) > 0 && list[0].Type() != fastjson.TypeString {
		return field.Bad("", "must be a text; token numbers are not taken, since only the model's own server knows them")
	}
	if len(list) != 1 {
		return field.Bad("", "must be one text; send a request for each of the %d", len(list))
	}
	return field.Into(list[0], &r.Continue.Prompt)
}

// openText opens the reply to a completions request. It may be empty: where a text is whole there
// is nothing to add. In a chat an empty reply is an error, since agents ask again for ever.
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

// newTextStream makes a stream of completions: that of chats, whose chunks have no delta, each
// holding a text of its own. A model's thinking has no place in this form, and calls are not looked
// for. It may be empty, and says no role.
func newTextStream(w *sse.Writer, head string, a *form.Ask, out form.Out) *stream {
	head = "data: " + head
	return &stream{out: w, head: head, prefix: head + "{", text: `"text":"`, usage: a.Usage, older: true, role: true, reply: out}
}

// textWhole collects a completion.
// There are no headers of repairs: nothing is read in a text that is written on.
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
