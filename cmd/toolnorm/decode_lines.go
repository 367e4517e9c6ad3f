package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// lineRequest is one line of decode --jsonl. What it does not say is as the flags say.
// One process answers many lines, since starting it for each would cost more than the decoding.
type lineRequest struct {
	ID         json.RawMessage `json:"id"` // anything; comes back as it is
	Model      string          `json:"model"`
	Format     string          `json:"format"`
	Tools      json.RawMessage `json:"tools"`
	PromptTail *string         `json:"prompt_tail"`
	Finish     string          `json:"finish"`
	Deltas     []string        `json:"deltas"` // the reply as it arrived
	Text       string          `json:"text"`   // the same in one piece
	Stream     bool            `json:"stream"` // whether the client reads a stream; a whole reply holds calls until they are complete
}

// lineReply answers one line.
type lineReply struct {
	ID        json.RawMessage `json:"id"`
	Calls     []lineCall      `json:"calls"`
	Content   string          `json:"content"`
	Reasoning string          `json:"reasoning"`
	Finish    string          `json:"finish"` // stop or length; empty with an error
	Error     *string         `json:"error"`
}

// lineCall is one call of a reply.
type lineCall struct {
	ID        string `json:"id,omitempty"` // what the model wrote
	Name      string `json:"name"`
	Arguments string `json:"arguments"`      // strict JSON as text
	Open      bool   `json:"open,omitempty"` // it was cut behind its release: the arguments are the beginning of an object
}

// lineDecoder answers lines with what the flags said.
type lineDecoder struct {
	flags   *decode
	formats *adapters.Set
	options adapters.Options
}

// longLine answers a line that is not read.
func longLine() any { return failed(nil, errLong) }

// failed is the answer to a line that cannot be read as a request.
func failed(id json.RawMessage, err error) *lineReply {
	text := err.Error()
	return &lineReply{ID: id, Calls: []lineCall{}, Error: &text}
}

// answer decodes the reply that one line holds. It never fails: what is wrong is in the answer.
func (d lineDecoder) answer(line []byte) any {
	var q lineRequest
	if err := json.Unmarshal(line, &q); err != nil {
		return failed(q.ID, notRequest(err))
	}
	f, o, err := d.prepare(&q)
	if err != nil {
		return failed(q.ID, err)
	}
	pieces := q.Deltas
	if pieces == nil {
		pieces = []string{q.Text}
	}
	var c chat.Collector
	for e, err := range f.Decode(golden.Source(pieces, q.Finish), o) {
		if err != nil {
			return failed(q.ID, err)
		}
		c.Add(e)
	}
	return lineOf(q.ID, &c)
}

// prepare says how a request is to be read, and fills in its finish.
// What the flags say holds for lines that say nothing; a line that names a model does not get the flags'
// format.
func (d lineDecoder) prepare(q *lineRequest) (*adapters.Format, adapters.Options, error) {
	o := d.options
	model, name := q.Model, q.Format
	if model == "" && name == "" {
		model, name = d.flags.Model, d.flags.Format
	}
	f, err := d.flags.format(d.formats, model, name)
	if err != nil {
		return nil, o, err
	}
	if len(q.Tools) > 0 {
		if o.Tools, err = chat.ParseTools(q.Tools); err != nil {
			return nil, o, fmt.Errorf("tools: %w", err)
		}
	}
	if q.PromptTail != nil {
		o.Prompt = *q.PromptTail
	}
	if !q.Stream {
		o.Hold = adapters.HoldCall
	}
	switch q.Finish {
	case "":
		q.Finish = d.flags.Finish
	case chat.Stop, chat.Length:
	default:
		return nil, o, errors.New("finish: must be stop or length")
	}
	return f, o, nil
}

// lineOf is the line that tells a reply. A call that the reply's end has cut is open.
func lineOf(id json.RawMessage, c *chat.Collector) *lineReply {
	reply := &lineReply{ID: id, Calls: []lineCall{}, Content: c.Text.String(), Reasoning: c.Reasoning.String()}
	for i, call := range c.Calls {
		reply.Calls = append(reply.Calls, lineCall{ID: call.ID, Name: call.Name, Arguments: string(call.Args), Open: c.Open && i == len(c.Calls)-1})
	}
	if c.End != nil {
		reply.Finish = c.End.Text
	}
	return reply
}
