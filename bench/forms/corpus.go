package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed data/schemas.jsonl.gz
var corpus []byte

// entry is one schema of a real API or SDK.
type entry struct {
	Source  string
	Name    string
	Schema  json.RawMessage
	Answers []json.RawMessage // a short and a long answer that fit the schema
	check   *jsonschema.Resolved
}

// readCorpus returns every n-th schema of a collection, each with its validator, where n is the
// parameter every. It returns an error if the collection cannot be read.
func readCorpus(corpus []byte, every int) ([]*entry, error) {
	z, err := gzip.NewReader(bytes.NewReader(corpus))
	if err != nil {
		return nil, err
	}
	var all []*entry
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		if n%every > 0 {
			continue
		}
		one := &entry{}
		if err := json.Unmarshal(lines.Bytes(), one); err != nil {
			return nil, err
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(one.Schema, &schema); err != nil {
			return nil, fmt.Errorf("%s %s: %w", one.Source, one.Name, err)
		}
		if one.check, err = schema.Resolve(nil); err != nil {
			return nil, fmt.Errorf("%s %s: %w", one.Source, one.Name, err)
		}
		for _, a := range one.Answers {
			if err := one.fits(string(a)); err != nil {
				return nil, fmt.Errorf("%s %s: its own answer does not fit: %w", one.Source,
					one.Name, err)
			}
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// fits returns an error that says what is wrong with an answer, or nil if the answer fits the
// schema.
func (e *entry) fits(answer string) error {
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		return err
	}
	return e.check.Validate(v)
}
