package data

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"toolnorm/tools"
)

//go:embed sanitize_for_csv.md
var sanitizeForCSVText string

// sanitizeForCSV returns the tool that replaces no-break spaces, which Excel shows as wrong
// characters, by ordinary spaces. Each becomes one space. Spaces are neither trimmed nor joined.
func sanitizeForCSV() tools.Tool {
	return tools.Tool{
		Name: "sanitize_for_csv", Title: "Clean text for CSV", Description: sanitizeForCSVText,
		Hints: hints(false),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string"}}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["sanitized_text"], "properties": {"sanitized_text": {"type": "string"}}}`),
		Call: tools.Typed(func(_ context.Context, in struct{ Text string }) (sanitized, error) {
			return sanitized{strings.ReplaceAll(in.Text, "\u00a0", " ")}, nil
		}),
	}
}

// sanitized is the result of sanitize_for_csv: a text without no-break spaces (U+00A0). Other
// characters are unchanged, including U+202F, U+3000 and line breaks.
type sanitized struct {
	Text string `json:"sanitized_text"`
}
