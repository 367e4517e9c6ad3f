// Package embedding asks a model server for vectors of texts, in OpenAI's form or in Ollama's.
//
// There is no replacement for a model: vectors of hashed letters found the right passage for .47 of
// the questions, BM25 for .79, and the combination was worse than BM25.
//
// OpenAI's form is {"model","input":[…]} and data[].embedding with an index, in any order; Ollama's
// has embeddings[] in order.
package embedding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/post"
)

// Client gets vectors from one model. It may be used by several goroutines at once and must not be
// copied. It caches vectors by their text, since an agent uses the same words again and again.
type Client struct {
	// the whole URL: http://host:8080/v1/embeddings, or Ollama's http://host:11434/api/embed
	URL    string
	Model  string
	Prefix string       // put before each text; see Prefixes
	Key    string       // sent as a bearer token; empty: none
	HTTP   *http.Client // nil: a client that waits a minute

	mu    sync.Mutex
	cache map[string][]float32 // vectors of recent texts
}

const (
	batch      = 32       // texts in one request, which even servers with 512 MB can handle
	mostCached = 1024     // vectors of about 4 KB each
	mostReply  = 64 << 20 // bytes
)

// ErrUseless is the error for a vector that resembles no other, because it is zero or not finite.
// The model may return good vectors for other texts.
var ErrUseless = errors.New("nothing can be found by it")

// Embed returns a vector for each text, in order. All have the same length, and every value is
// finite. Texts with cached vectors are not sent. It fails if the server does, if a vector is
// useless (see ErrUseless), or if two vectors differ in length, which shows that another model has
// taken the same name.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	all, missing := c.cached(texts)
	for start := 0; start < len(missing); start += batch {
		part := missing[start:min(start+batch, len(missing))]
		asked := make([]string, len(part))
		for i, at := range part {
			asked[i] = c.Prefix + texts[at]
		}
		vectors, err := c.ask(ctx, asked)
		if err != nil {
			return nil, fmt.Errorf("embed with %s: %w", c.Model, err)
		}
		for i, at := range part {
			all[at] = vectors[i]
		}
		c.keep(asked, vectors)
	}
	for i, v := range all {
		if len(v) != len(all[0]) {
			return nil, fmt.Errorf(
				"embed with %s: the vector of text %d has %d dimensions, that of the first has %d",
				c.Model, i+1, len(v), len(all[0]))
		}
	}
	return all, nil
}

// cached returns the cached vectors, with nil for a text without one, and the indexes of these
// missing texts. A text that occurs twice in a request is sent twice; that is rare.
func (c *Client) cached(texts []string) (all [][]float32, missing []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all = make([][]float32, len(texts))
	for i, text := range texts {
		if all[i] = c.cache[c.Prefix+text]; all[i] == nil {
			missing = append(missing, i)
		}
	}
	return all, missing
}

// keep caches vectors. If the cache is full, they replace arbitrary others: it does not matter
// which ones are dropped, so no order is recorded.
func (c *Client) keep(texts []string, vectors [][]float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache == nil {
		c.cache = map[string][]float32{}
	}
	for i, text := range texts {
		for old := range c.cache {
			if len(c.cache) < mostCached {
				break
			}
			delete(c.cache, old)
		}
		c.cache[text] = vectors[i]
	}
}

// ollama reports whether the URL is that of Ollama's API. It decides by the path, which differs
// between the two APIs, because asking the server would take a request.
func (c *Client) ollama() bool {
	u, err := url.Parse(c.URL)
	return err == nil && strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/api/embed")
}

// ask sends one request and returns the vectors of the texts, in their order. With OpenAI's API it
// asks for the encoding "float" although that is the default, since some servers send base64
// otherwise. It fails if the server does not answer with status 200, or if a vector in the answer
// is missing or of no use.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body := map[string]any{"model": c.Model, "input": texts}
	if c.ollama() {
		body["truncate"] = false // by default the server cuts texts silently
	} else {
		body["encoding_format"] = "float"
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: time.Minute}
	}
	reply, err := post.JSON(ctx, client, c.URL, c.Key, body, mostReply)
	if err != nil {
		return nil, err
	}
	return read(reply, len(texts))
}

// read returns the n vectors in a reply of Ollama's API or OpenAI's, in the order of the texts;
// OpenAI's API numbers the vectors and may send them in any order. It fails if the reply is not
// JSON, or if a vector is missing, sent twice, zero or not finite. A vector that is zero is near to
// nothing, so it would spoil every later comparison.
func read(reply []byte, n int) ([][]float32, error) {
	var body struct {
		Data []struct {
			Index     *int
			Embedding []float32
		}
		Embeddings [][]float32
	}
	if err := json.Unmarshal(reply, &body); err != nil {
		return nil, fmt.Errorf("the server's answer is no JSON of vectors: %w", err)
	}
	vectors := body.Embeddings
	if body.Data != nil {
		vectors = make([][]float32, n)
		for i, d := range body.Data {
			at := i
			if d.Index != nil {
				at = *d.Index
			}
			if at < 0 || at >= n || vectors[at] != nil {
				return nil, fmt.Errorf(
					"the server's answer has a vector for text %d, of %d, or two", at, n)
			}
			vectors[at] = d.Embedding
		}
	}
	if len(vectors) != n {
		return nil, fmt.Errorf("the server gave %d vectors for %d texts", len(vectors), n)
	}
	for i, v := range vectors {
		if len(v) == 0 {
			return nil, fmt.Errorf("the server gave no vector for text %d", i+1)
		}
		zeros := true
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("the vector of text %d is not finite: %w", i+1, ErrUseless)
			}
			zeros = zeros && x == 0
		}
		if zeros {
			return nil, fmt.Errorf("the vector of text %d is all zeros: %w", i+1, ErrUseless)
		}
	}
	return vectors, nil
}
