package scan

// Match is the result of looking for something in a text that may still be arriving. Incomplete
// means that more text is needed: a text that ends in "<tool_ca" is neither plain text nor an
// opening tag yet. So the result does not depend on how the text is cut into chunks. Only the
// caller knows when the reply has ended, and decides what Incomplete means then.
type Match uint8

const (
	Mismatch   Match = iota // a byte did not match
	Incomplete              // the text ended, but every byte so far matched
	Matched                 // all of it was found
	Committed               // a call has begun, so the attempt can no longer fail
)

// IncompleteAtEnd returns Incomplete if c is the end of the text (-1), and otherwise m.
func IncompleteAtEnd(c int, m Match) Match {
	if c < 0 {
		return Incomplete
	}
	return m
}
