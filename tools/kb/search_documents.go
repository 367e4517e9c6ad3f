package kb

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/tools"
	"toolnorm/tools/kb/retrieval"
)

//go:embed search_documents.md
var searchDocumentsText string

// number is the JSON Schema of a score that may be missing.
const number = `{"type": ["number", "null"]}`

// searchDocuments returns the tool search_documents. The backend b runs its searches, and known
// finds the knowledge base that a caller means.
func (c *Config) searchDocuments(b retrieval.Backend, known bases) tools.Tool {
	yes, no := true, false
	return tools.Tool{
		Name: "search_documents", Title: "Search documents", Description: searchDocumentsText,
		Hints: tools.Hints{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &no},
		Schema: json.RawMessage(
			`{"type": "object", "required": ["query"], "additionalProperties": false, "properties": {
			"query": {"type": "string", "description": "What to look for, e.g. リモートワーク手当の金額は？"},
			"knowledge_base_id": ` + baseSchema + `,
			"threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.6, "description": "Least score of a result; 0.6 to 0.8 is recommended"},
			"max_results": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "Most results"}}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["query", "knowledge_base_id", "threshold", "results", "count"], "properties": {
			"query": {"type": "string"}, "knowledge_base_id": {"type": "string"}, "threshold": {"type": "number"},
			"results": {"type": "array", "items": {"type": "object", "required": ["content", "score", "metadata"], "properties": {
				"content": {"type": "string"}, "score": {"type": "number"},
				"metadata": {"type": "object", "required": ["chunk_id", "document_id", "chunk_index", "collection_id", "sparse_score", "dense_score", "rrf_score", "bm25_score", "cross_encoder_score"], "properties": {
					"chunk_id": {"type": "string"}, "document_id": {"type": "string"}, "chunk_index": {"type": "integer"}, "collection_id": {"type": "string"},
					"sparse_score": ` + number + `, "dense_score": ` + number + `, "rrf_score": ` + number + `, "bm25_score": ` + number + `, "cross_encoder_score": ` + number + `}}}}},
			"count": {"type": "integer"}, "message": {"type": "string"}, "hint": {"type": "string"}, "score_source": {"type": "string"},
			"stages": {"type": "array", "items": {"type": "object", "required": ["name", "in", "out", "ms", "status"], "properties": {
				"stage": {"type": "string"}, "name": {"type": "string"}, "in": {"type": "integer"}, "out": {"type": "integer"}, "ms": {"type": "number"},
				"status": {"enum": ["ok", "skipped", "failed"]}, "reason": {"type": "string"}}}}}}`),
		Refuse: known.refuseSearch,
		Call: func(ctx context.Context, text json.RawMessage) (tools.Result, error) {
			var args searchArguments
			if err := json.Unmarshal(text, &args); err != nil {
				return tools.Result{}, err
			}
			id, problem, hint := known.find(ctx, args.Base)
			if problem != "" {
				return hinted(http.StatusBadRequest, problem, hint), nil
			}
			args.Base = id
			found, err := b.Search(ctx, args.query(ctx))
			if err != nil {
				return c.unanswered(ctx, err), nil
			}
			return tools.JSONOf(found)
		},
	}
}

// searchArguments are the arguments of search_documents. Pointers distinguish 0 from a missing
// value.
type searchArguments struct {
	Query     string   `json:"query"`
	Base      string   `json:"knowledge_base_id"`
	Threshold *float64 `json:"threshold"`
	Max       *float64 `json:"max_results"` // 5.0 is an integer in a schema, but not in Go
}

// query returns the search for the arguments, with defaults for what is missing. The principal
// comes only from the context.
func (a *searchArguments) query(ctx context.Context) retrieval.Query {
	q := retrieval.Query{Text: a.Query, Base: a.Base, Threshold: retrieval.DefaultThreshold,
		Max: retrieval.DefaultMax, Principal: auth.PrincipalOf(ctx)}
	if a.Threshold != nil {
		q.Threshold = *a.Threshold
	}
	if a.Max != nil {
		q.Max = int(*a.Max)
	}
	return q
}

// refuseSearch decides, before the arguments are checked against the schema, whether a search is
// refused. It returns a failure and true for a caller that is not authenticated, and for mistakes
// for which the specification prescribes a sentence; the validator would write another, such as
// "maximum: 51 is greater than 50". It returns false for all other mistakes, which the schema's
// check reports. It is used as a tools.Tool.Refuse.
func (b bases) refuseSearch(ctx context.Context, text json.RawMessage) (tools.Result, bool) {
	if auth.PrincipalOf(ctx) == nil {
		return refusal(retrieval.ErrUnauthenticated), true
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(text, &args) != nil {
		return tools.Result{}, false
	}
	refuse := func(message string) (tools.Result, bool) {
		return failure(http.StatusBadRequest, message), true
	}
	if res, refused := b.refuse(ctx, args); refused {
		return res, true
	}
	var query string
	if json.Unmarshal(args["query"], &query) == nil && args["query"] != nil &&
		strings.TrimSpace(query) == "" {
		// an empty query matches nothing, and a model would take "no results" for an answer
		return refuse("query must not be empty")
	}
	if v, given := numberOf(args["threshold"]); given && !(v >= 0 && v <= 1) {
		return refuse("threshold out of range (0.0-1.0)")
	}
	switch v, given := numberOf(args["max_results"]); {
	case given && v > retrieval.MostResults:
		return refuse("max_results exceeds limit (50)")
	case given && !(v >= 1):
		return refuse("max_results must be at least 1")
	case given && v != math.Trunc(v):
		return refuse("max_results must be a whole number")
	}
	return tools.Result{}, false
}

// numberOf parses a number, or a number in quotes, since some clients pass every argument as text.
// It returns false for anything else, which the schema's check then reports.
func numberOf(raw json.RawMessage) (v float64, given bool) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, err == nil
}
