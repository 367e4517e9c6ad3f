package proxy

import (
	"encoding/base64"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// readContent reads a string, null, one part, or an array of parts whose texts become lines.
func readContent(m *chat.Message, v *fastjson.Value) error {
	m.Content, m.Images = "", nil
	switch v.Type() {
	case fastjson.TypeString, fastjson.TypeNull:
		return text(&m.Content)(v)
	case fastjson.TypeArray:
		var r parts
		err := items(v, func(_ int, v *fastjson.Value) error { return r.read(v) })
		r.into(m)
		return err
	case fastjson.TypeObject:
		var r parts
		err := r.read(v)
		r.into(m)
		return err
	}
	return bad("", "must be a string, null or an array of parts, not %s", kindOf(v))
}

// readResult reads what a tool answered. Clients that hand on what they got write any JSON there: what is no text and no
// part stays JSON, so that the model sees it.
func readResult(m *chat.Message, v *fastjson.Value) error {
	if v.Type() != fastjson.TypeObject {
		read := *m
		if readContent(&read, v) == nil {
			*m = read
			return nil
		}
	}
	b, err := raw(v)
	m.Content, m.Images = string(b), nil
	return err
}

// parts gathers what the parts of a content hold.
type parts struct {
	lines, thoughts []string
	images          [][]byte
}

// into puts it into a message.
func (r *parts) into(m *chat.Message) {
	m.Content, m.Images = strings.Join(r.lines, "\n"), r.images
	if m.Reasoning == "" {
		m.Reasoning = strings.Join(r.thoughts, "\n")
	}
}

// read reads one part: text, what the model thought, or an image.
func (r *parts) read(v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString {
		r.lines = append(r.lines, string(v.GetStringBytes()))
		return nil
	}
	if v.Type() != fastjson.TypeObject {
		return bad("", "must be an object, not %s", kindOf(v))
	}
	var line string
	switch kind := string(v.GetStringBytes("type")); kind {
	case "text", "input_text", "output_text":
		err := within("text", text(&line)(orNull(v.Get("text"))))
		r.lines = append(r.lines, line)
		return err
	case "refusal":
		err := within("refusal", text(&line)(orNull(v.Get("refusal"))))
		r.lines = append(r.lines, line)
		return err
	case "reasoning", "thinking":
		return r.thought(v)
	case "image_url", "input_image":
		img, err := readImage(v.Get("image_url"))
		r.images = append(r.images, img)
		return within("image_url", err)
	default:
		return bad("type", "must be text or image_url, not %q", kind)
	}
}

// thought reads a part of what the model thought: its text lies under the name of its type, or under text. Thoughts in a
// form of a client's own say nothing to a model.
func (r *parts) thought(v *fastjson.Value) error {
	for _, key := range []string{"text", "thinking", "reasoning"} {
		if s := v.Get(key); s != nil && s.Type() == fastjson.TypeString {
			r.thoughts = append(r.thoughts, string(s.GetStringBytes()))
			break
		}
	}
	return nil
}

// readImage decodes a data URL, given alone or as {"url": …}.
func readImage(v *fastjson.Value) ([]byte, error) {
	if v != nil && v.Type() == fastjson.TypeObject {
		img, err := readImage(orNull(v.Get("url")))
		return img, within("url", err)
	}
	var url string
	if err := text(&url)(orNull(v)); err != nil {
		return nil, err
	}
	head, data, ok := strings.Cut(url, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return nil, bad("", "must be a data URL in base64; images are not fetched from the network")
	}
	return fromBase64(data)
}

// fromBase64 decodes a picture.
func fromBase64(data string) ([]byte, error) {
	img, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil || len(img) == 0 {
		return nil, bad("", "does not hold base64")
	}
	return img, nil
}

// null stands for a field that is absent.
var null = fastjson.MustParse("null")

// orNull is v, or null when v is absent.
func orNull(v *fastjson.Value) *fastjson.Value {
	if v == nil {
		return null
	}
	return v
}
