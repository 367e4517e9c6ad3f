package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"

	"toolnorm/chat"
)

// readPeers returns the names of Ollama's parsers, by the families of models whose replies they
// parse. It returns an error if Ollama has no parser of one of the names.
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

// ollamaTools returns the tools in Ollama's form. It returns an error if a tool cannot be
// converted.
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

// ollama returns what a parser of Ollama reads in a text. If the parser returns an error, no call
// is read, because Ollama's server answers 500 then. The same holds if it panics.
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
