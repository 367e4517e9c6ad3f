package ollama

import (
	"bytes"

	"toolnorm/engine/upstream"
)

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
			dst, rest, ok = upstream.Unquoted(dst, rest[len(`"response":"`):])
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
