package admin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/family"
	"toolnorm/internal/fault"
	"toolnorm/internal/replay"
)

// listFormats returns the names of the formats by which a text can be read. They include the user's
// own families, since users try them out by a replay. The error is always nil.
func (l *live) listFormats(*http.Request) (any, error) {
	names := []string{}
	for _, f := range l.current.Load().formats.All() {
		names = append(names, f.Name)
	}
	return map[string][]string{"formats": names}, nil
}

// replay returns how a format reads a text. No model is asked. The schemas of the tools decide
// whether a call fits; a tool without a schema takes any object, as in the engine. It returns an
// error if the format is unknown or the text is longer than maxReplay.
func (l *live) replay(r *http.Request) (any, error) {
	var ask struct {
		Text   string  `json:"text"`
		Format string  `json:"format"`
		Cut    bool    `json:"cut"`
		Tools  []offer `json:"tools"`
	}
	if err := read(r, &ask); err != nil {
		return nil, err
	}
	f := l.current.Load().formats.Named(ask.Format)
	switch {
	case f == nil:
		return nil, &fault.Error{Kind: fault.Invalid, Param: "format",
			Message: "there is no format " + ask.Format}
	case len(ask.Text) > maxReplay:
		return nil, errLongReplay
	}
	return replay.Read(f, replay.Text{Raw: ask.Text, Cut: ask.Cut, Tools: offers(ask.Tools)})
}

// errLongReplay is the error for a text that is longer than maxReplay.
var errLongReplay = &fault.Error{Kind: fault.TooLarge, Param: "text",
	Message: "the text is longer than 256 KiB"}

// learn returns a proposed family file for a reply in which the user has marked a call. It returns
// an error if the name is taken or has other characters than nameChars, or if no file can be made
// from the reply.
func (l *live) learn(r *http.Request) (any, error) {
	var ask struct {
		Name string `json:"name"` // of the family
		// the prefix of its models' names; empty: the family's name
		Model     string         `json:"model"`
		Text      string         `json:"text"`
		Tools     []offer        `json:"tools"`
		Tool      family.Stretch `json:"tool"`
		Arguments family.Stretch `json:"arguments"`
	}
	if err := read(r, &ask); err != nil {
		return nil, err
	}
	formats := l.current.Load().formats
	switch {
	case formats.Named(ask.Name) != nil:
		return nil, &fault.Error{Kind: fault.Invalid, Param: "name", Message: "there is a family " +
			ask.Name + " already, which the file would replace; choose another name"}
	case strings.Trim(ask.Model, nameChars) != "":
		return nil, fault.Wrong("model",
			"the beginning of the models' names must be of lowercase letters, digits, hyphens, dots and underscores")
	case strings.Trim(ask.Name, nameChars) != "" || ask.Name == "":
		return nil, fault.Wrong("name",
			"the name must be of lowercase letters, digits, hyphens, dots and underscores")
	case len(ask.Text) > maxReplay:
		return nil, errLongReplay
	}
	file, questions, err := family.FromMarked(ask.Name, cmp.Or(ask.Model, ask.Name), formats,
		family.Reply{Raw: ask.Text, Tools: offers(ask.Tools)}, ask.Tool, ask.Arguments)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Invalid, Param: "text", Message: err.Error()}
	}
	return proposal{file, append([]string{}, questions...)}, nil
}

// nameChars are the characters that a family's name may contain.
const nameChars = "abcdefghijklmnopqrstuvwxyz0123456789-._"

// proposal is a text that declares a model family, and the questions about it that a person should
// decide. The server proposes both; nothing is saved.
type proposal struct {
	File      string   `json:"file"`
	Questions []string `json:"questions"`
}

// offer is a tool that a model was offered.
type offer struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// offers converts the offered tools of a request to tools of package chat.
func offers(all []offer) (tools []chat.Tool) {
	for _, t := range all {
		tools = append(tools, chat.Tool{Name: t.Name, Schema: t.Schema})
	}
	return tools
}
