package ollama

import (
	"encoding/json"
	"net/http"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/exchange"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// generate handles a request to continue a prompt. If it has a format, this program answers it,
// since the reply has to be checked against the schema. All other requests are passed on. These
// include an empty prompt, which only loads the model, and _debug_render_only, which asks for no
// reply. generate returns an error if answering or passing on fails.
func (s *Server) generate(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
	return s.answer(w, r, x, readGenerate, true,
		func(v *fastjson.Value) bool {
			return form.NoFormat(v.Get("format")) || len(v.GetStringBytes("prompt")) == 0 ||
				v.GetBool("_debug_render_only")
		})
}

// readGenerate returns the request in a body that has a prompt and a format. As in Ollama, the
// prompt becomes a chat of one message. But if the client itself determines how the prompt is
// rendered, for example by a template, the model continues it as a text. It returns an error if the
// prompt is empty or a field is invalid.
func readGenerate(v *fastjson.Value) (*form.Ask, error) {
	r := &request{&form.Ask{Stream: true}}
	var raw bool
	var system string
	said, on := chat.Message{Role: chat.User}, chat.Continuation{Told: map[string]json.RawMessage{}}
	keep := func(name string, v *fastjson.Value) error {
		if !form.NoFormat(v) && (v.Type() != fastjson.TypeArray || len(v.GetArray()) > 0) {
			on.Told[name] = field.Raw(v)
		}
		return nil
	}
	err := field.Object(v, append(r.fields(), field.Members{
		{"prompt", &said.Content},
		{"suffix", &on.Suffix},
		{"raw", &raw},
		{"template", keep},
		{"context", keep},
		{"system", func(v *fastjson.Value) error {
			if err := field.Into(v, &system); err != nil {
				return err
			}
			return keep("system", v)
		}},
		{"images", func(v *fastjson.Value) error {
			if err := form.ReadPictures(&said.Images, v); err != nil {
				return err
			}
			return keep("images", v)
		}},
	}...))
	if on.Prompt = said.Content; on.Prompt == "" && err == nil {
		err = field.Bad("prompt", "must be a text that is not empty")
	}
	switch {
	case raw:
		on.Told = nil // as in Ollama: the model reads only the prompt
	case on.Suffix == "" && on.Told["template"] == nil && on.Told["context"] == nil:
		if system != "" {
			r.Messages = append(r.Messages, chat.Message{Role: chat.System, Content: system})
		}
		r.Messages = append(r.Messages, said)
		return r.Ask, err
	}
	r.Continue = &on
	return r.Ask, err
}
