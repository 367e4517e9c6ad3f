package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"strings"
	"sync/atomic"

	"github.com/ollama/ollama/api"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// lab has the data that all measurements share.
type lab struct {
	tools     []*tool
	offered   []chat.Tool
	values    []value
	kinds     []kind
	families  []*family
	peers     map[string]string // Ollama's parser by family
	peerTools []api.Tool
	repairer  *repairer    // nil: none
	crashed   atomic.Int64 // readings that panicked
	collect   bool         // texts are written for the arena, not read
}

// newLab returns a lab with the contents of the data files. If the parameter only is not empty, the
// lab has only the families whose names it lists, with commas between them. newLab returns an error
// if a file cannot be read or parsed, or if there is no such family.
func newLab(only string) (*lab, error) {
	l := &lab{values: readSections("values.txt")}
	var err error
	if l.kinds, err = readKinds(); err != nil {
		return nil, err
	}
	if l.offered, err = readTools(); err != nil {
		return nil, err
	}
	for _, t := range l.offered {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(t.Schema)))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(t.Name, doc); err != nil {
			return nil, err
		}
		check, err := c.Compile(t.Name)
		if err != nil {
			return nil, err
		}
		one := &tool{Tool: t, check: check}
		if err := json.Unmarshal(t.Schema, &one.shape); err != nil {
			return nil, err
		}
		l.tools = append(l.tools, one)
	}
	if l.peers, err = readPeers(); err != nil {
		return nil, err
	}
	if l.peerTools, err = l.ollamaTools(); err != nil {
		return nil, err
	}
	for _, f := range adapters.All() {
		if only == "" || strings.Contains(","+only+",", ","+f.Name+",") {
			l.families = append(l.families, newFamily(f))
		}
	}
	if len(l.families) == 0 {
		return nil, fmt.Errorf("no family is called %q", only)
	}
	return l, nil
}

// named returns the tool of that name, or nil if there is none.
func (l *lab) named(name string) *tool {
	for _, t := range l.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// source returns a source of random numbers that depends only on the seed and on the text what,
// which is mostly a family's name. So measurements of other families do not change it.
func source(seed int64, what string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(what))
	return rand.New(rand.NewSource(seed ^ int64(h.Sum64())))
}

// clean returns a random call that the family can write and that is read back as it was meant. It
// returns nil if it finds none in 20 attempts.
func (l *lab) clean(r *rand.Rand, g *family) *frame {
	for range 20 {
		w := write(g, l.random(r))
		if w != nil && l.outcomeOf(w.call,
			l.decode(g.Format, whole(w.fill(), chat.Stop))) == exact {
			return w
		}
	}
	return nil
}
