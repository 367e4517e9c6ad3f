package engine

import (
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

func TestAReplyWithoutEndIsEnded(t *testing.T) {
	loop := strings.Repeat("round and round ", 3000)
	for name, row := range map[string]struct {
		cfg  Config
		text string
		want string // its end
	}{
		"text":             {Config{}, loop, "length repetition"},
		"text, twice that": {Config{Loops: Loops{MaxRepeat: 16 << 10}}, loop, "length repetition"},
		"switched off":     {Config{Loops: Loops{MaxRepeat: -1}}, loop, "stop "},
		"arguments":        {Config{}, `<tool_call>` + "\n" + `{"name": "clock", "arguments": {"zone": "` + loop, "length repetition,truncated"},
		"no loop":          {Config{}, loop[:4000], "stop "},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, row.cfg, row.text)
			r := user("time?")
			r.Tools = []chat.Tool{clock}
			var counts *chat.Counts
			var left int
			for ev, err := range e.Stream(t.Context(), r) {
				must.OK(t, err)
				left += len(ev.Text)
				if ev.Kind == chat.Usage {
					counts = ev.Meta.Usage
				}
				if ev.Kind == chat.Finish {
					if got := ev.Text + " " + strings.Join(ev.Meta.Repairs, ","); got != row.want {
						t.Errorf("ended with %q, want %q", got, row.want)
					}
				}
			}
			stopped := strings.Contains(row.want, stepRepetition)
			if counts == nil || counts.Estimated != stopped || stopped && (left > len(loop)/2 || counts.Completion == 0) {
				t.Errorf("%d bytes left, counts %+v", left, counts)
			}
			if len(f.generes) != 1 {
				t.Errorf("%d generations", len(f.generes))
			}
		})
	}
}

// TestAForcedCallThatRepeatsItselfIsWrittenWithBounds has the model loop in a call that it is held
// to.
func TestAForcedCallThatRepeatsItselfIsWrittenWithBounds(t *testing.T) {
	e, _ := guarding(t, Config{}, object("clock", `{"zone":"`+strings.Repeat("la ", 8000)), object("clock", `{"zone":"UTC"}`))
	r := user("time?")
	r.Tools, r.Required, r.Hold = []chat.Tool{clock}, true, adapters.HoldCall
	if got := told(collect(t, e, r)); got != `[clock {"zone":"UTC"}] stop rewritten` {
		t.Errorf("got %s", got)
	}
}

func TestTheServersOwnWordOfARepetitionIsPassedOn(t *testing.T) {
	said := &chat.Fixed{{Kind: chat.Finish, Text: chat.Length, Meta: &chat.Meta{Cause: chat.RepeatAbort}}}
	src := chat.Watch(said, new(target).endRepetition(new(chat.Request), 1))
	if ev, err := src.Next(); err != nil || !slices.Equal(ev.Meta.Repairs, []string{stepRepetition}) {
		t.Errorf("%+v, %v", ev.Meta, err)
	}
}
