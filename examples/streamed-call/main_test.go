package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"toolnorm/engine"
	"toolnorm/engine/upstream"
	"toolnorm/proxy"
)

// transcript is what the comment at the top of main.go says that the program prints.
func transcript(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(src), "package main")
	_, printed, ok := strings.Cut(head, "//\t$ go run ./examples/streamed-call\n")
	if !ok {
		t.Fatal("main.go no longer says how it is run")
	}
	printed = strings.ReplaceAll(printed, "//\t", "")
	return strings.ReplaceAll(printed, "//\n", "\n")
}

func TestTheProgramPrintsItsTranscript(t *testing.T) {
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: upstream.Demo{Delay: -1}})
	srv := httptest.NewServer(proxy.New(proxy.Config{Model: eng, Catalog: eng}))
	defer srv.Close()
	var got bytes.Buffer
	if err := run(t.Context(), &got, srv.URL+"/v1", "demo/hermes"); err != nil {
		t.Fatal(err)
	}
	if want := transcript(t); got.String() != want {
		t.Errorf("printed:\n%s\nmain.go says:\n%s", got.String(), want)
	}
}
