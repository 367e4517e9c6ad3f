package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// function is a tool as OpenAI writes it inside {"type": "function", "function": …}.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// ParseTools reads tools from a file or a request: OpenAI's list, a list of bare functions {"name",
// "description", "parameters"}, or an object whose member "tools" is one of these. null means no
// tools. It returns an error if the text is none of these, and the error names the entry that is
// wrong.
func ParseTools(src []byte) ([]Tool, error) {
	src = bytes.TrimSpace(src)
	if len(src) > 0 && src[0] == '{' {
		var object struct{ Tools json.RawMessage }
		if err := json.Unmarshal(src, &object); err != nil {
			return nil, err
		}
		if object.Tools == nil {
			return nil, errors.New(`no member "tools"`)
		}
		src = object.Tools
	}
	var list []json.RawMessage
	if err := json.Unmarshal(src, &list); err != nil {
		return nil, fmt.Errorf("must be a list of tools: %w", err)
	}
	tools := make([]Tool, len(list))
	for i, entry := range list {
		f, err := parseFunction(entry)
		if err != nil {
			return nil, fmt.Errorf("tool %d: %w", i, err)
		}
		tools[i] = Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters,
			Strict: f.Strict}
	}
	return tools, nil
}

// parseFunction reads one entry of a list of tools, which is a bare function or {"function": …}. It
// returns an error if the entry is not a function with a name.
func parseFunction(entry []byte) (*function, error) {
	var wrapped struct{ Function *function }
	if err := json.Unmarshal(entry, &wrapped); err != nil {
		return nil, err
	}
	f := wrapped.Function
	if f == nil {
		f = new(function)
		if err := json.Unmarshal(entry, f); err != nil {
			return nil, err
		}
	}
	if f.Name == "" {
		return nil, errors.New("has no name")
	}
	return f, nil
}
