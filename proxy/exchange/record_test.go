package exchange

import (
	"net/http"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/trace"
	"toolnorm/proxy/form"
)

func TestAnEventCostsNothingMoreWhenBodiesAreNotKept(t *testing.T) {
	ev := chat.Event{Kind: chat.Text, Text: "word"}
	for _, x := range []*Record{{}, {kept: trace.New(1, false).Begin("id", "chat", "/", time.Now())}} {
		x.observer(http.Header{}, "", &form.Ask{}, struct{ form.Reply }{})
		if n := testing.AllocsPerRun(100, func() { x.note(ev) }); n != 0 {
			t.Errorf("an event costs %v allocations", n)
		}
	}
}
