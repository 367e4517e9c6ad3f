package ollama

import "bytes"

// quickText appends the text of a record of /api/generate that holds nothing else to dst:
//
//	{"model":"qwen3","created_at":"2026-11-21T07:44:28.59Z","response":"\u003ctok","done":false}
//
// Nearly all of a reply's records are like this. Reading them by their quotes costs a fourth of parsing them; what differs in
// any way is not ok, and parsed.
func quickText(dst, line []byte) (text []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("{"))
	if !ok {
		return nil, false
	}
	for seen := false; ; {
		if string(rest) == `"done":false}` {
			return dst, seen
		}
		switch {
		case !seen && bytes.HasPrefix(rest, []byte(`"response":"`)):
			seen = true
			dst, rest, ok = unquoted(dst, rest[len(`"response":"`):])
		case bytes.HasPrefix(rest, []byte(`"model":"`)):
			rest, ok = beyondString(rest[len(`"model":"`):])
		case bytes.HasPrefix(rest, []byte(`"created_at":"`)):
			rest, ok = beyondString(rest[len(`"created_at":"`):])
		default:
			return nil, false
		}
		if !ok || len(rest) == 0 || rest[0] != ',' {
			return nil, false
		}
		rest = rest[1:]
	}
}

// beyondString is what stands behind a string without escapes, of which the opening quote was read. Models' names
// and times have no escapes; one that has is for the parser.
func beyondString(rest []byte) ([]byte, bool) {
	end := bytes.IndexByte(rest, '"')
	if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return nil, false
	}
	return rest[end+1:], true
}

// unquoted appends a string, of which the opening quote was read, to dst, and gives what stands behind it. Escapes
// beyond ASCII are not ok: they may be halves of pairs. Those of ASCII are frequent: Ollama writes < > and & as
// \u003c, \u003e and \u0026.
func unquoted(dst, rest []byte) (_, behind []byte, ok bool) {
	for {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			return nil, nil, false
		}
		at := bytes.IndexByte(rest[:n], '\\')
		if at < 0 {
			return append(dst, rest[:n]...), rest[n+1:], true
		}
		dst = append(dst, rest[:at]...)
		c, size := escaped(rest[at+1:])
		if size == 0 {
			return nil, nil, false
		}
		dst, rest = append(dst, c), rest[at+1+size:]
	}
}

// escaped is the byte that an escape stands for, and the length of it behind its backslash; 0 when it is none of ASCII.
func escaped(rest []byte) (c byte, size int) {
	const short, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if len(rest) == 0 {
		return 0, 0
	}
	if i := bytes.IndexByte([]byte(short), rest[0]); i >= 0 {
		return means[i], 1
	}
	if len(rest) < 5 || rest[0] != 'u' || rest[1] != '0' || rest[2] != '0' || rest[3] > '7' {
		return 0, 0
	}
	high, low := hexDigit(rest[3]), hexDigit(rest[4])
	if high < 0 || low < 0 {
		return 0, 0
	}
	return byte(high<<4 | low), 5
}

// hexDigit is the value of a hexadecimal digit, -1 of anything else.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
