package data

import (
	"context"
	_ "embed"
	"encoding/json"

	"toolnorm/tools"
)

//go:embed get_sql_reference_documents.md
var getSQLReferenceDocumentsText string

// getSQLReferenceDocuments returns the tool that finds what a model needs to write a statement. The
// default of 15 results is the specification's. The specification sets no upper bound, so 100 is
// our own.
func (d *Data) getSQLReferenceDocuments() tools.Tool {
	return tools.Tool{
		Name: "get_sql_reference_documents", Title: "Find references for SQL",
		Description: getSQLReferenceDocumentsText, Hints: hints(true),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["user_query"], "additionalProperties": false, "properties": {
			"user_query": {"type": "string", "description": "The question in natural language, e.g. 2024년 1월 이후 가입한 사용자의 이메일 주소를 알려줘"},
			"n_results": {"type": "integer", "minimum": 1, "maximum": 100, "default": 15, "description": "Documents at most"}}}`),
		Output: json.RawMessage(`{"type": "object", "required": ["reference_docs"], "properties": {
			"reference_docs": {"type": "array", "items": {"type": "string"}}, ` + stagesSchema + `}}`),
		Call: tools.Typed(d.references),
	}
}

// referenceDocuments is the result of get_sql_reference_documents: documents as they were stored,
// the most relevant first.
type referenceDocuments struct {
	Documents []string `json:"reference_docs"`
	Stages    []stage  `json:"stages"`
}

// references runs get_sql_reference_documents: it returns the documents most relevant to the query.
// It searches both by meaning and by words, because vectors alone miss words such as created_at and
// E-4012. It returns an error if the documents cannot be searched at all.
func (d *Data) references(ctx context.Context, in struct {
	Query string  `json:"user_query"`
	N     float64 `json:"n_results"` // 5.0 is an integer in a schema, but not in Go
}) (out referenceDocuments, err error) {
	if in.N == 0 {
		in.N = 15
	}
	found, stages, err := d.find(ctx, []string{in.Query}, int(in.N), true)
	if err != nil {
		return out, err
	}
	return referenceDocuments{found[0], stages}, nil
}
