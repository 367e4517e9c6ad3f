//go:build ignore

// arena: name = Ollama
// arena: entry = model/parsers, by ParserForName
// arena: version = github.com/ollama/ollama v0.34.3

// Command ollama is the arena's reader of Ollama's own parsers.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
)

// families maps families to the names of Ollama's parsers.
var families = map[string]string{
	"hermes": "qwen3", "qwen3-coder": "qwen3-coder", "glm4.7": "glm-4.7",
	"gemma4": "gemma4-no-thinking", "mistral": "ministral",
	"harmony": "harmony", "deepseek-v3.1": "deepseek3", "nemotron-3": "nemotron-3-nano",
	"olmo3": "olmo3", "functiongemma": "functiongemma",
	"lfm2": "lfm2", "command-r7b": "cohere", "glimmer": "glimmer", "poolside": "laguna",
}

// line is an input that this program gets from the arena, the program that compares readers of
// model replies.
type line struct {
	ID, Format, Text string
	Tools            []api.Tool
	Deltas           []string
	Stream           bool
}

// call is a tool call that the parser has read in the input.
type call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// answer is what this program answers to an input.
type answer struct {
	ID    string `json:"id"`
	Skip  bool   `json:"skip,omitempty"`
	Calls []call `json:"calls"`
	Error string `json:"error,omitempty"`
	Sent  []int  `json:"sent,omitempty"`
}

func main() {
	// the parsers log every text that they cannot read
	slog.SetDefault(slog.New(slog.DiscardHandler))
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

// read returns what Ollama's parser reads in an input. If the parser returns an error, the answer
// has no calls, because Ollama's server answers 500 in this case.
func read(l *line) (a answer) {
	a.ID, a.Calls = l.ID, []call{}
	p := parsers.ParserForName(families[l.Format])
	if a.Skip = families[l.Format] == ""; a.Skip {
		return a
	}
	defer func() {
		if why := recover(); why != nil {
			a.Error = "panic: " + strings.SplitN(fmt.Sprint(why), "\n", 2)[0]
		}
	}()
	p.Init(l.Tools, nil, &api.ThinkValue{Value: false})
	pieces := []string{l.Text}
	if l.Stream {
		pieces = l.Deltas
	}
	sent := 0
	for i, text := range pieces {
		_, _, calls, err := p.Add(text, i == len(pieces)-1)
		if err != nil {
			a.Error = err.Error()
			return a
		}
		for _, c := range calls {
			args, _ := json.Marshal(c.Function.Arguments)
			a.Calls = append(a.Calls, call{c.Function.Name, string(args)})
			sent += len(args)
		}
		if l.Stream {
			a.Sent = append(a.Sent, sent)
		}
	}
	return a
}
