package remote

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toolnorm/tools"
)

// part is one piece of content in a result, as MCP encodes it.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     []byte `json:"data"`
	MIME     string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob []byte `json:"blob"`
	} `json:"resource"`
}

// result decodes the result of a call. What MCP does not define in a result becomes a text with its
// JSON, so that nothing that the server says is lost: a value alone, members with other names, such
// as toolResult of MCP's revision 2024-11-05, and parts of an unknown kind. In revision 2026-07-28
// a result may also be a question or a task. These have no content, and only clients that read the
// whole result (Result.Raw) get them. It returns an error if there is no result.
func result(text json.RawMessage) (tools.Result, error) {
	if len(text) == 0 {
		return tools.Result{}, errors.New("the server's answer has neither a result nor an error")
	}
	o, err := readObject(text)
	if err != nil {
		return tools.Result{Content: readParts(text)}, nil
	}
	r := tools.Result{Raw: proper(text), Content: readParts(o.get("content")),
		Structured: o.get("structuredContent"), IsError: isTruth(o.any("iserror"))}
	// Some servers write every member, also those that are not there.
	if string(r.Structured) == "null" {
		r.Structured = nil
	}
	own := o.without("content", "structuredcontent", "iserror", "meta", "resulttype")
	switch {
	case r.Raw != nil || len(r.Content) > 0 || r.Structured != nil || len(own) == 0:
	case len(own) == 1:
		r.Content = []tools.Part{{Text: said(own[0].value)}}
	default:
		r.Content = []tools.Part{{Text: string(own.text())}}
	}
	return r, nil
}

// said returns the text in a JSON value, or the JSON of a value that is no text.
func said(value json.RawMessage) string {
	if text, ok := scalar(value); ok {
		return text
	}
	return string(value)
}

// isTruth reports whether a JSON value is true, or written as other languages write true.
func isTruth(value json.RawMessage) bool {
	return slices.Contains([]string{"true", "1"}, strings.ToLower(said(value)))
}

// proper returns the JSON of a tool's result if every MCP client can read it unchanged. Otherwise
// it returns nil.
func proper(text json.RawMessage) json.RawMessage {
	o, err := readObject(text)
	if err != nil || o.twice() != nil {
		return nil
	}
	var parts []json.RawMessage
	switch wrong := json.Unmarshal(o.get("content"), &parts); {
	case o.get("content") == nil &&
		(o.get("task") != nil || wording(o.get("resultType")) == "input_required"):
		return text
	case wrong != nil, parts == nil, o.hasNull():
		return nil
	case o.any("iserror") != nil && hint(o.get("isError")) == nil: // or it is spelled is_error
		return nil
	}
	if slices.ContainsFunc(parts, func(one json.RawMessage) bool { return !isWhole(one) }) {
		return nil
	}
	return text
}

// isWhole reports whether every client can read a piece of content unchanged.
func isWhole(one json.RawMessage) bool {
	var p part
	o, err := readObject(one)
	return err == nil && json.Unmarshal(one, &p) == nil && p.whole(o)
}

// whole reports whether a piece of a result's content has all members that its kind requires, and
// none that is null, since clients refuse null. The parameter o is the JSON from which p was read.
func (p part) whole(o object) bool {
	inner, _ := readObject(o.get("resource")) // a value that is not an object has no members
	if o.hasNull() || inner.hasNull() {
		return false
	}
	switch p.Type {
	case "text":
		return o.get("text") != nil
	case "image", "audio":
		return o.get("data") != nil && p.MIME != ""
	case "resource":
		return p.Resource.URI != "" && (inner.get("text") != nil || inner.get("blob") != nil)
	case "resource_link":
		return p.URI != "" && p.Name != ""
	}
	return false
}

// readParts decodes the content of a result.
func readParts(content json.RawMessage) (all []tools.Part) {
	for _, one := range elements(content) {
		all = append(all, readPart(one))
	}
	return all
}

// elements returns the elements of a list, without null. PHP writes a list with missing indexes as
// an object, so the values of such an object are returned. Any other value counts as the only
// element of a list, since servers that were written by hand may send a single element, or a text.
func elements(content json.RawMessage) []json.RawMessage {
	var parts []json.RawMessage
	o, err := readObject(content)
	switch {
	case err == nil && len(o) > 0 && !slices.ContainsFunc(o, func(m member) bool {
		return strings.Trim(m.key, "0123456789") != ""
	}):
		for _, m := range o {
			parts = append(parts, m.value)
		}
	case json.Unmarshal(content, &parts) != nil:
		parts = []json.RawMessage{content}
	}
	return slices.DeleteFunc(parts, func(one json.RawMessage) bool {
		return len(one) == 0 || string(one) == "null"
	})
}

// longestOdd is the greatest length in bytes of a part with data that becomes a text.
const longestOdd = 4 << 10

// readPart decodes one piece of content. Members that clients require and that are missing are
// added. A piece of an unknown kind, or without the data of its kind, becomes a text with its JSON.
// Long data would tell a model nothing, so a long piece with data becomes a text that names its
// kind, such as [video].
func readPart(text json.RawMessage) tools.Part {
	o, err := readObject(text)
	if err != nil {
		return tools.Part{Text: said(text)}
	}
	kind := strings.ToLower(wording(o.get("type")))
	data, mime := dataOf(o)
	inner, _ := readObject(o.get("resource")) // a value that is not an object has no members
	blob, blobMIME := dataOf(inner)
	uri := wording(o.get("uri"))
	switch {
	case (kind == "text" || kind == "") && o.get("text") != nil:
		return tools.Part{Text: said(o.get("text"))}
	case kind == "image" && data != nil:
		return tools.Part{Kind: tools.Image, Data: data, MIME: mime}
	case kind == "audio" && data != nil:
		return tools.Part{Kind: tools.Audio, Data: data, MIME: mime}
	case kind == "resource" && inner.get("text") != nil:
		return tools.Part{Kind: tools.Resource, URI: wording(inner.get("uri")),
			Text: said(inner.get("text")), MIME: wording(inner.any("mimetype"))}
	case kind == "resource" && blob != nil:
		return tools.Part{Kind: tools.Resource, URI: wording(inner.get("uri")), Data: blob,
			MIME: blobMIME}
	case kind == "resource_link" && uri != "":
		return tools.Part{Kind: tools.Link, URI: uri, Text: cmp.Or(wording(o.get("name")), uri),
			MIME: wording(o.any("mimetype"))}
	case len(text) > longestOdd && (o.get("data") != nil || inner.get("blob") != nil):
		return tools.Part{Text: fmt.Sprintf("[%s]", kind)}
	}
	return tools.Part{Text: string(text)}
}

// dataOf returns the bytes of a piece of content or a resource, and their MIME type, which is
// guessed if it is missing. The base64 may use the alphabet for URLs, lack its padding, or have the
// prefix of a data URL. It returns nil if there are no bytes.
func dataOf(o object) (data []byte, mime string) {
	text := wording(o.any("data", "blob"))
	if prefix, rest, ok := strings.Cut(text, ";base64,"); ok {
		mime, text = strings.TrimPrefix(prefix, "data:"), rest
	}
	text = strings.NewReplacer("-", "+", "_", "/", "=", "", " ", "").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || o.any("data", "blob") == nil {
		return nil, ""
	}
	return bytes.Clone(data), cmp.Or(wording(o.any("mimetype")), mime, http.DetectContentType(data))
}
