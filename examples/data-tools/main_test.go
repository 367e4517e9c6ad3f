package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/test/transcript"
	"toolnorm/internal/toolbox"
	"toolnorm/mcpserver"
	"toolnorm/proxy"
	"toolnorm/proxy/form/shell"
)

// TestTheProgramPrintsItsTranscript runs it with the real toolrun on the same folder of data.
func TestTheProgramPrintsItsTranscript(t *testing.T) {
	if testing.Short() {
		t.Skip("toolrun is built for it")
	}
	config := toolbox.Config{Data: t.TempDir()}
	box, err := toolbox.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Data.Import(t.Context(), "columns.csv", nil); err != nil {
		t.Fatal(err)
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if box, err = toolbox.Open(t.Context(), config); err != nil { // as toolnorm starts behind the import
		t.Fatal(err)
	}
	defer box.Close()
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demo.Server{Delay: -1}})
	mux := http.NewServeMux()
	mcpserver.New(mcpserver.Config{Registry: box.Registry}).Mount(mux)
	mux.Handle("/", proxy.New(proxy.Config{Model: eng, Catalog: eng, Shell: &shell.Config{Tools: box.Registry}}))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	toolrun := filepath.Join(t.TempDir(), "toolrun")
	if out, err := exec.Command("go", "build", "-o", toolrun, "toolnorm/cmd/toolrun").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	byCommand := func(ctx context.Context, args string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, toolrun, "search_similar_documents", args)
		cmd.Env = append(os.Environ(), "TOOLNORM_DATA="+config.Data)
		return cmd.Output()
	}
	var got bytes.Buffer
	if err := run(t.Context(), &got, srv.URL, byCommand); err != nil {
		t.Fatal(err)
	}
	transcript.Match(t, "main.go", "go run ./examples/data-tools", got.String())
}
