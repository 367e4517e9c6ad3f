package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat/schema"
)

// Repair is the command repair, which turns a text that was meant to be JSON into strict JSON. It
// uses the decoder's own repair, so that a model's text can be tried without a model.
type Repair struct {
	Schema string `env:"-" placeholder:"FILE" help:"JSON Schema to coerce values to: \"5\" becomes 5 where a number is expected."`
	JSONL  bool   `env:"-" name:"jsonl" help:"Read one request per line, {id, text, schema}, and answer each with a line {id, json, repairs, error}; json is a string. --schema is the default of requests without one."`
}

// Run repairs standard input, as one text or line by line. It returns an error if the schema is
// wrong, if the input cannot be read, or if it is one text that cannot be repaired.
func (c *Repair) Run(m *Console) error {
	var text []byte
	if c.Schema != "" {
		var err error
		if text, err = os.ReadFile(c.Schema); err != nil {
			return err
		}
	}
	typ, err := compile(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Schema, err)
	}
	if c.JSONL {
		answer := func(line []byte) any { return repairLine(line, typ) }
		return answerLines(m.In, m.Out, maxInput, answer, func() any {
			return repairFailed(nil, errLong)
		})
	}
	return c.print(m, typ)
}

// print repairs standard input as one text. It lists the repairs on stderr, so that a pipe gets
// only the JSON. It returns an error if the text cannot be read or repaired.
func (c *Repair) print(m *Console, typ *schema.Type) error {
	m.hint("the text")
	text, err := readInput(m.In)
	if err != nil {
		return err
	}
	out, repairs, err := adapters.Repair(text, typ)
	if err != nil {
		return err
	}
	if len(repairs) > 0 {
		fmt.Fprintln(m.Err, "repaired:", strings.Join(repairs, ", "))
	}
	if !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	_, err = fmt.Fprint(m.Out, out)
	return err
}

// compile returns the compiled schema of a text. It returns nil for an empty text, and accepts
// null, true and false. It returns an error for invalid JSON and for any other value that is not an
// object.
func compile(text json.RawMessage) (*schema.Type, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	switch v.(type) {
	case map[string]any, bool, nil:
		return schema.Compile(text), nil
	}
	return nil, errors.New("not a JSON Schema: must be an object")
}

// repairRequest is one line of repair --jsonl, and repairReply is its answer.
type (
	repairRequest struct {
		ID     json.RawMessage `json:"id"`
		Text   *string         `json:"text"`
		Schema json.RawMessage `json:"schema"`
	}
	repairReply struct {
		ID      json.RawMessage `json:"id"`
		JSON    *string         `json:"json"`
		Repairs []string        `json:"repairs,omitempty"`
		Error   *string         `json:"error"`
	}
)

// repairLine returns the answer to one line. It never fails. Errors are part of the answer, since
// one bad line must not end a run over a million lines.
func repairLine(line []byte, typ *schema.Type) *repairReply {
	var q repairRequest
	if err := json.Unmarshal(line, &q); err != nil {
		return repairFailed(q.ID, notRequest(err))
	}
	if q.Text == nil {
		return repairFailed(q.ID, errors.New("no text"))
	}
	if len(q.Schema) > 0 {
		var err error
		if typ, err = compile(q.Schema); err != nil {
			return repairFailed(q.ID, fmt.Errorf("schema: %w", err))
		}
	}
	out, repairs, err := adapters.Repair(*q.Text, typ)
	if err != nil {
		return repairFailed(q.ID, err)
	}
	return &repairReply{ID: q.ID, JSON: &out, Repairs: repairs}
}

// repairFailed returns the answer to a line that could not be repaired, with the text of err.
func repairFailed(id json.RawMessage, err error) *repairReply {
	text := err.Error()
	return &repairReply{ID: id, Error: &text}
}
