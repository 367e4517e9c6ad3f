package form

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
)

// ReadContent stores the content of a message, v, in m. The content is a string, null, one part, or
// an array of parts. The text of each part becomes a line of its own, because words would run
// together otherwise. For example, qwen-code sends one message as five text parts, four of which
// are its own reminders. It returns an error for any other value or an invalid part.
func ReadContent(m *chat.Message, v *fastjson.Value) error {
	m.Content, m.Images = "", nil
	switch v.Type() {
	case fastjson.TypeString, fastjson.TypeNull:
		return field.Into(v, &m.Content)
	case fastjson.TypeArray, fastjson.TypeObject:
		var r Parts
		read := r.read
		if v.Type() == fastjson.TypeArray {
			read = func(v *fastjson.Value) error { return field.Items(v, r.read) }
		}
		err := read(v)
		m.Content, m.Images = strings.Join(r.Lines, "\n"), r.Images
		m.Reasoning = cmp.Or(m.Reasoning, strings.Join(r.Thoughts, "\n")) // of a field of its own
		return err
	}
	return field.Bad("", "must be a string, null or an array of parts, not %s", field.KindOf(v))
}

// ReadResult stores the result of a tool, v, in m. Some clients pass on a tool's result unchanged,
// which may be any JSON. A value that is neither text nor parts stays JSON, so that the model sees
// it: `"content": {"temp": 21}` reaches the model as {"temp":21}. An object is a part only if it
// has a text or an image. Results are never refused, because a status 400 would end an agent over a
// harmless shortcut.
func ReadResult(m *chat.Message, v *fastjson.Value) {
	read := *m
	if err := ReadContent(&read, v); err == nil &&
		(v.Type() != fastjson.TypeObject || read.Content != "" || len(read.Images) > 0) {
		*m = read
		return
	}
	m.Content, m.Images = string(field.Raw(v)), nil
}

// Parts collects the texts, thoughts and images of a content. Thoughts are separate from the text,
// because the model would otherwise read them as its answer.
type Parts struct {
	Lines, Thoughts []string
	Images          [][]byte
}

// read adds one part: a text, a thought or an image. The types that begin with input_ and output_
// are those of the Responses API, and are accepted as well. Any other type is an error, since the
// reply would be wrong if a part were dropped silently.
func (r *Parts) read(v *fastjson.Value) error {
	if v.Type() == fastjson.TypeString {
		r.Lines = append(r.Lines, string(v.GetStringBytes()))
		return nil
	}
	if v.Type() != fastjson.TypeObject {
		return field.Bad("", "must be an object, not %s", field.KindOf(v))
	}
	kind := string(v.GetStringBytes("type"))
	if kind == "" && v.Get("text") != nil { // as in Gemini's API
		kind = "text"
	}
	switch kind {
	case "text", "input_text", "output_text":
		return r.Text(v)
	case "refusal":
		var line string
		err := field.Member(v, kind, &line)
		r.Lines = append(r.Lines, line)
		return err
	case "reasoning", "thinking":
		return r.thought(v)
	case "image_url", "input_image", "image", "computer_screenshot":
		return r.Image(v)
	default:
		return field.Bad("type", "must be text or image_url, not %q", kind)
	}
}

// Text adds the text of a part, which is its member text, or content in the parts of some clients.
// It returns an error if that is not a string.
func (r *Parts) Text(v *fastjson.Value) error {
	var line string
	key := "text"
	if v.Get(key) == nil && v.Get("content") != nil {
		key = "content"
	}
	err := field.Member(v, key, &line)
	r.Lines = append(r.Lines, line)
	return err
}

// thought adds a part with a thought of the model. Its text is in the member text, thinking or
// reasoning. Thoughts in a client's private form are skipped, because a model cannot read them. It
// always returns nil.
func (r *Parts) thought(v *fastjson.Value) error {
	for _, key := range []string{"text", "thinking", "reasoning"} {
		if s := v.Get(key); s != nil && s.Type() == fastjson.TypeString {
			r.Thoughts = append(r.Thoughts, string(s.GetStringBytes()))
			break
		}
	}
	return nil
}

// Image adds the image of a part in the notation of any API: a data URL in image_url, Base64 in
// data, as in MCP's results, or in source, as Anthropic writes it. It returns an error if the
// Base64 is invalid, or if the image is only named by a URL. Such an image is not fetched, because
// any caller could then reach what only this machine can reach.
func (r *Parts) Image(v *fastjson.Value) error {
	img, err := imageOf(v)
	r.Images = append(r.Images, img)
	return err
}

// imageOf returns the image of a part, in the notations that Parts.Image names. It returns an error
// if the Base64 is invalid, or if the image is only named by a URL.
func imageOf(v *fastjson.Value) (img []byte, err error) {
	source := v.Get("source")
	switch {
	case v.Get("data") != nil:
		img, err = DecodeImage(string(v.GetStringBytes("data")))
		return img, field.Within("data", err)
	case source == nil && string(v.GetStringBytes("type")) != "image":
		img, err = readImage(v.Get("image_url"))
		return img, field.Within("image_url", err)
	}
	if kind := string(source.GetStringBytes("type")); kind != "base64" {
		return nil, field.Bad("source.type", "must be base64, not %q: images are not fetched", kind)
	}
	img, err = DecodeImage(string(source.GetStringBytes("data")))
	return img, field.Within("source.data", err)
}

// readImage returns the image of a data URL, given alone or as {"url": …}. It returns an error for
// invalid Base64 and for other URLs. These are not fetched, because any caller could then reach
// what only this machine can reach.
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

// sealPrefix is the prefix of texts from SealThought.
const sealPrefix = "tnr1."

// SealThought returns an encoded thought, for clients that store thoughts without looking at them
// and send them back. Nothing in it is secret, since the client gets the plain text as well.
func SealThought(text string) string {
	return sealPrefix + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// OpenThought returns the thought that was given to SealThought. It returns false for any other
// text, such as a thought that another service has encoded.
func OpenThought(text string) (thought string, ok bool) {
	rest, ok := strings.CutPrefix(text, sealPrefix)
	if !ok {
		return "", false
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	return string(b), err == nil
}
