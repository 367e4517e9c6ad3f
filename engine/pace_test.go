package engine

import (
	"strings"
	"testing"
	"time"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// paced is a source whose pieces come at a fixed pace by a clock of its own.
type paced struct {
	chat.Source
	now   *time.Time
	pause time.Duration
}

func (p *paced) Next() (chat.Event, error) {
	*p.now = p.now.Add(p.pause)
	return p.Source.Next()
}

// TestACallWaitsForATimeAndNotForASize plays a call in tokens of four bytes at several paces, by a
// clock of the test: what waits of it is what the model writes in holdTime, between the least and
// the most, and it leaves then.
func TestACallWaitsForATimeAndNotForASize(t *testing.T) {
	head := "I will look.\n<tool_call>\n{\"name\": \"save\", \"arguments\": "
	text := head + `{"text": "` + strings.Repeat("abcd", 500) + "\"}}\n</tool_call>"
	tools := []chat.Tool{{Name: "save", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)}}
	for perSecond, want := range map[int]int{5: 16, 20: 24, 100: 120, 400: 480, 5000: 512} {
		now := time.Unix(0, 0)
		var all chat.Fixed
		for rest := text; rest != ""; {
			n := min(4, len(rest))
			all = append(all, chat.Event{Kind: chat.Text, Text: rest[:n]})
			rest = rest[n:]
		}
		all = append(all, chat.Event{Kind: chat.Finish, Text: chat.Stop})
		p := &pace{clock: func() time.Time { return now }}
		src := chat.Watch(&paced{&all, &now, time.Second / time.Duration(perSecond)}, p.watch)
		for ev, err := range adapters.Named("hermes").Decode(src, adapters.Options{Tools: tools, HoldNow: p.held}) {
			must.OK(t, err)
			if ev.Kind != chat.CallStart {
				continue
			}
			held := int(now.Sub(time.Unix(0, 0)).Seconds()*float64(perSecond)*4) - len(head)
			if held < want-8 || held > want*11/10+24 {
				t.Errorf("%d tokens a second: the call left behind %d bytes, want about %d", perSecond, held, want)
			}
			break
		}
	}
}

// TestACallThatEndsWronglyIsWrittenOn lets the model end a call of which some has left by itself,
// but not rightly: the rest is written again behind what stands. In the middle of a text nobody
// knows how it went on, so the call stays open there.
func TestACallThatEndsWronglyIsWrittenOn(t *testing.T) {
	for wrote, want := range map[string]string{
		tagged("forecast", `{"city": "Rome Rome Rome Rome", "days": }`):             `[forecast {"city": "Rome Rome Rome Rome","days":2}] stop rewritten`,
		tagged("forecast", `{"city": "Rome Rome Rome Rome", `):                      `[forecast {"city": "Rome Rome Rome Rome","days":2}] stop rewritten`,
		`<tool_call>{"name": "forecast", "arguments": {"city": "Rome Rome Rome Rom`: `[forecast {"city": "Rome Rome Rome Rom] length`,
	} {
		e, _ := guarding(t, Config{}, wrote, object("forecast", `{"city":"Rome Rome Rome Rome","days":2}`))
		r := user("q")
		r.Tools, r.Hold = []chat.Tool{forecast}, 8
		got := told(collect(t, e, r))
		if got = strings.NewReplacer(" truncated,", " ", " truncated", "", "trailing-comma,", "").Replace(got); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", wrote, got, want)
		}
	}
}
