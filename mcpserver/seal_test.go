package mcpserver

import (
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestSessionIDSaysWhatTheSessionIs(t *testing.T) {
	s := newSeal([]byte("key"))
	of := &session{principal: "kim"}
	of.begin("2025-06-18", mcp.Implementation{Name: strings.Repeat("x", 100), Version: "1"}, mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}})
	id := s.mint(of)
	got, ok := s.read(id, "kim")
	if !ok || got.said.version != of.said.version || len(got.said.client.Name) != 64 || got.said.can.Sampling == nil || got.said.can.Elicitation != nil || got.id != id {
		t.Errorf("read = %+v, %v", got, ok)
	}
	if s.mint(of) == id {
		t.Error("two sessions have one id")
	}
	if strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		t.Errorf("%q is no header's value", id)
	}
}

func TestForgedIDsAreRefused(t *testing.T) {
	s := newSeal([]byte("key"))
	id := s.mint(&session{said: said{version: "2025-06-18"}})
	if _, ok := newSeal([]byte("other")).read(id, ""); ok {
		t.Error("another key reads it")
	}
	if _, ok := s.read(id, "mallory"); ok {
		t.Error("another principal reads it")
	}
	for i := range len(id) {
		forged := []byte(id)
		forged[i] ^= 1
		if _, ok := s.read(string(forged), ""); ok {
			t.Errorf("byte %d may be changed", i)
		}
	}
	old := s.close("session", sealedSession{Version: "2025-06-18", Since: time.Now().Add(-sessionLife - time.Hour).Unix()})
	if _, ok := s.read(old, ""); ok {
		t.Error("an id never ends")
	}
	if _, ok := s.read(s.closeState("session", "x"), ""); ok {
		t.Error("a state is taken for a session")
	}
}

func TestStateIsGoodForItsOwnCallOnly(t *testing.T) {
	s := newSeal(nil)
	purpose := stateFor("kim", "tools/call", "ask")
	sealed := s.closeState(purpose, "half way")
	if got, rpcErr := s.openState(purpose, sealed); rpcErr != nil || got != "half way" {
		t.Errorf("openState = %q, %v", got, rpcErr)
	}
	for _, other := range []string{stateFor("lee", "tools/call", "ask"), stateFor("kim", "prompts/get", "ask"), stateFor("kim", "tools/call", "tell")} {
		if _, rpcErr := s.openState(other, sealed); rpcErr == nil {
			t.Errorf("the state opens for %s", other)
		}
	}
	old := s.close(purpose, sealedState{"half way", time.Now().Add(-time.Second).Unix()})
	if _, rpcErr := s.openState(purpose, old); rpcErr == nil || !strings.Contains(rpcErr.message, "old") {
		t.Errorf("a state from before: %v", rpcErr)
	}
}

func FuzzSealedIDs(f *testing.F) {
	s := newSeal(nil) // each process of a fuzzing run has a key of its own
	good := s.mint(&session{said: said{version: "2025-06-18"}})
	f.Add(good)
	f.Add("")
	f.Add(".")
	f.Add(good + "=")
	f.Add(strings.Replace(good, ".", "", 1))
	f.Fuzz(func(t *testing.T, id string) {
		if _, ok := s.read(id, ""); ok && id != good {
			t.Fatalf("%q is taken for a session", id)
		}
		if _, rpcErr := s.openState("x", id); rpcErr == nil {
			t.Fatalf("%q is taken for a state", id)
		}
	})
}
