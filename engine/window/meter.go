package window

const (
	// bytesPerToken is assumed if nothing was counted. docs/internal/context.md has the
	// measurements.
	bytesPerToken = 3
	// fewest is how many tokens a count needs to be useful for other requests. In shorter prompts
	// the template's own text weighs most.
	fewest = 256
)

// Meter estimates how many tokens a text has, in the ratio of bytes to tokens that the server
// counted last for the model. The zero value uses a default ratio. The ratio differs between models
// and texts: with the tokenizers of three models, code has 2.7 to 3.4 bytes a token, and Chinese
// 1.5 to 5.0.
type Meter struct {
	Bytes, Tokens int // size of one request, with the tokens that the server counted
}

// Estimate returns about how many tokens a text of so many bytes has. It is only used to choose a
// context length: where a server counts tokens, nothing is left out because of an estimate.
func (m Meter) Estimate(bytes int) int {
	if m.Tokens == 0 {
		return bytes/bytesPerToken + 1
	}
	return int(int64(bytes)*int64(m.Tokens)/int64(m.Bytes)) + 1
}

// Text returns about how many bytes the given tokens are.
func (m Meter) Text(tokens int) int {
	if m.Tokens == 0 {
		return tokens * bytesPerToken
	}
	return int(int64(tokens) * int64(m.Bytes) / int64(m.Tokens))
}

// Learn records that the server has counted the given tokens in a text of the given bytes. The new
// count replaces the last one, since later requests are more informative. It ignores a count of
// fewer than 256 tokens, or of less than half the last one's tokens, because short requests are
// less informative.
func (m *Meter) Learn(bytes, tokens int) {
	if bytes > 0 && tokens >= fewest && tokens >= m.Tokens/2 {
		*m = Meter{bytes, tokens}
	}
}
