package fault

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEveryKindHasAStatusAndAType(t *testing.T) {
	for k := range len(table) {
		e := New(Kind(k), "what went wrong")
		if e.Status() < 400 || e.Status() > 599 || e.Type() == "" {
			t.Errorf("kind %d: status %d, type %q", k, e.Status(), e.Type())
		}
	}
}

func TestAFaultIsFoundInAChainAndNothingElseIsShown(t *testing.T) {
	deep := fmt.Errorf("answer: %w", New(Busy, "the model server is busy: %w", io.EOF))
	f := From(deep)
	if f.Kind != Busy || !errors.Is(deep, io.EOF) || f.Message != "the model server is busy: EOF" {
		t.Errorf("From(%v) = %+v", deep, f)
	}
	secret := errors.New("open /etc/key: permission denied")
	if f := From(secret); f.Kind != Internal || strings.Contains(f.Message, "key") || !errors.Is(f, secret) {
		t.Errorf("From(%v) = %+v: the public sentence must give nothing away", secret, f)
	}
}

func TestACodeOfItsOwnWins(t *testing.T) {
	e := New(Invalid, "too long")
	if e.OpenAICode() != "" {
		t.Errorf("code %q", e.OpenAICode())
	}
	e.Code = "context_length_exceeded"
	if e.OpenAICode() != "context_length_exceeded" {
		t.Errorf("code %q", e.OpenAICode())
	}
}

// What a server or a client wrote is not repeated without end.
func TestSentencesAreShort(t *testing.T) {
	e := New(Unavailable, "the model server says: %s", strings.Repeat("é[", 50_000))
	if len(e.Message) > longest+len("…") || !utf8.ValidString(e.Message) || !strings.HasSuffix(e.Message, "…") {
		t.Errorf("%d bytes: %s", len(e.Message), e.Message)
	}
	if got := Short("short"); got != "short" {
		t.Errorf("got %q", got)
	}
}
