package openai

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/exchange"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// embedAsk is a request of the embeddings API. Base64 must be supported, because openai-node and
// LangChain.js ask for it by default and decode any answer as Base64, so an array of numbers would
// become garbage.
type embedAsk struct {
	chat.EmbedRequest
	base64 bool // vectors are wanted as text, not as arrays of numbers
}

// Embeddings returns the handler of the embeddings API. The vectors come from the Embedder. If that
// is nil, the handler answers "not found". The answer has no events, so it needs no form.Reply.
func Embeddings(run *exchange.Runner, of chat.Embedder) exchange.Handler {
	api := form.API{Name: "embeddings", Prefix: "embd-", Fail: fault.Write}
	return run.Logged(api, func(w http.ResponseWriter, r *http.Request, x *exchange.Record) error {
		if of == nil {
			return fault.New(fault.NotFound, "embeddings are not available on this server")
		}
		body, err := run.Body(w, r)
		if err != nil {
			return err
		}
		a, err := parseEmbed(body)
		if err != nil {
			return err
		}
		if err := run.OrDefault(r.Context(), &a.Model); err != nil {
			return err
		}
		x.Model = a.Model
		got, err := of.Embed(r.Context(), &a.EmbedRequest)
		if err != nil {
			return err
		}
		x.Count.Prompt = got.Tokens
		return form.WriteJSON(w, http.StatusOK, a.reply(got))
	})
}

// parseEmbed returns the request in a body. Every error is a fault of kind Invalid that names the
// field. Fields without a meaning for a model, such as user, are skipped.
func parseEmbed(body []byte) (*embedAsk, error) {
	a := &embedAsk{}
	err := field.Parse(body, func(v *fastjson.Value) error {
		// unknown fields are skipped, since they mean nothing to such a model
		err := field.Object(v, field.Members{
			{"model", &a.Model},
			{"input", a.readInput},
			{"encoding_format", a.readEncoding},
			// only some models can shorten their vectors; the server decides whether this one can
			{"dimensions", field.Between(&a.Dimensions, 1, math.MaxInt32, "must be at least 1")},
			// Ollama's field; without it a text that is too long is an error
			{"truncate", &a.Truncate},
			{"keep_alive", form.KeepAlive(&a.KeepAlive)},
			{"options", form.Options(&a.Options, nil)},
			{"num_ctx", form.Option(&a.Options)},
		})
		if err != nil {
			return err
		}
		if len(a.Input) == 0 {
			return field.Bad("input", "must be a text or an array of texts")
		}
		return nil
	})
	return a, err
}

// mostTexts is the most texts in one request, eight times OpenAI's limit. All vectors of an answer
// are in memory at the same time.
const mostTexts = 8 * 2048

// readInput stores one text or several. It returns an error for token numbers, which LangChain's
// OpenAIEmbeddings sends unless check_embedding_ctx_length is off. An empty text is an error, too,
// since its vector would mean nothing.
func (a *embedAsk) readInput(v *fastjson.Value) error {
	a.Input = nil
	one := func(v *fastjson.Value) error {
		if t := v.Type(); t == fastjson.TypeNumber || t == fastjson.TypeArray {
			return field.Bad("",
				"must be a text; token numbers are not taken, since only the model's own server knows them")
		}
		var s string
		if err := field.Into(v, &s); err != nil {
			return err
		}
		if s == "" {
			return field.Bad("", "must not be empty")
		}
		a.Input = append(a.Input, s)
		return nil
	}
	if v.Type() == fastjson.TypeArray {
		if len(v.GetArray()) > mostTexts {
			return field.Bad("", "may hold %d texts", mostTexts)
		}
		return field.Items(v, one)
	}
	return one(v)
}

// readEncoding stores whether the vectors are wanted as numbers or in Base64. It returns an error
// for encodings of other services (int8, binary), because clients would read the vectors as
// garbage.
func (a *embedAsk) readEncoding(v *fastjson.Value) error {
	var form string
	if err := field.Into(v, &form); err != nil {
		return err
	}
	if form != "" && form != "float" && form != "base64" {
		return field.Bad("", `must be "float" or "base64", not %q`, form)
	}
	a.base64 = form == "base64"
	return nil
}

// reply returns the vectors in OpenAI's JSON. Each has an index although the order is that of the
// input, because clients may sort by it.
func (a *embedAsk) reply(e *chat.Embeddings) []byte {
	b := []byte(`{"object":"list","data":[`)
	for i, v := range e.Vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"object":"embedding","index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"embedding":`...)
		if a.base64 {
			b = appendBase64(b, v)
		} else {
			b = appendFloats(b, v)
		}
		b = append(b, '}')
	}
	b = append(b, `],"model":`...)
	b = chat.AppendQuoted(b, a.Model)
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(e.Tokens), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(e.Tokens), 10)
	return append(b, "}}\n"...)
}

// appendFloats appends a vector as numbers. Each number has the shortest form that is read as the
// same float32. This is half as long as the form for a float64.
func appendFloats(b []byte, v []float32) []byte {
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return append(b, ']')
}

// appendBase64 appends a vector as the Base64 of its bytes: float32, little-endian. That is the
// byte order of OpenAI's server, which clients take for granted.
func appendBase64(b []byte, v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	b = base64.StdEncoding.AppendEncode(append(b, '"'), raw)
	return append(b, '"')
}
