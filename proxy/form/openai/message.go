package openai

import (
	"bytes"
	"slices"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// roles lists the roles of a message, for errors.
const roles = "system, developer, user, assistant or tool"

// Messages returns the conversation in a body. The body is a list of messages, or an object with a
// member messages. It returns an error if there is no such list or a message is invalid.
func Messages(body []byte) (all []chat.Message, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		body = slices.Concat([]byte(`{"messages":`), body, []byte("}"))
	}
	err = field.Parse(body, func(v *fastjson.Value) error {
		return field.Object(v, field.Members{{"messages", form.Messages(&all, roles)}})
	})
	if err == nil && all == nil {
		err = field.AsFault(field.Bad("messages", "is missing"))
	}
	return all, err
}
