package chat

import (
	"bytes"
	"encoding/json"
)

// JSON writes compact JSON on one line, with <, > and & as they are: models and people read it, no web page does.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
