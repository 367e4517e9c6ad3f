package remote

import (
	"encoding/json"

	"toolnorm/chat"
	"toolnorm/tools"
)

// plainAnswer returns a server's answer to prompts/get or resources/read in a form that every
// client can read, since clients refuse the whole answer for one odd member. As in the results of
// tools, nothing that the server says is lost: what has no place becomes a text. Answers to other
// requests, and those in which a server asks something, are returned unchanged.
func plainAnswer(method string, params, answer json.RawMessage) json.RawMessage {
	var key string
	var plain func(one json.RawMessage) []object
	switch method {
	case "prompts/get":
		key, plain = "messages", plainMessages
	case "resources/read":
		uri := uriOf(params)
		key, plain = "contents", func(one json.RawMessage) []object {
			return []object{plainContents(uri, one)}
		}
	default:
		return answer
	}
	o, err := readObject(answer)
	if wording(o.get("resultType")) == "input_required" {
		return answer
	}
	inside := o.any(key)
	if own := o.without("meta", "resulttype", "description", key); inside == nil &&
		(err != nil || len(own) > 0) {
		o, inside = object{}, answer // the answer is the value alone
	}
	all := []object{}
	for _, one := range elements(inside) {
		all = append(all, plain(one)...)
	}
	out, err := o.without(key).proper().with(key, all)
	if err != nil {
		return answer
	}
	return out.text()
}

// plainContents returns one piece of a resource as MCP defines it: with an address, and with a text
// or bytes. If the piece has no address, it gets the parameter uri.
func plainContents(uri string, one json.RawMessage) object {
	o, err := readObject(one)
	if err != nil {
		o = object{{"text", one}}
	}
	if inner, err := readObject(o.get("resource")); err == nil { // as in a tool's result
		o = inner
	}
	out := o.proper()
	if wording(out.get("uri")) == "" {
		out = out.set("uri", uri)
	}
	data, _ := dataOf(out)
	switch text := out.get("text"); {
	case text != nil:
		return out.set("text", said(text))
	case data != nil:
		return out.without("data", "blob").set("blob", data)
	}
	return out.without("data", "blob").set("text", string(one))
}

// plainMessages converts one message of a prompt. In MCP, the content of a message is one part. So
// a message with a list of parts, as in the APIs of models, becomes several messages.
func plainMessages(one json.RawMessage) (all []object) {
	o, _ := readObject(one) // a text alone has no members
	role, content := wording(o.get("role")), o.any("content")
	if content == nil {
		content = one
	}
	if role != "assistant" {
		role = "user" // there are only these two
	}
	for _, part := range elements(content) {
		if !isWhole(part) {
			part = partText(readPart(part))
		}
		all = append(all, o.without("role", "content", "type", "text").proper().
			set("role", role).set("content", part))
	}
	return all
}

// partText returns a piece of content in MCP's JSON.
func partText(p tools.Part) json.RawMessage {
	inner := struct {
		URI  string  `json:"uri"`
		Text *string `json:"text,omitempty"`
		Blob []byte  `json:"blob,omitempty"`
		MIME string  `json:"mimeType,omitempty"`
	}{URI: p.URI, Blob: p.Data, MIME: p.MIME}
	if p.Data == nil {
		inner.Text = &p.Text
	}
	o := object{}
	switch p.Kind {
	case tools.Image, tools.Audio:
		kind := map[bool]string{true: "image", false: "audio"}[p.Kind == tools.Image]
		o = o.set("type", kind).set("data", p.Data).set("mimeType", p.MIME)
	case tools.Resource:
		o = o.set("type", "resource").set("resource", inner)
	case tools.Link:
		o = o.set("type", "resource_link").set("uri", p.URI).set("name", p.Text)
	default:
		o = o.set("type", "text").set("text", p.Text)
	}
	return o.text()
}

// proper returns a copy of the object without members whose value has a wrong type, because clients
// would refuse the whole object.
func (o object) proper() (out object) {
	for _, m := range o {
		if isProper(m) {
			out = append(out, m)
		}
	}
	return out
}

// set returns a copy of the object in which the key has a new value; a new key is added at the end.
// The value must be one that can always be encoded.
func (o object) set(key string, value any) object {
	text, _ := chat.JSON(value)
	out, _ := o.with(key, json.RawMessage(text))
	return out
}
