package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"

	"toolnorm/chat"
)

// readPeers returns the parsers of Ollama by family.
func readPeers() (map[string]string, error) {
	all := map[string]string{}
	for _, line := range strings.Split(file("peers.txt"), "\n") {
		if name, parser, ok := strings.Cut(line, "\t"); ok && line[0] != '#' {
			if parsers.ParserForName(parser) == nil {
				return nil, fmt.Errorf("peers.txt: Ollama has no parser %q", parser)
			}
			all[name] = parser
		}
	}
	return all, nil
}

// ollamaTools returns the tools as Ollama takes them.
func (l *lab) ollamaTools() ([]api.Tool, error) {
	var all []api.Tool
	for _, t := range l.offered {
		var tool api.Tool
		def := fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":%s}}`, t.Name,
			t.Schema)
		if err := json.Unmarshal([]byte(def), &tool); err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return all, nil
}

// ollama reads a text with a parser of Ollama. An error of the parser counts as no call, as its
// server answers 500 then; a parser that panics gives none either.
func (l *lab) ollama(parser, text string) (got read) {
	defer func() {
		if recover() != nil {
			got = read{}
		}
	}()
	p := parsers.ParserForName(parser)
	p.Init(l.peerTools, nil, &api.ThinkValue{Value: false})
	content, _, calls, err := p.Add(text, true)
	if err != nil {
		return read{}
	}
	got.content = content
	for _, c := range calls {
		args, _ := json.Marshal(c.Function.Arguments)
		got.calls = append(got.calls, chat.Call{Name: c.Function.Name, Args: args})
	}
	return got
}
