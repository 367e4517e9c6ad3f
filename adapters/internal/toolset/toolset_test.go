package toolset

import (
	"testing"

	"toolnorm/chat"
)

// TestNamedFindsAToolBeforeAnyOtherLookUp asks a new set for an exact name first: the tables were
// once made by other look-ups only, so what a reader saw depended on what had been read before.
func TestNamedFindsAToolBeforeAnyOtherLookUp(t *testing.T) {
	s := New([]chat.Tool{{Name: "get_weather"}}, nil)
	if tool := s.Named("get_weather"); tool == nil || tool.Name != "get_weather" {
		t.Errorf("Named returned %v for an offered tool", tool)
	}
	if tool := s.Named("get weather"); tool != nil {
		t.Errorf("Named returned %v for another spelling", tool.Name)
	}
}
