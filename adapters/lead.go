package adapters

import (
	"strings"

	"toolnorm/chat"
)

// Lead is what to write behind a rendered prompt so that a call can follow as one JSON object {"name": …, "arguments": …},
// whatever the family's own form: open reasoning is closed, what the model has said since the prompt is repeated (but for
// families of messages, each of which stands alone), and the family's own mark begins the call. Name is the tool's, empty
// when there are several.
func (f *Format) Lead(prompt, said, name string) string {
	lead := said
	if f.Header != nil {
		lead = ""
	}
	if p := f.Index(false).OpenedReasoning(prompt); p != nil {
		lead = p.Family.ThinkEnd() + "\n\n" + lead
	}
	return lead + f.openingMark(name)
}

// openingMark is how a printed call begins, up to the end of the last mark in front of its name or its object. Message
// families have the name in the header: there the whole header is the mark.
func (f *Format) openingMark(name string) string {
	if name == "" {
		name = shape.Name
	}
	text := string(f.Append(nil, chat.Call{ID: shape.ID, Name: name, Args: shape.Args}))
	text, _, _ = strings.Cut(text, "{")
	if f.Header != nil {
		return text
	}
	if i := strings.Index(text, name); i >= 0 {
		text = text[:i]
	}
	return text[:strings.LastIndexAny(text, ">]\n")+1]
}
