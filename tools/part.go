package tools

import "fmt"

// text returns the part as text. A link is written as Markdown, which models can read and repeat.
// Data that is not text is described (see mention).
func (p Part) text() string {
	switch p.Kind {
	case Image:
		return p.mention("image")
	case Audio:
		return p.mention("audio")
	// A document without text consists of bytes; a document with text is read like any text.
	case Resource:
		if p.Text == "" {
			return p.mention("resource " + p.URI)
		}
	case Link:
		return fmt.Sprintf("[%s](%s)", p.Text, p.URI)
	}
	return p.Text
}

// mention returns a note such as "[picture image/png, 1200 bytes]", to show in place of data that
// is not text; the parameter what is its first word. A picture in base64 would fill the context of
// a model that cannot see it.
func (p Part) mention(what string) string {
	return fmt.Sprintf("[%s %s, %d bytes]", what, p.MIME, len(p.Data))
}

// size returns how many bytes of the limit of a result (Options.MaxResult) the part takes.
func (p Part) size() int { return len(p.Text) + len(p.Data) + len(p.URI) }
