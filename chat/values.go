package chat

import "bytes"

// Values counts what the values of JSON text are parted and opened by, outside strings, before anything is made of it: it holds at most
// one value more than that.
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
		for {
			end := bytes.IndexAny(body, `"\`)
			if end < 0 {
				return n
			}
			if body[end] == '"' {
				body = body[end+1:]
				break
			}
			body = body[min(end+2, len(body)):]
		}
	}
	return n
}
