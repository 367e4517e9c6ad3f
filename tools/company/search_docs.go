package company

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolnorm/tools"
)

//go:embed search_docs.md
var searchDocsText string

// The bounds of a search. Whole documents are returned, so twenty of them already fill much of a
// small model's context.
const (
	mostFound = 20 // documents in one result
	mostWords = 16 // of a query
)

// searchDocs returns the tool that finds documents by words. Its result has whole documents, so
// that a model needs no second call to read them.
func (c *Company) searchDocs() tools.Tool {
	return tools.Tool{
		Name: "search_docs", Title: "Search company documents", Description: searchDocsText,
		Hints: hints(),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["query"], "additionalProperties": false,
			"properties": {"query": {"type": "string", "maxLength": 200, "description": "Words that all have to occur, e.g. 연차 or travel expenses"}}}`),
		Output: json.RawMessage(`{"type": "object", "required": ["documents", "truncated"],
			"properties": {"documents": {"type": "array", "items": {"type": "object", "required": ["id", "title", "content", "category"],
				"properties": {"id": {"type": "integer"}, "title": {"type": "string"}, "content": {"type": "string"}, "category": {"type": "string"}}}},
				"truncated": {"type": "boolean", "description": "there are more than these"}}}`),
		Call: tools.Typed(c.search),
	}
}

// foundDocuments is the result of a search. Truncated tells a model that there are more documents,
// so that it searches again with more specific words.
type foundDocuments struct {
	Documents []Document `json:"documents"`
	Truncated bool       `json:"truncated"`
}

// search returns the documents whose title or content has every word of the query, in any order. It
// does not look for the query as one phrase, which a text seldom has. Upper and lower case are
// equal only for ASCII letters, as for SQLite's lower; Korean has no case. It returns an error if
// the query is empty or has too many words, or if the database fails.
func (c *Company) search(ctx context.Context, in struct{ Query string }) (
	found foundDocuments, err error) {
	// Words are separated by blanks of all kinds, including the wide one of East Asian texts
	// (U+3000).
	words := strings.Fields(in.Query)
	switch {
	// Without words there is nothing to search by, and a model never means all documents.
	case len(words) == 0:
		return found, errors.New("the query is empty; give a word that occurs in the document")
	case len(words) > mostWords:
		return found, fmt.Errorf("the query has %d words, more than %d; give the most telling ones",
			len(words), mostWords)
	}
	conditions, values := make([]string, len(words)), make([]any, len(words))
	for i, word := range words {
		conditions[i] = fmt.Sprintf(
			`(lower(title) LIKE lower($%[1]d) ESCAPE '\' OR lower(content) LIKE lower($%[1]d) ESCAPE '\')`, i+1)
		values[i] = "%" + unlike.Replace(word) + "%"
	}
	found.Documents, err = c.documents(ctx, "WHERE "+strings.Join(conditions, " AND "), mostFound+1,
		values...)
	if len(found.Documents) > mostFound {
		found.Documents, found.Truncated = found.Documents[:mostFound], true
	}
	return found, err
}

// unlike escapes a text for SQL's LIKE, so that "100%" and "a_b" match only what they say.
var unlike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
