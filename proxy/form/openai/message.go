package openai

import (
	"bytes"
	"slices"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// readMessages stores the conversation. It begins a new list, so that the last field counts if a
// body has the field twice. It returns an error that names the wrong turn.
func (r *request) readMessages(v *fastjson.Value) (err error) {
	r.Messages, err = form.Messages(v, readMessage)
	return err
}

// Messages returns the conversation in a body, which is a list of messages or an object with a
// member messages. It returns an error if there is no such list or a message is invalid.
func Messages(body []byte) (all []chat.Message, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		body = slices.Concat([]byte(`{"messages":`), body, []byte("}"))
	}
	err = field.Parse(body, func(v *fastjson.Value) error {
		return field.Object(v, field.Members{{"messages", func(v *fastjson.Value) (err error) {
			all, err = form.Messages(v, readMessage)
			return err
		}}})
	})
	if err == nil && all == nil {
		err = field.AsFault(field.Bad("messages", "is missing"))
	}
	return all, err
}

// readMessage returns one turn, or an error if it is invalid.
func readMessage(v *fastjson.Value) (chat.Message, error) {
	return form.ReadMessage(v, "system, developer, user, assistant or tool")
}
