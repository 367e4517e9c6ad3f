package runner

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Read is the inverse of Command and Base64: the call that a line runs. It is false for every line that they would not
// have written, byte for byte, so that what is read is certain.
func (p Program) Read(line string) (name string, args json.RawMessage, ok bool) {
	rest, ok := strings.CutPrefix(line, p.words()+" ")
	if !ok {
		return "", nil, false
	}
	write := p.Command
	if data, found := strings.CutPrefix(rest, "--b64 "); found {
		write = p.Base64
		data, name, _ = strings.Cut(data, " ")
		text, err := base64.RawURLEncoding.DecodeString(data)
		if err != nil {
			return "", nil, false
		}
		args = text
		name = strings.TrimPrefix(name, "-- ")
	} else {
		var quoted string
		name, quoted, _ = strings.Cut(strings.TrimPrefix(rest, "-- "), " ")
		args = json.RawMessage(strings.Trim(quoted, "'"))
	}
	again, err := write(name, args)
	return name, args, err == nil && again == line
}

// ReadFetch is the inverse of Fetch: the id of the pending call that a line runs. It is false for every other line.
func (p Program) ReadFetch(line string) (id string, ok bool) {
	id, ok = strings.CutPrefix(line, p.words()+" --call ")
	again, err := p.Fetch(id)
	return id, ok && err == nil && again == line
}
