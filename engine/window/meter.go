package window

const (
	// bytesPerToken is what a token stands for where nothing was counted. docs/internal/context.md
	// has what was measured.
	bytesPerToken = 3
	// fewest is how many tokens a count must have to say something of others: in short prompts the
	// template's own text weighs most.
	fewest = 256
)

// Meter tells tokens by what a server has counted for a model. The zero value has nothing to go by.
// The ratio is a model's own: code has 2.7 to 3.4 bytes a token, Chinese 1.5 to 5.0, by three
// models' tokenizers.
type Meter struct {
	Bytes, Tokens int // of one request
}

// Estimate returns about how many tokens so many bytes are. It only chooses a context; nothing is
// left out by it where a server counts.
func (m Meter) Estimate(bytes int) int {
	if m.Tokens == 0 {
		return bytes/bytesPerToken + 1
	}
	return int(int64(bytes)*int64(m.Tokens)/int64(m.Bytes)) + 1
}

// Text returns about how many bytes so many tokens are.
func (m Meter) Text(tokens int) int {
	if m.Tokens == 0 {
		return tokens * bytesPerToken
	}
	return int(int64(tokens) * int64(m.Bytes) / int64(m.Tokens))
}

// Learn records a count of the server's. Long requests tell more than short ones, and late ones
// more than early ones: a count of less than half the last one's tokens teaches nothing.
func (m *Meter) Learn(bytes, tokens int) {
	if bytes > 0 && tokens >= fewest && tokens >= m.Tokens/2 {
		*m = Meter{bytes, tokens}
	}
}
