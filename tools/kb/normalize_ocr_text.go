package kb

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"toolnorm/internal/ocr"
	"toolnorm/internal/post"
	"toolnorm/tools"
)

//go:embed normalize_ocr_text.md
var normalizeOCRTextText string

// normalizeWait bounds one call. A text with many ambiguous hyphens is several questions to a model
// that may have to be loaded first.
const normalizeWait = 3 * time.Minute

// normalizeOCRText returns the tool that restores long-vowel marks. It reads no knowledge base, so
// it is the same for all callers and needs no token of the caller. The schema has maxLength for
// clients that look at it; for a text that is too long, the tool returns the specification's
// sentence.
func normalizeOCRText(n *ocr.Normalizer) tools.Tool {
	return tools.Tool{
		Name: "normalize_ocr_text", Title: "Normalize OCR text", Description: normalizeOCRTextText,
		Hints: reading(), Timeout: normalizeWait,
		Schema: json.RawMessage(
			`{"type": "object", "required": ["text"], "additionalProperties": false, "properties": {
			"text": {"type": "string", "maxLength": 10000, "description": "Text as OCR read it, e.g. マネ-ジャ-"}}}`),
		Output: json.RawMessage(
			`{"type": "object", "required": ["original_text", "normalized_text", "status"], "properties": {
			"original_text": {"type": "string"}, "normalized_text": {"type": "string"}, "status": {"type": "string"},
			"changes": {"type": "array", "items": {"type": "object", "required": ["offset", "from", "to", "by"], "properties": {
				"offset": {"type": "integer"}, "from": {"type": "string"}, "to": {"type": "string"}, "by": {"enum": ["rule", "llm", "repair", "policy"]}}}},
			"ambiguous": {"type": "integer"}, "warnings": {"type": "array", "items": {"type": "string"}}}}`),
		Refuse: func(_ context.Context, text json.RawMessage) (tools.Result, bool) {
			var args struct{ Text string }
			if json.Unmarshal(text, &args) == nil &&
				utf8.RuneCountInString(args.Text) > ocr.MaxText {
				return failure(http.StatusBadRequest, ocr.ErrTooLong.Error()), true
			}
			return tools.Result{}, false
		},
		Call: func(ctx context.Context, text json.RawMessage) (tools.Result, error) {
			var args struct{ Text string }
			if err := json.Unmarshal(text, &args); err != nil {
				return tools.Result{}, err
			}
			res, err := n.Normalize(ctx, args.Text)
			switch {
			// No text is returned: a partly normalized text would look like a complete one.
			case errors.Is(err, ocr.ErrUnavailable):
				hint := ""
				var said *post.Refused
				if errors.As(err, &said) && said.Code == http.StatusNotFound {
					hint = "the server has no such model: pull it there (ollama pull NAME), or set ocr-llm-model to one that it has"
				}
				return hinted(http.StatusServiceUnavailable, ocr.ErrUnavailable.Error(), hint), nil
			case err != nil:
				return tools.Result{}, err
			}
			// a list that is nil would be null in JSON
			return tools.JSONOf(normalized{args.Text, res.Text, "success",
				append([]ocr.Change{}, res.Changes...), res.Ambiguous,
				append([]string{}, res.Warnings...)})
		},
	}
}

// normalized is the result of normalize_ocr_text. The first three members are the specification's.
// The others say what was changed, so that a person who checks the text against its page need not
// compare every character.
type normalized struct {
	Original   string       `json:"original_text"`
	Normalized string       `json:"normalized_text"`
	Status     string       `json:"status"`
	Changes    []ocr.Change `json:"changes"`
	Ambiguous  int          `json:"ambiguous"`
	Warnings   []string     `json:"warnings"`
}
