package responses

import (
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// item is one piece of a reply's output: a message, a thought or a call. Its text grows until the
// item is done.
type item struct {
	shape  *shape
	id     string
	index  int             // in the output
	text   strings.Builder // of a message or a thought, or the arguments of a call
	callID string
	tool   tool
	cut    bool // whether the reply ended inside it, or with an error
}

// shape describes how items of one kind (messages, thoughts or calls) are written: the names of
// their events and of their members. Messages and thoughts have a list of parts, here always one;
// calls have none.
type shape struct {
	kind, id string // the type, and the prefix of its ids

	partAdded, partDone string // events of a part; empty: the item has no part
	index               string // the member with the index of a part
	part                string // the type of a part

	delta, done string // events of the text; empty: the text is only sent when the item is done
	member      string // the member with the whole text
	buffered    bool   // whether the text is made from the arguments when they are complete
}

// The shapes of items. A thought is written as a summary for clients that ask for one. Otherwise it
// is written as the thought itself, which servers of open models show but OpenAI's service never
// does.
var (
	messageShape = &shape{
		kind: "message", id: "msg_", index: "content_index", part: "output_text", member: "text",
		partAdded: "response.content_part.added", partDone: "response.content_part.done",
		delta: "response.output_text.delta", done: "response.output_text.done",
	}
	thoughtShape = &shape{
		kind: "reasoning", id: "rs_", index: "content_index", part: "reasoning_text",
		member:    "text",
		partAdded: "response.content_part.added", partDone: "response.content_part.done",
		delta: "response.reasoning_text.delta", done: "response.reasoning_text.done",
	}
	summaryShape = &shape{
		kind: "reasoning", id: "rs_", index: "summary_index", part: "summary_text", member: "text",
		partAdded: "response.reasoning_summary_part.added",
		partDone:  "response.reasoning_summary_part.done",
		delta:     "response.reasoning_summary_text.delta",
		done:      "response.reasoning_summary_text.done",
	}
	callShapes = map[toolKind]*shape{
		function: {
			kind: "function_call", id: "fc_", member: "arguments",
			delta: "response.function_call_arguments.delta",
			done:  "response.function_call_arguments.done",
		},
		custom: {
			kind: "custom_tool_call", id: "ctc_", member: "input", buffered: true,
			delta: "response.custom_tool_call_input.delta",
			done:  "response.custom_tool_call_input.done",
		},
		search: {kind: "tool_search_call", id: "tsc_", buffered: true},
	}
)

// isCall reports whether the item is a call, which a client runs.
func (it *item) isCall() bool { return it.callID != "" }

// newItem returns a new item of a reply. The item's id differs from the call's id, because the
// agent pi combines both into its own id, and openai-agents distinguishes them. The item's id
// contains the reply's id (msg_REPLY_0), so that the item can be found again.
func newItem(s *shape, replyID string, index int) *item {
	return &item{shape: s, index: index, id: s.id + strings.TrimPrefix(replyID, idPrefix) + "_" +
		strconv.Itoa(index)}
}

// replyOf returns the id of the reply to which the item with this id belongs.
func replyOf(id string) string {
	_, rest, _ := strings.Cut(id, "_")
	rest, _, _ = strings.Cut(rest, "_")
	return idPrefix + rest
}

// shapeOf returns how an item is written: as a message if k is chat.Text, and as a thought
// otherwise. Thoughts have two notations, of which the request chooses one for all thoughts of its
// reply.
func (r *request) shapeOf(k chat.Kind) *shape {
	switch {
	case k == chat.Text:
		return messageShape
	case r.summary:
		return summaryShape
	}
	return thoughtShape
}

// whole returns the item's whole text as the client gets it. The text of a custom tool is taken out
// of a JSON string in the arguments that the model wrote. That can only be done when all of it is
// there, because half of an escape sequence would be read as another character.
func (it *item) whole() string {
	if it.shape.buffered && it.tool.kind == custom {
		return textOf(it.text.String())
	}
	return it.text.String()
}

// appendItem appends the JSON of an item. If done is true, the item has all of its content.
// Otherwise its content is empty, as when the item begins.
func (r *request) appendItem(b []byte, it *item, done bool) []byte {
	status, text := "in_progress", ""
	if done {
		status, text = "completed", it.whole()
		if it.cut {
			status = "incomplete"
		}
	}
	b = append(append(append(b, `{"type":"`...), it.shape.kind...), `","id":`...)
	b = chat.AppendQuoted(b, it.id)
	b = append(append(append(b, `,"status":"`...), status...), '"')
	switch it.shape.kind {
	case "message":
		b = append(b, `,"role":"assistant","content":[`...)
		if done {
			b = it.appendPart(b, text)
		}
		b = append(b, ']')
	case "reasoning":
		b = r.appendThought(b, it, text, done)
	default:
		b = it.appendCall(b, text, done)
	}
	return append(b, '}')
}

// appendThought appends the members of a reasoning item. The member summary must be present, even
// if it is empty, because SDKs iterate over it. If the client wants encrypted thoughts, the member
// encrypted_content has the whole thought once more, since clients store either it or the text.
func (r *request) appendThought(b []byte, it *item, text string, done bool) []byte {
	b = append(b, `,"summary":[`...)
	if done && it.shape == summaryShape {
		b = it.appendPart(b, text)
	}
	b = append(b, ']')
	if it.shape == thoughtShape {
		b = append(b, `,"content":[`...)
		if done {
			b = it.appendPart(b, text)
		}
		b = append(b, ']')
	}
	if r.seal && done {
		b = chat.AppendQuoted(append(b, `,"encrypted_content":`...), form.SealThought(text))
	}
	return b
}

// appendCall appends the members of a call. The namespace is a member of its own next to the name,
// where clients look for it. The arguments of a search are an object, those of a function a string.
func (it *item) appendCall(b []byte, text string, done bool) []byte {
	b = chat.AppendQuoted(append(b, `,"call_id":`...), it.callID)
	if it.tool.kind == search {
		b = append(b, `,"execution":"client","arguments":`...)
		if !done {
			return append(b, '{', '}')
		}
		// texts in quotes are made valid when they are escaped
		return append(b, strings.ToValidUTF8(text, "\uFFFD")...)
	}
	if it.tool.namespace != "" {
		b = chat.AppendQuoted(append(b, `,"namespace":`...), it.tool.namespace)
	}
	b = chat.AppendQuoted(append(b, `,"name":`...), it.tool.name)
	b = append(append(append(b, `,"`...), it.shape.member...), `":`...)
	return chat.AppendQuoted(b, text)
}

// appendPart appends the one part of a message or a thought. A text has lists of annotations and
// probabilities, because SDKs read them without checking whether they are present.
func (it *item) appendPart(b []byte, text string) []byte {
	b = append(append(append(b, `{"type":"`...), it.shape.part...), `","text":`...)
	b = chat.AppendQuoted(b, text)
	if it.shape == messageShape {
		b = append(b, `,"annotations":[],"logprobs":[]`...)
	}
	return append(b, '}')
}
