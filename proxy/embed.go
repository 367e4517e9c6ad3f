package proxy

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// embedAsk is a request of the embeddings API.
type embedAsk struct {
	chat.EmbedRequest
	base64 bool // vectors as text, else as arrays of numbers
}

// embed reads the request, has it embedded, and writes the vectors.
func (s *Server) embed(w http.ResponseWriter, r *http.Request, t *turn) error {
	if s.cfg.Embedder == nil {
		return fault.New(fault.NotFound, "this server has no embeddings")
	}
	body, err := s.body(w, r)
	if err != nil {
		return err
	}
	a, err := parseEmbed(body)
	if err != nil {
		return err
	}
	if err := s.orDefault(&a.Model); err != nil {
		return err
	}
	t.model = a.Model
	got, err := s.cfg.Embedder.Embed(r.Context(), &a.EmbedRequest)
	if err != nil {
		return err
	}
	t.count.Prompt = got.Tokens
	return writeJSON(w, http.StatusOK, a.reply(got))
}

// parseEmbed reads the request. Every error is a fault of kind Invalid that names the field.
func parseEmbed(body []byte) (*embedAsk, error) {
	a := &embedAsk{}
	err := parse(body, func(v *fastjson.Value) error {
		if err := each(v, a.field); err != nil {
			return err
		}
		if len(a.Input) == 0 {
			return bad("input", "must be a text or an array of texts")
		}
		return nil
	})
	return a, err
}

// field reads one field. What nobody here knows says nothing to a model that embeds.
func (a *embedAsk) field(key string, v *fastjson.Value) error {
	switch key {
	case "model":
		return text(&a.Model)(v)
	case "input":
		return a.readInput(v)
	case "encoding_format":
		return a.readEncoding(v)
	case "dimensions":
		return a.readDimensions(v)
	case "truncate":
		return flag(&a.Truncate)(v)
	case "keep_alive":
		return readKeep(&a.KeepAlive, v)
	case "options", "num_ctx":
		return readOptions(&a.Options, key, v)
	}
	return nil
}

// mostTexts is how many texts one request may hold: eight times what OpenAI takes.
const mostTexts = 8 * 2048

// readInput reads one text or several.
func (a *embedAsk) readInput(v *fastjson.Value) error {
	a.Input = nil
	one := func(_ int, v *fastjson.Value) error {
		if t := v.Type(); t == fastjson.TypeNumber || t == fastjson.TypeArray {
			return bad("", "must be a text; token numbers are not taken, since only the model's own server knows them")
		}
		var s string
		if err := text(&s)(v); err != nil {
			return err
		}
		if s == "" {
			return bad("", "must not be empty")
		}
		a.Input = append(a.Input, s)
		return nil
	}
	if v.Type() == fastjson.TypeArray {
		if len(v.GetArray()) > mostTexts {
			return bad("", "may hold %d texts", mostTexts)
		}
		return items(v, one)
	}
	return one(0, v)
}

// readEncoding reads how the vectors are wanted.
func (a *embedAsk) readEncoding(v *fastjson.Value) error {
	var form string
	if err := text(&form)(v); err != nil {
		return err
	}
	if form != "" && form != "float" && form != "base64" {
		return bad("", `must be "float" or "base64", not %q`, form)
	}
	a.base64 = form == "base64"
	return nil
}

// readDimensions reads how long the vectors should be.
func (a *embedAsk) readDimensions(v *fastjson.Value) error {
	var n *int64
	if err := integer(&n)(v); err != nil || n == nil {
		return err
	}
	if *n < 1 || *n > math.MaxInt32 {
		return bad("", "must be at least 1")
	}
	a.Dimensions = int(*n)
	return nil
}

// reply is OpenAI's form of the vectors.
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
	b = appendQuoted(b, a.Model)
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(e.Tokens), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(e.Tokens), 10)
	return append(b, "}}\n"...)
}

// appendFloats appends a vector as numbers.
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

// appendBase64 appends a vector as a text of its bytes: float32, little-endian.
func appendBase64(b []byte, v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	b = base64.StdEncoding.AppendEncode(append(b, '"'), raw)
	return append(b, '"')
}
