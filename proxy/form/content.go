package form

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
)

// ReadContent reads what a message says: a string, null, one part, or an array of parts. The text
// of each part becomes a line, since words would run together otherwise: qwen-code sends one
// message as five text parts, four of them its own reminders.
func ReadContent(m *chat.Message, v *fastjson.Value) error {
	m.Content, m.Images = "", nil
	switch v.Type() {
	case fastjson.TypeString, fastjson.TypeNull:
		return field.Into(v, &m.Content)
	case fastjson.TypeArray, fastjson.TypeObject:
		var r parts
		read := r.read
		if v.Type() == fastjson.TypeArray {
			read = func(v *fastjson.Value) error { return field.Items(v, r.read) }
		}
		err := read(v)
		r.into(m)
		return err
	}
	return field.Bad("", "must be a string, null or an array of parts, not %s", field.KindOf(v))
}

// ReadResult reads what a tool answered. Clients that pass on a tool's answer unchanged write any
// JSON there: what is neither text nor a part stays JSON, so that the model sees it. `"content":
// {"temp": 21}` reaches the model as {"temp":21}; a 400 would end an agent over a harmless
// shortcut.
func ReadResult(m *chat.Message, v *fastjson.Value) error {
	if v.Type() != fastjson.TypeObject {
		read := *m
		if ReadContent(&read, v) == nil {
			*m = read
			return nil
		}
	}
	b, err := field.Raw(v)
	m.Content, m.Images = string(b), nil
	return err
}

// parts gathers what the parts of a content hold.
// Thoughts among them are kept apart from the text, or the model would read them as its answer.
type parts struct {
	lines, thoughts []string
	images          [][]byte
}

// into puts the gathered parts into a message. Thoughts in a field of their own win over those
// among the parts.
func (r *parts) into(m *chat.Message) {
	m.Content, m.Images = strings.Join(r.lines, "\n"), r.images
	m.Reasoning = cmp.Or(m.Reasoning, strings.Join(r.thoughts, "\n"))
}

// read reads one part: text, what the model thought, or an image. The types that begin with input_
// and output_ are those of the Responses API, and are accepted as well. Any other type is an error:
// if a part were dropped silently, the reply would be wrong.
func (r *parts) read(v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString {
		r.lines = append(r.lines, string(v.GetStringBytes()))
		return nil
	}
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	var line string
	switch kind := string(v.GetStringBytes("type")); kind {
	case "text", "input_text", "output_text", "refusal":
		if kind != "refusal" {
			kind = "text"
		}
		err := field.Member(v, kind, &line)
		r.lines = append(r.lines, line)
		return err
	case "reasoning", "thinking":
		return r.thought(v)
	case "image_url", "input_image":
		img, err := readImage(v.Get("image_url"))
		r.images = append(r.images, img)
		return field.Within("image_url", err)
	default:
		return field.Bad("type", "must be text or image_url, not %q", kind)
	}
}

// thought reads a part of what the model thought: its text is in a member with the name of its
// type, or in text. Thoughts in a client's private form are skipped, since a model cannot read
// them.
func (r *parts) thought(v *fastjson.Value) error {
	for _, key := range []string{"text", "thinking", "reasoning"} {
		if s := v.Get(key); s != nil && s.Type() == fastjson.TypeString {
			r.thoughts = append(r.thoughts, string(s.GetStringBytes()))
			break
		}
	}
	return nil
}

// readImage decodes a data URL, given alone or as {"url": …}. Other URLs are refused: fetching them
// would let any caller reach what only this machine can reach.
func readImage(v *fastjson.Value) ([]byte, error) {
	if v != nil && v.Type() == fastjson.TypeObject {
		img, err := readImage(field.OrNull(v.Get("url")))
		return img, field.Within("url", err)
	}
	var url string
	if err := field.Into(field.OrNull(v), &url); err != nil {
		return nil, err
	}
	head, data, ok := strings.Cut(url, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return nil, field.Bad("",
			"must be a data URL in base64; images are not fetched from the network")
	}
	return DecodeImage(data)
}

// sealPrefix is the beginning of a thought that SealThought has sealed.
const sealPrefix = "tnr1."

// SealThought returns what a model thought as a text for clients that keep thoughts without looking
// at them, and send them back. Nothing in it is secret: the client is shown the same text beside
// it.
func SealThought(text string) string {
	return sealPrefix + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// OpenThought returns the thought that SealThought was given; false for a text of another service.
func OpenThought(text string) (thought string, ok bool) {
	rest, ok := strings.CutPrefix(text, sealPrefix)
	if !ok {
		return "", false
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	return string(b), err == nil
}
