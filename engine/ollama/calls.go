package ollama

import (
	"encoding/json"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// callRecord is the part of a record that holds the server's own calls. They are rare and come whole, so reading the
// record a second time, for the spelling of the arguments, costs nothing that matters.
type callRecord struct {
	Message struct {
		Calls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
}

// addCalls queues the calls that the server has found itself, their arguments spelled as on the wire.
func (s *stream) addCalls(line []byte) error {
	var r callRecord
	if err := json.Unmarshal(line, &r); err != nil {
		return fault.New(fault.Unavailable, "the model server sent a call that cannot be read: %w", err)
	}
	for _, c := range r.Message.Calls {
		args, err := object(c.Function.Arguments)
		if err != nil {
			return fault.New(fault.Unavailable, "the model server sent a call of %q whose arguments are no object", c.Function.Name)
		}
		s.queue = append(s.queue,
			chat.Event{Kind: chat.CallStart, Index: s.calls, ID: c.ID, Text: c.Function.Name},
			chat.Event{Kind: chat.CallArgs, Index: s.calls, Text: args},
			chat.Event{Kind: chat.CallEnd, Index: s.calls})
		s.calls++
	}
	return nil
}

// object is the text of an arguments member: an object, an object inside a string, or nothing at all.
func object(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}", nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", err
		}
		raw = json.RawMessage(s)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", err
	}
	return string(raw), nil
}
