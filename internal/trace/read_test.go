package trace

import (
	"errors"
	"testing"
	"time"

	"toolnorm/chat"
)

// TestHowModelsWereReadIsRemembered holds that the last good exchange of a model counts, and one
// that failed does not.
func TestHowModelsWereReadIsRemembered(t *testing.T) {
	l := New(4, false)
	add := func(model, format, strategy string, err error) {
		e := l.Begin("id", "chat", "/", time.Now())
		e.Asked(&chat.Request{Model: model}, true)
		e.Chosen(format, strategy)
		e.End(200, err, 0, 0)
		l.Add(e)
	}
	add("a", "hermes", "raw", nil)
	for range 3 { // the ring goes round
		add("b", "hermes", "native", nil)
	}
	add("a", "hermes", "tap", nil)
	add("b", "generic", "prompt", errGone)
	got := l.Read()
	if len(got) != 2 || got["a"] != "hermes, tap" || got["b"] != "hermes, native" {
		t.Errorf("Read = %v", got)
	}
}

// errGone is an error of a request.
var errGone = errors.New("gone")
