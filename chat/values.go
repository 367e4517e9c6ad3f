package chat

import "bytes"

// Values returns how many commas, [ and { are outside the strings of a JSON text. Each value except
// the outermost begins after one of them, so the text has at most one value more than that. Values
// is for texts that are not parsed yet.
func Values(body []byte) (n int) {
	opened := func(part []byte) int {
		return bytes.Count(part, []byte{','}) + bytes.Count(part, []byte{'['}) + bytes.Count(part,
			[]byte{'{'})
	}
	for len(body) > 0 {
		q := bytes.IndexByte(body, '"')
		if q < 0 {
			return n + opened(body)
		}
		n += opened(body[:q])
		body = body[q+1:]
		end := 0
		// a byte at a time: searching for both signs costs more where there are many escapes
		for end < len(body) && body[end] != '"' {
			if body[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(body) {
			return n
		}
		body = body[end+1:]
	}
	return n
}
