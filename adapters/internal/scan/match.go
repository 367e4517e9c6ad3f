package scan

// Match is what looking for something says, up to the point where a call is committed. The third
// answer is what keeps reading independent of chunks: a text that ended within "<tool_ca" is
// neither text nor a mark yet, and who asked decides by how the reply ended.
type Match uint8

const (
	Mismatch   Match = iota // a byte came that cannot be
	Incomplete              // the text ended while every byte so far fitted
	Matched                 // it stands there
	Committed               // a call has begun and was read to its end: no way back
)

// IncompleteAtEnd returns Incomplete where c is the end of the text, else m.
func IncompleteAtEnd(c int, m Match) Match {
	if c < 0 {
		return Incomplete
	}
	return m
}
