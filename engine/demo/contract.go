package demo

import (
	"encoding/json"
	"strings"

	"toolnorm/adapters"
	"toolnorm/engine/upstream"
)

// The demo answers as well to clients that write the tools into the system prompt, as agents do for models without tool
// calling: package agent, and whoever uses the same contract. It reads the JSON list behind the first of these words, and takes
// for results what users say behind the second.
const (
	listMark   = "the following tools:\n["
	resultMark = "[Tool Result: "
)

// contracted is the turn as one with tools, and the format in which the contract wants calls; nil: the prompt
// holds none. A list that is no JSON is none. The decoder stops behind the list by itself, since prose goes on
// there.
//
// A result comes as the user's message in that contract, "[Tool Result: get_time]\n12:00", and is a tool's message
// here, so that the demo answers it in words instead of calling again.
//
// The list stands in the system text as [{"name": "get_time", "description": "…", "parameters": {…}}].
func (t demoTurn) contracted() (demoTurn, *adapters.Format) {
	if len(t.Tools) > 0 || len(t.Messages) == 0 || t.Messages[0].Role != "system" {
		return t, nil
	}
	_, list, found := strings.Cut(t.Messages[0].Content, listMark)
	if !found {
		return t, nil
	}
	var described []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if err := json.NewDecoder(strings.NewReader("[" + list)).Decode(&described); err != nil {
		return t, nil
	}
	out := demoTurn{}
	for _, d := range described {
		out.Tools = append(out.Tools, upstream.Tool{Type: "function", Function: upstream.Function{Name: d.Name, Description: d.Description, Parameters: d.Parameters}})
	}
	for _, m := range t.Messages {
		if rest, ok := strings.CutPrefix(m.Content, resultMark); ok && m.Role == "user" {
			name, text, _ := strings.Cut(rest, "]\n")
			m.Role, m.ToolName, m.Content = "tool", name, text
		}
		out.Messages = append(out.Messages, m)
	}
	return out, adapters.Named("agent")
}
