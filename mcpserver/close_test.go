package mcpserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toolnorm/internal/test/left"
)

// TestNothingRunsBehindClose closes a server with streams of each transport and with tools that
// wait, also in the queue.
func TestNothingRunsBehindClose(t *testing.T) {
	before := left.Ours()
	registry := testTools(t)
	s := New(Config{Registry: registry})
	mux := http.NewServeMux()
	s.Mount(mux)
	h := httptest.NewServer(mux)
	f := &face{s, t, h.URL}
	legacy := f.connect()
	for range atOnceOfOne + 3 {
		legacy.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits","arguments":{}}}`, http.StatusAccepted)
	}
	in, end := io.Pipe()
	defer end.Close()
	stdio, leave := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Stdio(stdio, in, io.Discard, 0) }()
	if _, err := io.WriteString(end, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits","arguments":{}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	for s.queue.pending.Load() < atOnceOfOne+4 {
		time.Sleep(time.Millisecond)
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Close(now) == nil {
		t.Error("tools that wait are said to have ended")
	}
	leave()
	<-served
	h.Close()
	registry.Close(time.Second)
	end.Close()
	time.Sleep(10 * time.Millisecond) // what reads standard input ends with it
	left.Behind(t, before, "TestNothingRunsBehindClose(")
}
