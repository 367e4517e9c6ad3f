package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolnorm/chat"
)

// object is a JSON object whose members keep their order and their text. With it, saving a file
// that people edit moves nothing and loses nothing that we do not know. A map would sort the names,
// and a float64 would write 1e21 for a long number.
type object []member

// member is a key and its value as JSON text.
type member struct {
	key   string
	value json.RawMessage
}

// readObject reads text that must be exactly one JSON object, and otherwise returns an error. If a
// key occurs twice, the result has it twice, which object.twice reports.
func readObject(text []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	// By tokens, as Unmarshal into a map would lose the order and take the last of two equal keys.
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return nil, errors.New("must be an object")
	}
	o := object{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: t.(string)} // encoding/json gives nothing else in a key's place
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		o = append(o, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the object")
	}
	return o, nil
}

// twice returns an error if a key occurs twice, because programs differ in which of the values they
// use.
func (o object) twice() error {
	seen := map[string]bool{}
	for _, m := range o {
		if seen[m.key] {
			return fmt.Errorf("%q is there twice", m.key)
		}
		seen[m.key] = true
	}
	return nil
}

// keySigns removes the signs that spellings of a key differ in.
var keySigns = strings.NewReplacer("_", "", "-", "", " ", "")

// foldKey returns one spelling for all spellings of a key: serverUrl, ServerURL and server_url
// become serverurl.
func foldKey(key string) string {
	return strings.ToLower(keySigns.Replace(key))
}

// any returns the value of the first of the given keys that the object has, whatever its spelling:
// the key serverurl means serverUrl and server_url, too (see foldKey). A key whose value is null
// counts as missing. If all are missing, any returns nil.
func (o object) any(keys ...string) json.RawMessage {
	for _, key := range keys {
		for _, m := range o {
			if foldKey(m.key) == key && string(m.value) != "null" {
				return m.value
			}
		}
	}
	return nil
}

// get returns the value of a key as it is spelled, or nil if there is none.
func (o object) get(key string) json.RawMessage {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// hasNull reports whether the value of any member is null.
func (o object) hasNull() bool {
	return slices.ContainsFunc(o, func(m member) bool { return string(m.value) == "null" })
}

// with returns a copy of the object in which a key has a new value. A new key is added at the end.
// The object itself is unchanged, so that nothing has changed if a later step fails. It returns an
// error if the value cannot be encoded.
func (o object) with(key string, value any) (object, error) {
	text, err := chat.JSON(value)
	if err != nil {
		return nil, err
	}
	out := make(object, 0, len(o)+1)
	found := false
	for _, m := range o {
		if m.key == key {
			m.value, found = text, true
		}
		out = append(out, m)
	}
	if !found {
		out = append(out, member{key, text})
	}
	return out, nil
}

// renamed returns a copy of the object in which the first member with one of the keys is called
// name. Further members with one of the keys are left out. Spelling does not matter: the key
// serverurl means serverUrl and server_url, too.
func (o object) renamed(name string, keys ...string) object {
	out, done := make(object, 0, len(o)), false
	for _, m := range o {
		if slices.Contains(keys, foldKey(m.key)) {
			if done {
				continue
			}
			m.key, done = name, true
		}
		out = append(out, m)
	}
	return out
}

// replaced returns a copy of the object with another value at the end of a path of keys. The key
// serverurl in the path means serverUrl and server_url, too. It returns an error if a key of the
// path does not exist.
func (o object) replaced(path []string, value json.RawMessage) (object, error) {
	for _, m := range o {
		if foldKey(m.key) != foldKey(path[0]) {
			continue
		}
		if len(path) > 1 {
			inner, err := readObject(m.value)
			if err == nil {
				inner, err = inner.replaced(path[1:], value)
			}
			if err != nil {
				return nil, err
			}
			value = inner.text()
		}
		return o.with(m.key, value)
	}
	return nil, fmt.Errorf("%s is gone", path[0])
}

// without returns a copy of the object without members that have one of the keys, whatever their
// spelling: the key serverurl means serverUrl and server_url, too.
func (o object) without(keys ...string) object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if !slices.Contains(keys, foldKey(m.key)) {
			out = append(out, m)
		}
	}
	return out
}

// MarshalJSON implements json.Marshaler. It writes the members in their order, with the values as
// they were read.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := chat.JSON(m.key)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), m.value...)
	}
	return append(b, '}'), nil
}
