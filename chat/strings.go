package chat

import "strings"

// blockSize is how many bytes Strings allocates at a time.
const blockSize = 4096

// Strings turns short-lived bytes into strings that may be stored, with one allocation per block.
// It relies on strings.Builder only ever appending, so a string cut from it is never written again.
// The zero value is ready for use. A Strings must not be copied or used by two goroutines at once.
type Strings struct {
	block *strings.Builder
}

// Of returns a string with the bytes of b.
func (s *Strings) Of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > blockSize/4 {
		return string(b)
	}
	if s.block == nil || s.block.Cap()-s.block.Len() < len(b) {
		s.block = new(strings.Builder)
		s.block.Grow(blockSize)
	}
	start := s.block.Len()
	s.block.Write(b)
	return s.block.String()[start:]
}
