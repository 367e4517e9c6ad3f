package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/agent"
	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/test/transcript"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// measured are the figures of a run, which differ from machine to machine.
var measured = regexp.MustCompile(`"ms":\d+|"(prompt|completion|total)_tokens":\d+`)

func TestTheWalkThroughPrintsItsTranscript(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl here")
	}
	registry := tools.New(tools.Options{Fit: new(toolargs.Reader).Fit})
	set := remote.Open(remote.Config{Path: filepath.Join(t.TempDir(), "mcp.json"), Registry: registry, Version: "1", Private: func(context.Context) bool { return true }})
	defer set.Close()
	mux := http.NewServeMux()
	set.Mount(mux)
	mux.Handle(agent.Path, agent.New(agent.Config{
		Model: engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demo.Server{Delay: -1}}), Tools: registry, Servers: set,
	}))
	toolnorm := httptest.NewServer(mux)
	defer toolnorm.Close()
	speaker := httptest.NewServer(speech())
	defer speaker.Close()
	defer speaker.CloseClientConnections()
	real := strings.NewReplacer("http://127.0.0.1:11435", toolnorm.URL, "http://127.0.0.1:23016", speaker.URL)
	shown, err := transcript.Of("main.go", "go run ./examples/agent &")
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Split(shown, "$ ")[1:]
	if len(steps) != 4 {
		t.Fatalf("%d steps", len(steps))
	}
	for _, step := range steps {
		command, want, _ := strings.Cut(step, "\n")
		out, err := exec.Command("sh", "-c", real.Replace(command)).Output()
		if got := measured.ReplaceAllString(string(out), ""); err != nil || got != measured.ReplaceAllString(real.Replace(want), "") {
			t.Errorf("%s\nprints %s%v\nmain.go says %s", command, out, err, want)
		}
	}
}
