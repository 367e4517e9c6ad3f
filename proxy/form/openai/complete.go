package openai

import (
	"net/http"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// Completions returns the older completions API: a text that is to be written on, without roles and tools.
// Void's autocomplete asks here, with prompt, suffix and max_tokens 300, for its providers OpenAI-Compatible,
// vLLM, LM Studio and LiteLLM; for Ollama it asks /api/generate.
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
		return r.settle()
	})
	return r.Ask, err
}

// textFields are the fields that a completions request has besides those of chats, or that mean something else there. Those
// that ask for what is not available are an error only when they really ask for it.
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

// readPrompt reads a text, alone or in an array of its own.
// OpenAI takes several texts and answers with a choice for each; a reply has one choice here, as n is 1.
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

// openText opens the reply to a completions request. It may be empty: where a text is whole there is nothing to add.
// In a chat an empty reply is an error, since agents ask again for ever.
func openText(_ http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	b := append([]byte(nil), `{"id":`...)
	b = chat.AppendQuoted(b, out.ID)
	b = append(b, `,"object":"text_completion","created":`...)
	b = strconv.AppendInt(b, out.Created.Unix(), 10)
	b = append(b, `,"model":`...)
	b = chat.AppendQuoted(b, a.Model)
	b = append(b, `,"choices":[`...)
	if a.Stream {
		return &textStream{out: sse.NewWriter(out.W, out.Stall), head: string(b), usage: a.Usage}, nil
	}
	return &textWhole{Whole: form.Whole{Out: out, MayBeEmpty: true}, head: string(b)}, nil
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

// textStream writes a completion as chunks. As in a stream of chat chunks, the last one in the buffer stays open, so
// fragments that arrive together leave together.
// Its chunks have no delta: each holds a text of its own, with the same id.
type textStream struct {
	out    *sse.Writer
	head   string // of each chunk, up to `"choices":[`
	usage  bool   // the client wants tokens counted
	open   bool   // the last chunk still lacks its end
	tail   form.Tail
	reason string // of the end; empty: the Finish event has not come
	count  chat.Counts
}

var _ form.Reply = (*textStream)(nil)

// Event takes the next event. A model's thinking has no place in this form.
// Calls are not looked for either: what looks like one is part of the text that is written on.
func (s *textStream) Event(e chat.Event) error {
	if e.Meta != nil && e.Meta.Usage != nil {
		s.count = *e.Meta.Usage
	}
	switch e.Kind {
	case chat.Finish:
		s.reason = e.Text
		return nil
	case chat.Text:
		s.append(s.tail.Join(e.Text))
	}
	if len(s.out.Buf) > batch {
		return s.Flush()
	}
	return nil
}

// append writes whole characters into the open chunk, or into a new one.
func (s *textStream) append(text string) {
	if text == "" {
		return
	}
	if !s.open {
		s.open = true
		s.out.Buf = append(append(append(s.out.Buf, "data: "...), s.head...), `{"text":"`...)
	}
	s.out.Buf = chat.AppendEscaped(s.out.Buf, text)
}

// closeChunk ends the open chunk.
func (s *textStream) closeChunk() {
	if s.open {
		s.open = false
		s.out.Buf = append(s.out.Buf, `","index":0,"logprobs":null,"finish_reason":null}]}`+"\n\n"...)
	}
}

// Flush sends what has gathered.
// An open chunk ends with it.
func (s *textStream) Flush() error {
	s.closeChunk()
	return s.out.Flush()
}

// Ping sends a comment.
func (s *textStream) Ping() error {
	s.closeChunk()
	s.out.Comment("keep-alive")
	return s.out.Flush()
}

// Close ends the stream: with the reason, the counts if they are wanted, and [DONE]; or with an error.
// The reason has a chunk of its own with an empty text, and the counts one with an empty list of choices, as
// in OpenAI's streams.
func (s *textStream) Close(err error) error {
	if err == nil && s.reason == "" {
		err = form.ErrUnfinished()
	}
	if err != nil && !s.out.Wrote() {
		return err
	}
	s.append(s.tail.Give())
	s.closeChunk()
	if err != nil {
		return failStream(s.out, err)
	}
	b := append(append(s.out.Buf, "data: "...), s.head...)
	b = append(appendText(b, "", s.reason), "]}\n\n"...)
	if s.usage {
		b = append(append(b, "data: "...), s.head...)
		b = append(appendCounts(append(b, `],"usage":`...), s.count), "}\n\n"...)
	}
	s.out.Buf = b
	return endStream(s.out)
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
