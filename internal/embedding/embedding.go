// Package embedding asks a model server for vectors of texts, in OpenAI's form or in Ollama's.
//
// There is no stand-in for a model: vectors of hashed letters found the right passage in .47 of the
// questions where BM25 found it in .79, and made it worse where both were used.
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

// Client asks one model. It may be used by many at once and must not be copied.
// Vectors are kept by their text: an agent asks with the same words again and again.
type Client struct {
	URL    string // whole: http://host:8080/v1/embeddings, or Ollama's http://host:11434/api/embed
	Model  string
	Prefix string       // put in front of each text; see Prefixes
	Key    string       // sent as a bearer's; empty: none is
	HTTP   *http.Client // nil: one that waits a minute

	mu    sync.Mutex
	cache map[string][]float32 // of texts that were asked for last
}

const (
	batch      = 32       // texts a request, which servers of 512 MB take
	mostCached = 1024     // vectors of 4 KB
	mostReply  = 64 << 20 // bytes
)

// ErrUseless is the error of a vector that nothing is near to. Other texts of the same model may
// have good ones.
var ErrUseless = errors.New("nothing can be found by it")

// Embed returns a vector for each text, in their order; all have the same length, and no value is
// infinite. If another model has taken the name, its dimensions show it. Texts that are known are
// not sent.
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
			return nil, fmt.Errorf("embed with %s: the vector of text %d has %d dimensions, that of the first has %d", c.Model, i+1, len(v), len(all[0]))
		}
	}
	return all, nil
}

// cached returns the vectors that are known, and which texts have none.
// A text that comes twice in one request is asked for twice; that is rare.
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

// keep remembers vectors; any others make room for them.
// Which ones go does not matter, so there is no order to keep.
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

// ollama reports whether the server is asked in Ollama's form.
// By the path: the two APIs differ in it, and asking would cost a request.
func (c *Client) ollama() bool {
	u, err := url.Parse(c.URL)
	return err == nil && strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/api/embed")
}

// ask returns one request. The form is float in OpenAI's API, named though it is the default, since
// some libraries ask for base64.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body := map[string]any{"model": c.Model, "input": texts}
	if c.ollama() {
		body["truncate"] = false // its default cuts texts silently
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

// read reads the vectors from a reply of either form. OpenAI's may come in any order. A server that
// answers with null for a text, with NaN or with zeros would poison every later comparison: nothing
// is near to them.
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
				return nil, fmt.Errorf("the server's answer has a vector for text %d, of %d, or two", at, n)
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
