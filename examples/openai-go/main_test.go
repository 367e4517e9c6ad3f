package main

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/test/transcript"
	"toolnorm/proxy"
)

func TestTheProgramPrintsItsTranscript(t *testing.T) {
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demo.Server{Delay: -1}})
	srv := httptest.NewServer(proxy.New(proxy.Config{Model: eng, Catalog: eng}))
	defer srv.Close()
	var got bytes.Buffer
	if err := run(t.Context(), &got, srv.URL+"/v1", "demo/hermes"); err != nil {
		t.Fatal(err)
	}
	transcript.Match(t, "main.go", "go run ./examples/openai-go", got.String())
}
