package tools

import "fmt"

// text returns the part as text. A link is written as Markdown, which models read and repeat.
func (p Part) text() string {
	switch p.Kind {
	case Image:
		return p.mention("image")
	case Audio:
		return p.mention("audio")
	// A document without text holds bytes; a document with text is read like any text.
	case Resource:
		if p.Text == "" {
			return p.mention("resource " + p.URI)
		}
	case Link:
		return fmt.Sprintf("[%s](%s)", p.Text, p.URI)
	}
	return p.Text
}

// mention returns a text in place of data that is not text. Base64 of a picture would fill a
// context, and a model that reads text cannot see it.
func (p Part) mention(what string) string {
	return fmt.Sprintf("[%s %s, %d bytes]", what, p.MIME, len(p.Data))
}

// size returns how many bytes the part takes, of the limit of a result.
func (p Part) size() int { return len(p.Text) + len(p.Data) + len(p.URI) }
