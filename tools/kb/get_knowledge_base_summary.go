package kb

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/retrieval"
)

//go:embed get_knowledge_base_summary.md
var getKnowledgeBaseSummaryText string

// getKnowledgeBaseSummary returns the tool that counts what is in a knowledge base. The parameter
// now is a function that returns the current time.
func (c *Config) getKnowledgeBaseSummary(s *kbstore.Store, now func() time.Time) tools.Tool {
	return tools.Tool{
		Name: "get_knowledge_base_summary", Title: "Summarize a knowledge base",
		Description: getKnowledgeBaseSummaryText, Hints: reading(),
		Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {
			"knowledge_base_id": ` + baseSchema + `}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["knowledge_base_id", "summary", "statistics", "generated_at"], "properties": {
			"knowledge_base_id": {"type": "string"}, "summary": {"type": "string"},
			"statistics": {"type": "object", "required": ["total_documents", "total_collections", "total_chunks"], "properties": {
				"total_documents": {"type": "integer"}, "total_collections": {"type": "integer"}, "total_chunks": {"type": "integer"}}},
			"generated_at": {"type": "string", "format": "date-time"}, "warnings": {"type": "array", "items": {"type": "string"}}}}`),
		Refuse: bases{s}.refuseBase,
		Call: func(ctx context.Context, text json.RawMessage) (tools.Result, error) {
			var args struct {
				Base string `json:"knowledge_base_id"`
			}
			if err := json.Unmarshal(text, &args); err != nil {
				return tools.Result{}, err
			}
			id, problem, hint := bases{s}.find(ctx, args.Base)
			if problem != "" {
				return hinted(http.StatusBadRequest, problem, hint), nil
			}
			args.Base = id
			sum, err := countsOf(ctx, s, args.Base, now())
			if err != nil {
				return c.unanswered(ctx, err), nil
			}
			return tools.JSONOf(sum)
		},
	}
}

// summary is the result of get_knowledge_base_summary. It has the specification's members in the
// specification's order.
type summary struct {
	Base       string     `json:"knowledge_base_id"`
	Summary    string     `json:"summary"`
	Statistics statistics `json:"statistics"`
	Generated  string     `json:"generated_at"`
	Warnings   []string   `json:"warnings,omitempty"`
}

// statistics counts what the caller may see. So two people may get different numbers for the same
// knowledge base.
type statistics struct {
	Documents   int `json:"total_documents"`
	Collections int `json:"total_collections"`
	Chunks      int `json:"total_chunks"`
}

// microseconds is the layout of times in the specification: UTC, always with six fractional digits.
const microseconds = "2006-01-02T15:04:05.000000Z"

// countsOf returns the counts of what the caller may see in a knowledge base. It first checks that
// the caller may read the base, since a number would reveal that there is something. It returns
// retrieval.ErrUnauthenticated, kbstore.ErrNotFound or kbstore.ErrDenied for a caller that may not,
// or another error if the store fails.
func countsOf(ctx context.Context, s *kbstore.Store, base string, now time.Time) (*summary, error) {
	who := auth.PrincipalOf(ctx)
	if who == nil {
		return nil, retrieval.ErrUnauthenticated
	}
	if s == nil { // no base was ever made here
		return nil, kbstore.ErrNotFound
	}
	if _, err := s.Readable(ctx, who, base); err != nil {
		return nil, err
	}
	// A base that is deleted in between is not found here.
	sum, err := s.Summary(ctx, base, kbstore.FilterOf(who))
	if err != nil {
		return nil, err
	}
	out := &summary{Base: base, Summary: sum.Name,
		Statistics: statistics{sum.Documents, sum.Collections, sum.Chunks},
		Generated:  now.UTC().Format(microseconds)}
	if sum.Description != "" {
		out.Summary += ": " + sum.Description
	}
	if sum.Collections == 0 {
		out.Warnings = append(out.Warnings, "No collections found")
	}
	if sum.Documents == 0 {
		out.Warnings = append(out.Warnings, "No documents found")
	}
	return out, nil
}

// refuseBase decides, before the arguments are checked against the schema, whether a call is
// refused. It returns a failure and true if the caller is not authenticated, or if the arguments in
// text do not make clear which knowledge base is meant. It is used as a tools.Tool.Refuse.
func (b bases) refuseBase(ctx context.Context, text json.RawMessage) (tools.Result, bool) {
	if auth.PrincipalOf(ctx) == nil {
		return refusal(retrieval.ErrUnauthenticated), true
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(text, &args) != nil {
		return tools.Result{}, false
	}
	return b.refuse(ctx, args)
}

// reading returns the hints of a tool that only reads: it changes nothing and contacts nothing
// outside.
func reading() tools.Hints {
	yes, no := true, false
	return tools.Hints{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &no}
}
