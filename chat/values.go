package chat

import "bytes"

// Values counts what the values of JSON text are parted and opened by, outside strings, before
// anything is made of it: it holds at most one value more than that.
func Values(body []byte) (n int) {
	opened := func(part []byte) int {
		return bytes.Count(part, []byte{','}) + bytes.Count(part, []byte{'['}) + bytes.Count(part, []byte{'{'})
	}
	for len(body) > 0 {
		q := bytes.IndexByte(body, '"')
		if q < 0 {
			return n + opened(body)
		}
		n += opened(body[:q])
		body = body[q+1:]
		end := 0
		for end < len(body) && body[end] != '"' { // a byte at a time: looking for two signs at once costs more where many are escaped
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
