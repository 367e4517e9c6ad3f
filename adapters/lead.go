package adapters

import (
	"toolnorm/adapters/internal/print"
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
	return lead + print.Opening(f.Family, name)
}
