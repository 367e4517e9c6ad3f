// Package rerank asks a model server how well texts answer a query: a cross-encoder, which reads
// both together.
//
// Two forms cover the field. Most servers (llama-server with --reranking, vLLM, Jina, LiteLLM) take
// {"model","query","documents","top_n"} at /v1/rerank and answer
// {"results":[{"index","relevance_score"}]}; Hugging Face's text-embeddings-inference takes
// {"query","texts"} at /rerank and answers [{"index","score"}]. Ollama has no such endpoint.
package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"toolnorm/internal/post"
)

// Form is the API with which a server is asked. It cannot be derived from the URL, because both
// forms are found at /rerank.
type Form uint8

// The values of Form.
const (
	Cohere Form = iota // the request has model, query, documents, top_n
	TEI                // the request has query, texts
)

// Client asks one reranking model. Each request has a deadline of its own, besides that of the
// caller's context, because a search waits for the answer. A Client may be used by several
// goroutines at once.
type Client struct {
	URL   string // the whole URL, for example http://host:8080/v1/rerank
	Model string
	Key   string // sent as a bearer token; empty: none is sent
	Form  Form

	Timeout time.Duration // for one request; 0: two seconds, since a search waits for it
	HTTP    *http.Client  // nil: http.DefaultClient
}

const (
	standardTimeout = 2 * time.Second
	mostReply       = 4 << 20 // bytes; a hundred scores take less than 10 KB
)

// Score is the model's score of one text. Raw is included because the meaning of a logit such as 3
// can be looked up in a model's card, whereas the meaning of .95 cannot.
type Score struct {
	Index int     // the index of the text
	Value float64 // in [0,1]
	Raw   float64 // as the server sent it
}

// Score asks how well each text answers the query and returns the scores in the server's order. A
// text that the server left out has no score, and without texts the result is nil. If any value is
// outside of [0,1], the values are taken for logits, and all are mapped into [0,1]. It fails if the
// server does not answer in time, answers with an error or sends invalid scores.
func (c *Client) Score(ctx context.Context, query string, texts []string) ([]Score, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = standardTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reply, err := post.JSON(ctx, c.HTTP, c.URL, c.Key, c.body(query, texts), mostReply)
	if err == nil {
		var scores []Score
		if scores, err = read(reply, len(texts)); err == nil {
			return scale(scores), nil
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("rerank: no answer within %s", timeout)
	}
	return nil, fmt.Errorf("rerank: %w", err)
}

// body returns the body of a request, in the form of the server's API. The server shortens texts
// that are longer than the model can read, since the score of a passage's beginning is better than
// none. Only TEI needs a parameter for this.
func (c *Client) body(query string, texts []string) any {
	if c.Form == TEI {
		return map[string]any{"query": query, "texts": texts, "raw_scores": false, "truncate": true}
	}
	return map[string]any{"model": c.Model, "query": query, "documents": texts, "top_n": len(texts)}
}

// read returns the scores of n texts in a reply of either API, Cohere's or TEI's. The first
// character of the reply shows which it is. The API of the request does not, because LiteLLM
// translates one into the other. It fails if the reply has no scores, or one that is not a number,
// belongs to a text that was not sent, or is the second of its text. In these cases the other
// scores cannot be trusted either.
func read(reply []byte, n int) ([]Score, error) {
	type entry struct {
		Index          *int
		Score          *float64
		RelevanceScore *float64 `json:"relevance_score"`
	}
	var entries []entry
	if first := bytes.TrimSpace(reply); len(first) > 0 && first[0] == '[' {
		if err := json.Unmarshal(reply, &entries); err != nil {
			return nil, fmt.Errorf("the server's answer is no JSON of scores: %w", err)
		}
	} else {
		var body struct{ Results []entry }
		if err := json.Unmarshal(reply, &body); err != nil {
			return nil, fmt.Errorf("the server's answer is no JSON of scores: %w", err)
		}
		entries = body.Results
	}
	var scores []Score
	seen := make([]bool, n)
	for _, e := range entries {
		value := e.RelevanceScore
		if value == nil {
			value = e.Score
		}
		switch {
		case e.Index == nil || value == nil || math.IsNaN(*value):
			return nil, errors.New("the server's answer has an entry without index or score")
		case *e.Index < 0 || *e.Index >= n || seen[*e.Index]:
			return nil, fmt.Errorf("the server's answer has a score for text %d, of %d, or two",
				*e.Index, n)
		}
		seen[*e.Index] = true
		scores = append(scores, Score{*e.Index, *value, *value})
	}
	if len(scores) == 0 {
		return nil, errors.New("the server's answer has no scores")
	}
	return scores, nil
}

// scale maps logits into [0,1] and returns scores. Servers do not say whether they send logits or
// probabilities, and some send either, depending on a setting. So if one value is outside of [0,1],
// all are mapped, because otherwise their order would change.
func scale(scores []Score) []Score {
	outside := false
	for _, s := range scores {
		outside = outside || s.Raw < 0 || s.Raw > 1
	}
	for i := range scores {
		if outside {
			scores[i].Value = 1 / (1 + math.Exp(-scores[i].Raw))
		}
	}
	return scores
}
