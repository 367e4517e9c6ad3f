package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"

	"github.com/ollama/ollama/api"
)

// demoDimensions is the length of the demo's vectors if the request does not set one.
const demoDimensions = 64

// maxDimensions is the length of the longest vector that the demo makes.
const maxDimensions = 4096

// demoTexts is a request for the vectors of one text or of several.
type demoTexts struct {
	Model      string    `json:"model"`
	Input      oneOrMore `json:"input"`
	Dimensions int       `json:"dimensions"`
}

// oneOrMore is a list of texts. In JSON a list of one element may be written as that element.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler. It reads both "input":"a cat" and "input":["a cat"],
// and returns an error for anything else.
func (l *oneOrMore) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*l = make(oneOrMore, 1)
		return json.Unmarshal(b, &(*l)[0])
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// embed answers with vectors that are equal for equal texts, and near each other for texts that
// share words. This is enough to see a search work from end to end on a machine without models.
func (d *Server) embed(w http.ResponseWriter, _ *http.Request, q *demoTexts) {
	if d.format(w, q.Model) == nil {
		return
	}
	n := cmp.Or(q.Dimensions, demoDimensions)
	if n < 0 || n > maxDimensions {
		demoFail(w, http.StatusBadRequest, fmt.Sprintf("the demo has vectors of 1 to %d dimensions",
			maxDimensions))
		return
	}
	reply := api.EmbedResponse{Model: q.Model, Embeddings: make([][]float32, len(q.Input))}
	for i, text := range q.Input {
		reply.Embeddings[i] = demoVector(text, n)
		reply.PromptEvalCount += len(words(text)) + 1
	}
	demoJSON(w, http.StatusOK, reply)
}

// demoVector returns a vector of length 1 with n dimensions. Each word adds 1 to the dimension that
// the word's hash selects, and the whole text adds 0.1 in the same way, before the length becomes
// 1. Because of the 0.1, different texts with the same words differ a little, and a text without
// words has a direction.
func demoVector(text string, n int) []float32 {
	v := make([]float32, n)
	add := func(s string, weight float32) {
		h := fnv.New32a()
		h.Write([]byte(s))
		v[h.Sum32()%uint32(n)] += weight
	}
	add(text, 0.1)
	for _, w := range words(text) {
		add(w, 1)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}
