// Package templates holds what real chat templates made of conversations: recordings of a
// llama-server that served the templates that llama.cpp ships. Tests ask them as they would ask the
// server.
//
// A recording is made again by the end-to-end lane (TestTemplateRecordings). It keeps what stands
// behind the first request only, since the system text with the tools in it is long and says
// nothing about replies; of a template's source it keeps the few lines that are read.
package templates

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"toolnorm/chat"
)

// Recording is one template. A conversation is named by its content, so the same recording answers
// whoever asks for the same turns.
type Recording struct {
	Name string `json:"-"`
	// whose models bring it; empty: no family's
	Family string `json:"family,omitempty"`
	// the lines of its source that say something
	Source  string            `json:"source,omitempty"`
	Prompts map[string]string `json:"prompts"` // by conversation, see Key
	// why the server refused a conversation, by the same names
	Refused map[string]string `json:"refused,omitempty"`
}

//go:embed recordings/*.json
var recordings embed.FS

// All returns the recordings, by name.
// An error is a file of the repository that is no JSON: a merge gone wrong, never a user's doing.
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

// Render returns the prompt of a recorded conversation. For one that was not recorded, the error
// says so and names the command that records. Tools are not part of the name: all recordings were
// made with the probes' tools. It is a derive.Render, so code that asks servers runs on recordings
// unchanged.
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

// Add records what a template made of a conversation. Of a refusal the first line is kept, which
// says why; of a prompt the part from the first message on.
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

// Key names a conversation: a word a message. Ids of calls are left out, since they are the same in
// all probes; arguments are in, since they are what differs.
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
