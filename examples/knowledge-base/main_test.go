package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/agent"
	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/auth"
	"toolnorm/internal/test/transcript"
	"toolnorm/internal/toolbox"
	"toolnorm/mcpserver"
)

// TestTheProgramPrintsItsTranscript runs every command of it with the real programs on one folder
// of data.
func TestTheProgramPrintsItsTranscript(t *testing.T) {
	if testing.Short() {
		t.Skip("toolnorm and toolrun are built for it")
	}
	bin, data := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "toolnorm/cmd/toolnorm", "toolnorm/cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, command := range []string{
		"toolnorm kb create Handbook --id 5a8f3b7e-2f4c-4d52-9c62-0d5b1f6a7c11",
		"toolnorm kb import Handbook examples/knowledge-base/documents",
	} {
		want, err := transcript.Of("main.go", command)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(command)
		cmd := exec.Command(filepath.Join(bin, words[0]), words[1:]...)
		cmd.Env, cmd.Dir = append(os.Environ(), "TOOLNORM_DATA="+data), "../.."
		got, err := cmd.Output()
		if want, _, _ = strings.Cut(want, "$ "); err != nil || string(got) != want {
			t.Fatalf("%s: %v\n%s\nmain.go says:\n%s", command, err, got, want)
		}
	}
	srv := httptest.NewServer(served(t, data))
	defer srv.Close()
	byCommand := func(ctx context.Context, args string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "toolrun"), "search_documents", args)
		cmd.Env = append(os.Environ(), "TOOLNORM_DATA="+data)
		return cmd.Output()
	}
	var got bytes.Buffer
	if err := run(t.Context(), &got, srv.URL, "5a8f3b7e-2f4c-4d52-9c62-0d5b1f6a7c11", byCommand); err != nil {
		t.Fatalf("%v\n%s", err, got.String())
	}
	transcript.Match(t, "main.go", "go run ./examples/knowledge-base", got.String())
}

// served is what toolnorm serves of a folder of data, as far as the example asks it.
func served(t *testing.T, data string) http.Handler {
	t.Helper()
	box, err := toolbox.Open(t.Context(), toolbox.Config{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	mux := http.NewServeMux()
	mcpserver.New(mcpserver.Config{Registry: box.Registry}).Mount(mux)
	mux.Handle(agent.Path, agent.New(agent.Config{
		Model: engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demo.Server{Delay: -1}}), Tools: box.Registry,
	}))
	return new(auth.Guard).Wrap(mux) // without a key whoever is on this machine is its administrator
}
