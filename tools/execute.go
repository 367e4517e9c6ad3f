package tools

import (
	"cmp"
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// Outcome is a result as execute_tool promises it: always an object, with either a result or an
// error. toolrun prints it as one line, and a script needs to look at only one member to know
// whether the call succeeded.
type Outcome struct {
	Success bool            `json:"success"`
	Result  json.RawMessage `json:"result,omitempty"` // with Success
	Error   string          `json:"error,omitempty"`  // without; never empty then
	// beside Error: the failure in the tool's own shape, if it has one
	Details json.RawMessage `json:"details,omitempty"`
}

// OutcomeOf renders a result: its structured value when there is one, else its text as a JSON
// string. For a failure with a structured value, the error is the message in that value. The
// structured value is preferred to the text, which holds the same JSON as a string.
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

// JSON returns the outcome as compact JSON, letters of every language unescaped.
func (o Outcome) JSON() json.RawMessage {
	text, err := chat.JSON(o)
	if err != nil { // a tool's own value that is not JSON
		text, _ = chat.JSON(Outcome{Error: "the tool's result is no JSON: " + err.Error()})
	}
	return text
}

// Text returns the result's texts, one per line; a part that is not text is described by its kind,
// type and size. It is for readers that take only text, such as shell mode: they learn at least
// that there was a picture.
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
