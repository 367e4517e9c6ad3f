// Package input holds the inputs of the arena: what a model wrote, and which calls it meant.
package input

import (
	"bufio"
	"encoding/json"
	"os"

	"toolnorm/chat"
)

// Case is an input: a text that a model wrote, and the calls that it meant. Readers get it without
// the fields that say what is right.
type Case struct {
	ID  string `json:"id"`
	Row string `json:"row,omitempty"`
	// the family of the model that wrote it; empty in a file: found by Model
	Format string          `json:"format"`
	Model  string          `json:"model,omitempty"`       // the name of the model
	Prompt string          `json:"prompt_tail,omitempty"` // the end of the prompt
	Tools  json.RawMessage `json:"tools,omitempty"`       // of OpenAI's API
	// the name of a set of tools that an earlier line of the file defines
	ToolSet  string          `json:"tool_set,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"` // the conversation before it
	Text     string          `json:"text"`
	Deltas   []string        `json:"deltas,omitempty"` // the same text in pieces
	Stream   bool            `json:"stream,omitempty"` // it is read piece by piece
	Finish   string          `json:"finish,omitempty"` // stop or length
	Alone    *Alone          `json:"alone,omitempty"`  // for readers that read only arguments

	Want   []Call `json:"want,omitempty"`   // the calls that were meant; empty: no call may run
	Prefix bool   `json:"prefix,omitempty"` // the first calls of Want, or none, are right
	// the id of a case; only readers that read that case right are asked this one
	Base string `json:"base,omitempty"`
	Like string `json:"like,omitempty"` // the id of the case that must be read in the same way
	Note string `json:"note,omitempty"` // for readers of the page
}

// Alone is the text of one call's arguments without the rest of the call, and the name of the tool.
type Alone struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Call is a call, with its arguments as JSON text.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tools returns tools as JSON in the form of OpenAI's API.
func Tools(offered []chat.Tool) json.RawMessage {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var all []tool
	for _, t := range offered {
		all = append(all, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	out, _ := json.Marshal(all) // schemas are JSON
	return out
}

// Write writes cases into a file, one JSON object per line. Before the cases it writes the sets of
// tools to which they refer. It returns an error if the file cannot be written.
func Write(name string, cases []Case, sets map[string][]chat.Tool) error {
	var all []Case
	for set, tools := range sets {
		all = append(all, Case{ToolSet: set, Tools: Tools(tools)})
	}
	return WriteLines(name, append(all, cases...))
}

// WriteLines writes values into a file, one JSON object per line. It returns an error if the file
// cannot be written.
func WriteLines[T any](name string, values []T) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
