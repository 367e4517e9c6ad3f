package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolnorm/engine"
)

// listed is a model server in the file's list of upstreams. An entry can say more than NAME=URL:
// the kind of the server, and which variable contains its key. Keys themselves are never in the
// file.
type listed struct {
	Name   string `yaml:"name"`
	URL    urls   `yaml:"url"`     // one address, or a list for a pool
	Kind   string `yaml:"kind"`    // ollama or openai; empty: detected
	KeyEnv string `yaml:"key-env"` // the variable with the server's key; empty: it needs no key
}

// urls are the addresses of a model server. A pool, which is several servers under one name, has
// its addresses separated by commas.
type urls string

// UnmarshalYAML implements yaml.Unmarshaler. It accepts one address or a list of addresses.
func (u *urls) UnmarshalYAML(n *yaml.Node) error {
	all := []string{n.Value}
	if n.Kind == yaml.SequenceNode {
		if err := n.Decode(&all); err != nil {
			return err
		}
	}
	*u = urls(strings.Join(all, ","))
	return nil
}

// upstreams returns the model servers of the settings, with those of the file last. A flag replaces
// a server of the same name in the file. It returns an error if a variable for a key is missing,
// since otherwise requests would get a 401 later. It also returns one if a key is for an unknown
// server, or if a name stands for a pool and a single server.
func (c *Config) upstreams(env func(string) (string, bool)) ([]engine.Upstream, error) {
	var all []listed
	for _, name := range slices.Sorted(maps.Keys(c.Upstream)) {
		all = append(all, listed{Name: name, URL: urls(c.Upstream[name])})
	}
	for _, l := range c.Upstreams {
		given, isGiven := c.Upstream[l.Name]
		switch {
		case !isGiven:
			all = append(all, l)
		case strings.Contains(given, ",") != strings.Contains(string(l.URL), ","):
			return nil, fmt.Errorf(
				"upstream %q is a pool and a single server: give one of them another name", l.Name)
		}
	}
	keys := maps.Clone(c.KeyEnv)
	out := make([]engine.Upstream, len(all))
	for i, l := range all {
		out[i] = engine.Upstream{Name: l.Name, URL: string(l.URL), Kind: l.Kind}
		if variable, ok := keys[l.Name]; ok {
			l.KeyEnv = variable
			delete(keys, l.Name)
		}
		if l.KeyEnv == "" {
			continue
		}
		if out[i].Key, _ = env(l.KeyEnv); out[i].Key == "" {
			return nil, fmt.Errorf("key-env of %q: the environment has no %s", l.Name, l.KeyEnv)
		}
	}
	for name := range keys {
		return nil, fmt.Errorf("key-env of %q: there is no upstream of this name", name)
	}
	return out, nil
}

// readUpstreams returns the file's list of model servers. It returns an error for anything else,
// also for an unknown member, as an unknown setting is an error.
func readUpstreams(n *yaml.Node) (all []listed, err error) {
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode {
			return nil, errors.New("must be a list of servers, each with name and url")
		}
		for i := 0; i < len(item.Content); i += 2 {
			if key := item.Content[i].Value; !slices.Contains(
				[]string{"name", "url", "kind", "key-env"}, key) {
				return nil, fmt.Errorf("a server has name, url, kind and key-env, but no %q", key)
			}
		}
		var l listed
		if err := item.Decode(&l); err != nil {
			return nil, errors.New("each of a server's settings must be one word")
		}
		all = append(all, l)
	}
	return all, nil
}
