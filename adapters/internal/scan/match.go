package scan

// Match is the result of looking for something, up to the point where a call is committed.
// Incomplete keeps reading independent of chunks: a text that ends in "<tool_ca" is neither text
// nor a mark yet, and the caller decides by how the reply ended.
type Match uint8

const (
	Mismatch   Match = iota // a byte did not match
	Incomplete              // the text ended, and every byte so far matched
	Matched                 // all of it is there
	Committed               // a call was read to its end and cannot be undone
)

// IncompleteAtEnd returns Incomplete if c is the end of the text (-1), else m.
func IncompleteAtEnd(c int, m Match) Match {
	if c < 0 {
		return Incomplete
	}
	return m
}
