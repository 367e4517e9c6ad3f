package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/replay"
	"toolnorm/proxy/form/openai"
)

// Decode is the command decode. It reads the output of a model and prints the decoded events.
type Decode struct {
	PromptTail string `env:"-" placeholder:"TEXT" help:"The end of the prompt, which tells whether the reply starts inside reasoning."`
	Finish     string `env:"-" default:"stop" enum:"stop,length" help:"How the reply ended: stop, or length if it was cut."`
	JSONL      bool   `env:"-" name:"jsonl" help:"Read one request per line, {id, model, format, tools, messages, prompt_tail, finish, deltas or text, stream}, and answer each with a line {id, calls, content, reasoning, finish, error}. Flags are the defaults of fields that a request leaves out."`

	Folders    `group:"Server:"`
	Model      string `env:"-" placeholder:"NAME" help:"The model that wrote it; the name selects the format. Default: unknown." group:"Models:"`
	Format     string `env:"-" placeholder:"NAME" help:"The format, whatever the model." group:"Models:"`
	Calls      string `env:"-" default:"normal" enum:"eager,normal,strict" help:"How much evidence a text needs to be read as a call (docs/calls.md)." group:"Models:"`
	Tools      string `env:"-" placeholder:"FILE" help:"The tools that were offered: OpenAI's list, or an object with a member tools. Without tools nothing is a call." group:"Tools:"`
	Messages   string `env:"-" placeholder:"FILE" help:"The conversation in front: OpenAI's list of messages, or a request that has one." group:"Tools:"`
	CallBuffer string `env:"-" default:"short" help:"How much of a call to collect before sending it: none, short (calls of up to 512 bytes whole), call (every call whole), or a number of bytes." group:"Reliability:"`
}

// Run decodes standard input, as one text or line by line. It returns an error if a flag or a file
// is wrong, or if the input cannot be read.
func (c *Decode) Run(m *Console) error {
	set, err := c.formats(m)
	if err != nil {
		return err
	}
	tools, err := ReadTools(c.Tools)
	if err != nil {
		return err
	}
	hold, err := adapters.ParseHold(c.CallBuffer)
	if err != nil {
		return fmt.Errorf("call-buffer: %w", err)
	}
	which, err := adapters.ParseWhich(c.Calls)
	if err != nil {
		return fmt.Errorf("calls: %w", err)
	}
	f, err := c.format(set, c.Model, c.Format)
	if err != nil {
		return err
	}
	said, err := readList("messages", c.Messages, openai.Messages)
	if err != nil {
		return err
	}
	o := adapters.Options{Tools: tools, Prompt: c.PromptTail, Hold: hold, Which: which,
		Messages: said}
	if c.JSONL {
		return answerLines(m.In, m.Out, maxInput, lineDecoder{c, set, o}.answer, longLine)
	}
	return c.print(m, f, o)
}

// print decodes standard input and writes its events in the form that the test cases of formats
// have, so that they can be copied into a format's file as the expected lines. Remarks are written
// to stderr. It returns an error if the input cannot be read or decoded.
func (c *Decode) print(m *Console, f *adapters.Format, o adapters.Options) error {
	m.hint("what the model wrote")
	text, err := readInput(m.In)
	if err != nil {
		return err
	}
	r, err := replay.Read(f, replay.Text{Raw: text, Cut: c.Finish == chat.Length, Tools: o.Tools,
		Prompt: o.Prompt, Which: o.Which, Hold: o.Hold, Messages: o.Messages})
	if err != nil {
		return err
	}
	fmt.Fprintln(m.Err, remark(r, len(o.Tools)))
	for _, why := range r.Why {
		fmt.Fprintln(m.Err, why)
	}
	_, err = fmt.Fprintln(m.Out, r.Events)
	return err
}

// remark returns a line about how the reply was read: its format and what was repaired. The
// parameter tools is the number of offered tools. If it is 0, the line says that nothing can be a
// call, since many users are surprised by that.
func remark(r *replay.Reading, tools int) string {
	s := "read as " + r.Format
	if len(r.Repairs) > 0 {
		s += "; repaired: " + strings.Join(r.Repairs, ", ")
	}
	if tools == 0 {
		s += "; no tools are offered (--tools), so nothing is a call"
	}
	return s
}

// format returns the format of that name, or without a name the format for the model, or else the
// generic one. The name comes first, so that a text can be read in the format of other models. It
// returns an error for an unknown name.
func (c *Decode) format(set *adapters.Set, model, name string) (*adapters.Format, error) {
	if name == "" {
		return set.For(model), nil
	}
	return formatIn(set, name)
}

// lineRequest is one line of decode --jsonl. A field that the line lacks has the value of the flag
// with the same name. One process answers many lines, because starting a process for each would
// take longer than decoding.
type lineRequest struct {
	ID         json.RawMessage `json:"id"` // any JSON value; the answer repeats it
	Model      string          `json:"model"`
	Format     string          `json:"format"`
	Tools      json.RawMessage `json:"tools"`
	Messages   json.RawMessage `json:"messages"` // the conversation before the reply
	PromptTail *string         `json:"prompt_tail"`
	Finish     string          `json:"finish"`
	Deltas     []string        `json:"deltas"` // the reply as it arrived
	Text       string          `json:"text"`   // the whole reply, if there are no deltas
	// whether the client reads a stream; otherwise calls are collected until they are complete
	Stream bool `json:"stream"`
}

// lineReply is the answer to one line of decode --jsonl.
type lineReply struct {
	ID        json.RawMessage `json:"id"`
	Calls     []lineCall      `json:"calls"`
	Content   string          `json:"content"`
	Reasoning string          `json:"reasoning"`
	Finish    string          `json:"finish"` // stop or length; empty with an error
	Error     *string         `json:"error"`
}

// lineCall is one tool call in a lineReply.
type lineCall struct {
	ID        string `json:"id,omitempty"` // the ID that the model wrote, if any
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // strict JSON as text
	// whether the reply ended inside the call after a part had been sent, so the arguments are only
	// the beginning of an object
	Open bool `json:"open,omitempty"`
}

// lineDecoder answers the lines of decode --jsonl, with the flags as defaults.
type lineDecoder struct {
	flags   *Decode
	formats *adapters.Set
	options adapters.Options
}

// longLine returns the answer to a line that is too long to be read.
func longLine() any { return failure(nil, errLong) }

// failure returns the answer to a line that cannot be read as a request, with the text of err.
func failure(id json.RawMessage, err error) *lineReply {
	text := err.Error()
	return &lineReply{ID: id, Calls: []lineCall{}, Error: &text}
}

// answer returns the answer to one line. It never fails, because errors are part of the answer.
func (d lineDecoder) answer(line []byte) any {
	var q lineRequest
	if err := json.Unmarshal(line, &q); err != nil {
		return failure(q.ID, notRequest(err))
	}
	f, o, err := d.prepare(&q)
	if err != nil {
		return failure(q.ID, err)
	}
	pieces := q.Deltas
	if pieces == nil {
		pieces = []string{q.Text}
	}
	var c chat.Collector
	for e, err := range f.Decode(golden.Source(pieces, q.Finish), o) {
		if err != nil {
			return failure(q.ID, err)
		}
		c.Add(e)
	}
	return lineOf(q.ID, &c)
}

// prepare returns the format and the options for a request. Where the line has no field, prepare
// uses the flag of the same name. The flags for the model and the format are used only if the line
// names neither. If the request has no finish, prepare sets it to that of the flags. It returns an
// error if a field is invalid or names an unknown format.
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
	if len(q.Messages) > 0 {
		if o.Messages, err = openai.Messages(q.Messages); err != nil {
			return nil, o, err
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

// lineOf returns the answer to a line that was decoded. If the reply ended inside its last call,
// that call is marked open.
func lineOf(id json.RawMessage, c *chat.Collector) *lineReply {
	reply := &lineReply{ID: id, Calls: []lineCall{}, Content: c.Text.String(),
		Reasoning: c.Reasoning.String()}
	for i, call := range c.Calls {
		reply.Calls = append(reply.Calls, lineCall{ID: call.ID, Name: call.Name,
			Arguments: string(call.Args), Open: c.Open && i == len(c.Calls)-1})
	}
	if c.End != nil {
		reply.Finish = c.End.Text
	}
	return reply
}
