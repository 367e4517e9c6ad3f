package adapters

import (
	"testing"

	"toolnorm/adapters/internal/prose"
	"toolnorm/chat"
)

// TestWordsOfAValueAreNoEvidence asks for a call whose value has quotes around a word that in
// the message itself would tell of the past.
func TestWordsOfAValueAreNoEvidence(t *testing.T) {
	h := heard{messages: []chat.Message{{Role: chat.User, Content: `Please send Bob this: it was "yesterday" for me.`}}}
	call := chat.Call{Name: "send_text", Args: []byte(`{"text": "it was \"yesterday\" for me"}`)}
	if got := h.evidence(call); got != prose.Asked {
		t.Errorf("evidence %b, want Asked, %b", got, prose.Asked)
	}
}
