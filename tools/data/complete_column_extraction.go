package data

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"toolnorm/tools"
)

//go:embed complete_column_extraction.md
var completeColumnExtractionText string

// completeColumnExtraction returns the tool by which a model reports that it knows the columns, so
// that the workflow can continue. The schema accepts null nearly everywhere, because a model that
// found nothing writes null, and has to get the specification's sentence for that and not a
// validation error.
func completeColumnExtraction() tools.Tool {
	return tools.Tool{
		Name: "complete_column_extraction", Title: "Finish column extraction",
		Description: completeColumnExtractionText, Hints: hints(false),
		Schema: json.RawMessage(
			`{"type": "object", "required": ["extracted_columns"], "additionalProperties": false, "properties": {
			"extracted_columns": {"type": ["object", "null"], "description": "The columns, e.g. {\"items\": [{\"extracted_column_name\": \"user_id\"}]}",
				"properties": {"items": {"type": ["array", "null"], "items": {"type": "object", "properties": {"extracted_column_name": {"type": ["string", "null"]}}}}}}}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["status", "message", "escalate"], "properties": {
			"status": {"type": "string", "enum": ["success", "error"]}, "message": {"type": "string"},
			"escalate": {"type": "boolean", "description": "true: this phase is over, go on to the SQL"}}}`),
		Call: func(_ context.Context, args json.RawMessage) (tools.Result, error) {
			out := extraction(args)
			res, err := tools.JSONOf(out)
			res.IsError = !out.Escalate
			return res, err
		},
	}
}

// extracted is the result of complete_column_extraction. Its members and both messages are exactly
// those of the specification. If escalate is true, the agent's current phase ends.
type extracted struct {
	Status   string `json:"status"`
	Message  string `json:"message"`
	Escalate bool   `json:"escalate"`
}

// extraction returns success if args contain at least one column with a name. A column whose name
// is missing or blank is ignored, as in {"items":[{"extracted_column_name":" "}]}. In any other
// case the result is the error that the specification prescribes.
func extraction(args json.RawMessage) extracted {
	var in struct {
		Columns struct {
			Items []struct {
				Name string `json:"extracted_column_name"`
			} `json:"items"`
		} `json:"extracted_columns"`
	}
	if json.Unmarshal(args, &in) == nil {
		for _, item := range in.Columns.Items {
			if strings.TrimSpace(item.Name) != "" {
				return extracted{"success", "Column name extraction completed.", true}
			}
		}
	}
	return extracted{"error", "Column name extraction required.", false}
}
