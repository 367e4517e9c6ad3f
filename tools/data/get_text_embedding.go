package data

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"toolnorm/tools"
)

//go:embed get_text_embedding.md
var getTextEmbeddingText string

// mostTexts is the largest number of texts in one call. Their vectors are about 2.5 MB as text with
// 1,024 dimensions.
const mostTexts = 256

// getTextEmbedding returns the tool that makes vectors of texts.
func (d *Data) getTextEmbedding() tools.Tool {
	return tools.Tool{
		Name: "get_text_embedding", Title: "Make vectors of texts",
		Description: getTextEmbeddingText, Hints: hints(true),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["text_list"], "additionalProperties": false, "properties": {
			"text_list": {"type": "array", "maxItems": 256, "items": {"type": "string"}, "description": "Texts, e.g. [\"사용자 이름을 조회해줘\", \"최근 주문 내역\"]"}}}`),
		Output: json.RawMessage(`{"type": "object", "required": ["embeddings"], "properties": {
			"embeddings": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}}}`),
		Call: tools.Typed(d.embed),
	}
}

// embeddings is the result of get_text_embedding: vectors in the order of the texts.
type embeddings struct {
	Embeddings [][]float32 `json:"embeddings"`
}

// embed returns vectors of the texts. An empty list is not an error, because an agent may have had
// nothing to ask. It returns an error if there are too many texts, if no model is configured, or if
// the model fails; it never makes substitute vectors.
func (d *Data) embed(ctx context.Context, in struct {
	Texts []string `json:"text_list"`
}) (out embeddings, err error) {
	out.Embeddings = [][]float32{}
	switch {
	case len(in.Texts) == 0:
		return out, nil
	case len(in.Texts) > mostTexts:
		return out, fmt.Errorf("%d texts are more than the %d of one call", len(in.Texts),
			mostTexts)
	case d.embedder == nil:
		return out, d.errNoEmbedder()
	}
	out.Embeddings, err = d.embedder.Embed(ctx, in.Texts)
	return out, err
}
