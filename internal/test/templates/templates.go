// Package templates has recordings of how chat templates render conversations. They were made with
// a llama-server and the templates that come with llama.cpp. Tests use a recording in place of the
// server.
//
// The end-to-end test TestTemplateRecordings makes the recordings again. A prompt is recorded from
// the first message on, since the long system text before it says nothing about replies. Of a
// template's source, only the few lines that are needed are recorded.
package templates

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"toolnorm/chat"
)

// Recording is the recording of one template. Conversations are found by their content (see Key),
// so a test needs no names for them.
type Recording struct {
	Name string `json:"-"`
	// the family whose models have this template; empty: none
	Family string `json:"family,omitempty"`
	// the lines of the template's source that are needed
	Source  string            `json:"source,omitempty"`
	Prompts map[string]string `json:"prompts"` // by conversation, see Key
	// why the server refused a conversation, by the same keys
	Refused map[string]string `json:"refused,omitempty"`
}

//go:embed recordings/*.json
var recordings embed.FS

// All returns the recordings, sorted by name. It fails only if an embedded file is not valid JSON.
func All() ([]*Recording, error) {
	files, err := recordings.ReadDir("recordings")
	if err != nil {
		return nil, err
	}
	var all []*Recording
	for _, f := range files {
		src, err := recordings.ReadFile(path.Join("recordings", f.Name()))
		if err != nil {
			return nil, err
		}
		r := &Recording{Name: strings.TrimSuffix(f.Name(), ".json")}
		if err := json.Unmarshal(src, r); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Render returns the prompt that a server once made of a conversation, from the recording. It
// ignores the tools, since all recordings were made with the same ones. It has the type
// derive.Render, like the functions that ask a server, so a recording can replace them. It fails
// with the server's reason if the server refused the conversation. If the conversation was not
// recorded, the error names the command that records it.
func (r *Recording) Render(messages []chat.Message, _ []chat.Tool) (string, error) {
	key := Key(messages)
	if prompt, ok := r.Prompts[key]; ok {
		return prompt, nil
	}
	if reason, ok := r.Refused[key]; ok {
		return "", fmt.Errorf("%s", reason)
	}
	return "", fmt.Errorf(
		"%s was not recorded with %s: run e2e/run.sh -run TestTemplateRecordings with TOOLNORM_E2E_TEMPLATES=write", r.Name, key)
}

// Add records how the template rendered a conversation: the prompt from the first message on, or
// the first line of err, which says why the server refused.
func (r *Recording) Add(messages []chat.Message, prompt string, err error) {
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		r.Refused[Key(messages)] = reason
		return
	}
	if at := strings.LastIndex(prompt, messages[0].Content); at >= 0 {
		prompt = prompt[at:]
	}
	r.Prompts[Key(messages)] = prompt
}

// Key returns a text that identifies a conversation. It contains roles, texts, reasoning, and the
// calls with their arguments, but no ids of calls.
func Key(messages []chat.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s(%s", m.Role, m.Content)
		if m.Reasoning != "" {
			fmt.Fprintf(&b, " thinks %s", m.Reasoning)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " %s%s", c.Name, c.Args)
		}
		b.WriteString(")")
	}
	return b.String()
}
