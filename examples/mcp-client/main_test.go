package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/internal/test/transcript"
	"toolnorm/internal/toolbox"
	"toolnorm/mcpserver"
)

// served is the address of a server with the company's tools.
func served(t *testing.T) string {
	t.Helper()
	box, err := toolbox.Open(t.Context(), toolbox.Config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	s := mcpserver.New(mcpserver.Config{Registry: box.Registry, Outcome: func(string) bool { return true }})
	s.Mount(mux)
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Close(t.Context())
		srv.Close()
		box.Close()
	})
	return srv.URL
}

func TestTheProgramPrintsItsTranscript(t *testing.T) {
	var got bytes.Buffer
	if err := run(t.Context(), &got, served(t), "calculate_vacation_days", `{"employee_id": "EMP001", "year": 2025}`); err != nil {
		t.Fatal(err)
	}
	transcript.Match(t, "main.go", "go run ./examples/mcp-client", got.String())
}

func TestACallThatFailsIsShown(t *testing.T) {
	var got bytes.Buffer
	if err := run(t.Context(), &got, served(t), "get_employee_info", `{"employee_id": "EMP999"}`); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(got.String(), `failed: {"success":false,"error":"there is no employee`); n != 2 {
		t.Errorf("the failure is shown %d times, want 2:\n%s", n, got.String())
	}
}
