package ollama

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/valyala/fastjson"

	"toolnorm/engine/upstream"
	"toolnorm/engine/window"
)

const (
	// loadedAge is how old the list of loaded models may be. Contexts that this program itself
	// asked for are known anyway, and a change by another program in the meantime costs one more
	// load.
	loadedAge = 5 * time.Second
	// loadedWait is how long a server may take for the list. Some servers do not answer while they
	// load a model, and a request that must wait for that anyway should not wait here.
	loadedWait = time.Second
)

// Size returns the context length for the model that the order names, in tokens. It is the length
// that the client or the settings ask for, or else one that is long enough for the order. If a
// request names no length, Ollama uses its default (4,096) and silently drops what is longer.
// Ollama also loads the model again whenever a request names another length than the last one. So
// every request names a length, and that of the loaded model is used if it is long enough.
//
// The chosen length is recorded as loaded before the server has loaded it. Otherwise the next
// request of a conversation would choose by a list of loaded models that does not show this length
// yet.
func (b *Backend) Size(ctx context.Context, o *upstream.Order) int {
	trained := o.Facts.Window
	if n := o.FixedContext; n > 0 {
		if trained > 0 {
			n = min(n, trained)
		}
		return n
	}
	loaded := cmp.Or(b.loaded(ctx, o.Model), o.Facts.Context)
	// The model's own PARAMETER num_ctx counts as loaded: the server would use it, and the model's
	// maker considers less too short.
	n := window.Limits{Trained: trained, Loaded: loaded, Most: o.MostContext}.Choose(o.Need)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.contexts == nil {
		b.contexts = map[string]int{}
	}
	b.contexts[fullName(o.Model)] = n
	return n
}

// sizedOptions returns the order's options with the context length from Size, or unchanged if the
// order fixes one. A rendering and the reply after it must have the same context length.
func (b *Backend) sizedOptions(ctx context.Context, o *upstream.Order) map[string]json.RawMessage {
	n := b.Size(ctx, o)
	if o.FixedContext > 0 {
		return o.Options
	}
	return upstream.WithOption(o.Options, "num_ctx", n)
}

// loaded returns the context length with which a model is loaded, or 0 if the model is not loaded
// or its length is not known. It asks the server for its loaded models once per loadedAge at most.
// If the list does not come in time, the last one is used.
func (b *Backend) loaded(ctx context.Context, model string) int {
	model = fullName(model)
	b.mu.Lock()
	n, fresh := b.contexts[model], time.Since(b.looked) < loadedAge
	b.mu.Unlock()
	if fresh {
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, loadedWait)
	defer cancel()
	list, err := b.Running(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked = time.Now()
	if err == nil { // old servers do not answer
		b.contexts = make(map[string]int, len(list.Models))
		for _, m := range list.Models {
			b.contexts[strings.ToLower(m.Name)] = m.ContextLength
		}
	}
	return b.contexts[model]
}

// wantedContext returns the context length that a model's own parameters ask for, in tokens, or 0
// if there is none. /api/show writes parameters as text, one per line, such as "num_ctx 16384".
func wantedContext(show *api.ShowResponse) (n int) {
	for line := range strings.Lines(show.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, _ = strconv.Atoi(f[1]) // a value that is not a number counts as none
		}
	}
	return n
}

// RoundTrip implements http.RoundTripper for requests of Ollama's own API. Completions of an editor
// come this way, between chats with tools, and should share the loaded model with these. So a
// request that names no context length gets that of the loaded model. Otherwise the server would
// use its default and load the model again, and once more for the next chat with tools. All other
// requests are passed on byte for byte.
func (b *Backend) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || !slices.Contains([]string{"generate", "chat"}, path.Base(r.URL.Path)) {
		return b.Client.RoundTrip(r)
	}
	var read bytes.Buffer // of the right size at once: io.ReadAll takes twice as much for 19 MB
	read.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	_, err := read.ReadFrom(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	body := read.Bytes()
	// A body that is not a JSON object is passed on as it is, for the server to refuse.
	if v, err := fastjson.ParseBytes(body); err == nil && v.Type() == fastjson.TypeObject &&
		!v.Exists("options", "num_ctx") {
		if n := b.loaded(r.Context(), string(v.GetStringBytes("model"))); n > 0 {
			body = withContext(v, n)
		}
	}
	c := r.Clone(r.Context())
	upstream.SetBody(c, body)
	return b.Client.RoundTrip(c)
}

// withContext returns a request that asks for a context of n tokens. If its options are not an
// object, it returns the request unchanged, so that the server refuses it with a reason.
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
