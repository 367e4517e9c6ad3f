package data

import (
	"context"
	_ "embed"
	"encoding/json"

	"toolnorm/tools"
)

//go:embed search_similar_documents.md
var searchSimilarDocumentsText string

// stagesSchema is the JSON Schema of the stages of a search.
const stagesSchema = `"stages": {"type": "array", "items": {"type": "object", "properties": {
	"name": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"}}}}`

// searchSimilarDocuments returns the tool that finds documents similar to queries. The default of 3
// results is the specification's; the bounds of 64 queries and 100 results are our own.
func (d *Data) searchSimilarDocuments() tools.Tool {
	return tools.Tool{
		Name: "search_similar_documents", Title: "Search similar documents",
		Description: searchSimilarDocumentsText, Hints: hints(true),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["query_list"], "additionalProperties": false, "properties": {
			"query_list": {"type": "array", "maxItems": 64, "items": {"type": "string"}, "description": "Queries, e.g. [\"사용자 테이블의 이메일 칼럼\"]"},
			"n_results": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3, "description": "Documents for each query"}}}`),
		Output: json.RawMessage(`{"type": "object", "required": ["documents"], "properties": {
			"documents": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, ` + stagesSchema + `}}`),
		Call: tools.Typed(d.similar),
	}
}

// similarDocuments is the result of search_similar_documents: the documents for each query, the
// most similar first.
type similarDocuments struct {
	Documents [][]string `json:"documents"`
	Stages    []stage    `json:"stages"`
}

// similar runs search_similar_documents: it returns the most similar documents for each query. A
// query that finds nothing has an empty list, so that lists and queries correspond. It returns an
// error if the documents cannot be searched.
func (d *Data) similar(ctx context.Context, in struct {
	Queries []string `json:"query_list"`
	N       float64  `json:"n_results"` // 5.0 is an integer in a schema, but not in Go
}) (out similarDocuments, err error) {
	if in.N == 0 {
		in.N = 3
	}
	out.Documents, out.Stages, err = d.find(ctx, in.Queries, int(in.N), false)
	return out, err
}
