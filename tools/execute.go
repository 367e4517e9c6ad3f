package tools

import (
	"cmp"
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// Outcome is the result of a call in the form that execute_tool promises: always an object, with
// either a result or an error. toolrun prints it as one line. A script needs to look at only one
// member to know whether the call succeeded.
type Outcome struct {
	Success bool            `json:"success"`
	Result  json.RawMessage `json:"result,omitempty"` // set if Success is true
	Error   string          `json:"error,omitempty"`  // not empty if Success is false
	// with Error: the failure as the tool's own structured value, if it has one
	Details json.RawMessage `json:"details,omitempty"`
}

// OutcomeOf returns the outcome of a result. For a success, that is the structured value if there
// is one, otherwise the text as a JSON string. For a failure, its error is the "message" of the
// structured value, otherwise the text. The structured value is preferred because the text contains
// only the same JSON as a string.
func OutcomeOf(r Result) Outcome {
	switch {
	case r.IsError:
		var said struct{ Message string }
		_ = json.Unmarshal(r.Structured, &said) // another shape: the text says what was wrong
		return Outcome{Error: cmp.Or(said.Message, r.Text(),
			"the tool failed and does not say why"), Details: r.Structured}
	case r.Structured != nil:
		return Outcome{Success: true, Result: r.Structured}
	}
	text, err := chat.JSON(r.Text())
	if err != nil {
		return Outcome{Error: err.Error()}
	}
	return Outcome{Success: true, Result: text}
}

// JSON returns the outcome as compact JSON, with the letters of every language unescaped. If a
// value in the outcome is not valid JSON, it returns an outcome with an error about that instead.
func (o Outcome) JSON() json.RawMessage {
	text, err := chat.JSON(o)
	if err != nil { // a tool's own value that is not JSON
		text, _ = chat.JSON(Outcome{Error: "the tool's result is no JSON: " + err.Error()})
	}
	return text
}

// Text returns the texts of the result's parts, one per line. A part that is not text is described
// by its kind, type and size. Readers that take only text, such as shell mode, then learn at least
// that there was a picture. A result without parts is its structured value.
func (r Result) Text() string {
	var lines []string
	for _, p := range r.Content {
		lines = append(lines, p.text())
	}
	if len(lines) == 0 {
		return string(r.Structured)
	}
	return strings.Join(lines, "\n")
}
