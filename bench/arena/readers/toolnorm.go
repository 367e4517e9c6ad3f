//go:build ignore

// arena: name = toolnorm
// arena: entry = adapters.Format.Decode, the decoder behind every face
// arena: version = this tree

// Command toolnorm is the arena's reader of toolnorm itself.
package main

import (
	"bufio"
	"encoding/json"
	"os"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/proxy/form/openai"
)

// line is an input that this program gets from the arena, the program that compares readers of
// model replies.
type line struct {
	ID     string
	Format string
	Tools  []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	Messages json.RawMessage
	Prompt   string `json:"prompt_tail"`
	Text     string
	Deltas   []string
	Stream   bool
	Finish   string
}

// call is a tool call that the decoder has read in the input.
type call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// answer is the line that this program writes for a line of its input.
type answer struct {
	ID    string `json:"id"`
	Calls []call `json:"calls"`
	Error string `json:"error,omitempty"`
	Sent  []int  `json:"sent,omitempty"`
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for {
		var l line
		if in.Decode(&l) != nil {
			return
		}
		_ = out.Encode(read(&l))
	}
}

// pieces is a source that passes text on piece by piece. When it is asked for the next piece, it
// records how many bytes of arguments had been sent by then.
type pieces struct {
	left   []string
	finish string
	done   int // bytes of arguments that have been sent
	sent   []int
	asked  bool
}

// Next implements chat.Source. It returns the next piece, or a Finish event after the last one. It
// never returns an error.
func (p *pieces) Next() (chat.Event, error) {
	if p.asked {
		p.sent = append(p.sent, p.done)
	}
	if p.asked = len(p.left) > 0; !p.asked {
		return chat.Event{Kind: chat.Finish, Text: p.finish}, nil
	}
	text := p.left[0]
	p.left = p.left[1:]
	return chat.Event{Kind: chat.Text, Text: text}, nil
}

// Close implements chat.Source. It does nothing and returns nil.
func (p *pieces) Close() error { return nil }

// read returns the calls that toolnorm's decoder reads in an input.
func read(l *line) (a answer) {
	a.ID, a.Calls = l.ID, []call{}
	f := adapters.Named(l.Format)
	o := adapters.Options{Hold: adapters.HoldCall, Prompt: l.Prompt}
	for _, t := range l.Tools {
		o.Tools = append(o.Tools,
			chat.Tool{Name: t.Function.Name, Description: t.Function.Description,
				Schema: t.Function.Parameters})
	}
	if l.Messages != nil {
		var err error
		if o.Messages, err = openai.Messages(l.Messages); err != nil {
			a.Error = err.Error()
			return a
		}
	}
	p := &pieces{left: []string{l.Text}, finish: l.Finish}
	if p.finish == "" {
		p.finish = chat.Stop
	}
	if l.Stream {
		o.Hold, p.left = adapters.HoldNone, l.Deltas
	}
	var c chat.Collector
	for e, err := range f.Decode(p, o) {
		if err != nil {
			a.Error = err.Error()
			break
		}
		c.Add(e)
		if e.Kind == chat.CallArgs {
			p.done += len(e.Text)
		}
	}
	for _, x := range c.Complete() {
		a.Calls = append(a.Calls, call{x.Name, string(x.Args)})
	}
	if l.Stream {
		a.Sent = p.sent
	}
	return a
}
