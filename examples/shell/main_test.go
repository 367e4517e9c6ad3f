package main

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/test/transcript"
	"toolnorm/internal/toolbox"
	"toolnorm/proxy"
	"toolnorm/proxy/form/shell"
)

func TestTheProgramPrintsItsTranscript(t *testing.T) {
	box, err := toolbox.Open(t.Context(), toolbox.Config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demo.Server{Delay: -1}})
	srv := httptest.NewServer(proxy.New(proxy.Config{Model: eng, Catalog: eng, Shell: &shell.Config{Tools: box.Registry}}))
	defer srv.Close()
	var got bytes.Buffer
	if err := run(t.Context(), &got, srv.URL+"/v1", "demo/hermes"); err != nil {
		t.Fatal(err)
	}
	transcript.Match(t, "main.go", "go run ./examples/shell", got.String())
}
