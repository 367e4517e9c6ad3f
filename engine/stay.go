package engine

import (
	"bytes"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"
)

// staying is a request of Ollama's own API with the context that its model is loaded with, where it names none: a server
// takes its default then, and loads the model again, and once more for the next chat with tools. All others are left as
// they are, byte for byte.
func (o *ollama) staying(r *http.Request) *http.Request {
	if r.Body == nil || !slices.Contains([]string{"generate", "chat"}, path.Base(r.URL.Path)) {
		return r
	}
	body, err := io.ReadAll(r.Body)
	rest := r.Body
	c := r.Clone(r.Context())
	if err != nil { // the server sees as much, and the same error
		c.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), failing{err}), rest}
		return c
	}
	if v, err := fastjson.ParseBytes(body); err == nil && v.Type() == fastjson.TypeObject && !v.Exists("options", "num_ctx") {
		if n := o.loaded(r.Context(), string(v.GetStringBytes("model"))); n > 0 {
			body = withContext(v, n)
		}
	}
	c.Body, c.ContentLength = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(body), rest}, int64(len(body))
	return c
}

// withContext is a request that asks for a context of n tokens.
func withContext(v *fastjson.Value, n int) []byte {
	var a fastjson.Arena
	options := v.Get("options")
	if options == nil || options.Type() == fastjson.TypeNull {
		options = a.NewObject()
		v.Set("options", options)
	}
	if options.Type() == fastjson.TypeObject {
		options.Set("num_ctx", a.NewNumberString(strconv.Itoa(n)))
	}
	return v.MarshalTo(nil)
}

// failing is a reader that has come to an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
