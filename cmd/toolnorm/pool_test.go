package main

import (
	"reflect"
	"strings"
	"testing"

	"toolnorm/engine"
)

func TestPoolsInFlagsAndFile(t *testing.T) {
	for name, row := range map[string]struct{ flags, file, ollama string }{
		"flags": {"--ollama a:11434,b", "upstream: {box: 'http://c,http://d'}", "http://a:11434,http://b:11434"},
		"file":  {"", "ollama: [a, b]\nupstreams:\n  - {name: box, url: [http://c, http://d]}\n", "http://a:11434,http://b:11434"},
	} {
		m := parsed(t, append(strings.Fields(row.flags), "--config", clean(t, row.file))...)
		s, err := m.Config.resolve()
		want := []engine.Upstream{{Name: "box", URL: "http://c,http://d"}}
		if err != nil || s.ollama != row.ollama || !reflect.DeepEqual(s.upstreams, want) {
			t.Errorf("%s: %q, %+v, %v", name, s.ollama, s.upstreams, err)
		}
	}
}

func TestPoolsThatAreWrong(t *testing.T) {
	for want, file := range map[string]string{
		"ollama: ollama host":            "ollama: 'a,a:11434'",
		`"box" is a pool and a single`:   "upstream: {box: 'http://a,http://b'}\nupstreams:\n  - {name: box, url: http://c}\n",
		`is of kind openai, and another`: "upstreams:\n  - {name: box, url: ['ollama+http://a', 'openai+http://b']}\n",
		`http://a is there twice`:        "upstream: {box: 'http://a,http://a/'}",
	} {
		m := parsed(t, "--config", clean(t, file))
		if _, err := m.Config.resolve(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
