package engine

import (
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/wait"
	"toolnorm/internal/test/must"
)

// chattyModel calls forecast for everything, and picks a tool by what pick says of a message.
func chattyModel(t *testing.T, cfg Config, args string, pick func(message string) string) (*Engine, *int) {
	picks := 0
	e, f := guarding(t, cfg)
	f.then = func(ollama.GenerateRequest, int) string {
		if rendered := f.chats[len(f.chats)-1]; len(rendered.Tools) == 0 {
			return "Hello to you."
		}
		return "I see. " + tagged("forecast", args)
	}
	f.reply = func(string) string {
		picks++
		q := f.chats[len(f.chats)-1]
		return fmt.Sprintf(`{"tool":%q}`, pick(q.Messages[len(q.Messages)-1].Content))
	}
	return e, &picks
}

// TestACallThatNothingExplainsIsAskedAbout follows a model through several requests: what it says
// of its first needless call decides how it is asked from then on.
func TestACallThatNothingExplainsIsAskedAbout(t *testing.T) {
	polite := func(message string) string {
		if strings.HasPrefix(message, "Hello") {
			return noTool
		}
		return "forecast"
	}
	const call, words = "[forecast", "Hello to you."
	for name, row := range map[string]struct {
		args string
		pick func(string) string
		said []string // what the user says, one request after the other
		want []string // what each reply holds
		cost []int    // picks of each
	}{
		"needless":            {`{"city":"Oslo","days":2}`, polite, []string{"Hello!", "Hello again", "The weather, please"}, []string{words, words, call}, []int{2, 1, 1}},
		"needed":              {`{"city":"Oslo","days":2}`, polite, []string{"The weather, please", "And now?"}, []string{call, call}, []int{1, 1}},
		"explained":           {`{"city":"Oslo","days":2}`, polite, []string{"Hello, how is Oslo?"}, []string{call}, []int{0}},
		"two texts":           {`{"city":"Oslo on the fjord","when":"the day after tomorrow","days":2}`, polite, []string{"Hello!"}, []string{words}, []int{2}},
		"picks none always":   {`{"city":"Oslo","days":2}`, func(string) string { return noTool }, []string{"Hello!", "Hello!"}, []string{call, call}, []int{2, 0}},
		"picks nonsense":      {`{"city":"Oslo","days":2}`, func(string) string { return "" }, []string{"Hello!"}, []string{call}, []int{1}},
		"a long call":         {`{"city":"` + strings.Repeat("Oslo ", 200) + `","days":2}`, polite, []string{"Hello!"}, []string{call}, []int{0}},
		"a long conversation": {`{"city":"Rome","days":2}`, polite, []string{"Hello! " + strings.Repeat("Oslo ", gateMost/5)}, []string{call}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			e, picks := chattyModel(t, Config{Gate: map[string]string{"*": GateAuto}}, row.args, row.pick)
			for i, said := range row.said {
				*picks = 0
				r := user(said)
				r.Tools = []chat.Tool{forecast}
				got := told(collect(t, e, r))
				if !strings.Contains(got, row.want[i]) || row.want[i] == words && strings.Contains(got, call) {
					t.Errorf("%q: got %s, want %s", said, got, row.want[i])
				}
				if *picks != row.cost[i] {
					t.Errorf("%q: %d picks, want %d", said, *picks, row.cost[i])
				}
			}
		})
	}
}

// TestACallInDoubtWaits writes a call byte by byte, as a slow model does: nothing of it may leave
// before one of its values is explained, and then all of it must.
func TestACallInDoubtWaits(t *testing.T) {
	long := `{"city":"` + strings.Repeat("Rome ", mostDoubted) + `"}`
	for name, row := range map[string]struct {
		said, args string
		left       int // bytes of arguments that had come when the first one left; 0: none did before the question
	}{
		"needless":        {"Hello!", `{"city":"a town that nobody named","days":2}`, 0},
		"its first value": {"Weather in Oslo?", `{"city":"Oslo","days":2}`, len(`{"city":"Oslo"`)},
		"its second":      {"Will it rain for 3 days?", `{"city":"Rome","days":3}`, len(`{"city":"Rome","days":3}`)},
		"half a number":   {"What is 12?", `{"city":"Rome","days":123}`, 0},
		"a member's name": {"Which city is the best?", `{"city":"Rome","days":2}`, 0},
		"a long one":      {"Hello!", long, mostDoubted + 1},
	} {
		t.Run(name, func(t *testing.T) {
			e, picks := chattyModel(t, Config{Gate: map[string]string{"*": GateAuto}}, row.args, func(string) string { return noTool })
			r := user(row.said)
			r.Tools = []chat.Tool{forecast}
			ctx, pulse := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
			defer pulse.Stop()
			j, err := e.prepare(ctx, pulse, r)
			must.OK(t, err)
			came, left, starts := 0, 0, 0
			in := func(yield func(chat.Event, error) bool) {
				all := []chat.Event{{Kind: chat.CallStart, Text: "forecast"}}
				for _, c := range row.args {
					all = append(all, chat.Event{Kind: chat.CallArgs, Text: string(c)})
				}
				for _, ev := range append(all, chat.Event{Kind: chat.CallEnd}, chat.Event{Kind: chat.Finish, Text: chat.Stop}) {
					came += len(ev.Text)
					if !yield(ev, nil) {
						return
					}
				}
			}
			for ev, err := range doubtCalls(j, ctx, in) {
				must.OK(t, err)
				if ev.Kind == chat.CallStart {
					starts++
				}
				if ev.Kind == chat.CallArgs && left == 0 && *picks == 0 {
					left = came - len("forecast")
				}
			}
			if left != row.left || starts != 1 {
				t.Errorf("the call left %d times, first at %d bytes, want once at %d", starts, left, row.left)
			}
		})
	}
}

func TestWholeValuesOfACallThatIsBeingWritten(t *testing.T) {
	for text, want := range map[string]string{
		`{"ci`:                                 "[]",
		`{"city":"Os`:                          "[]",
		`{"city":"Oslo"`:                       "[Oslo]",
		`{"city":"Oslo","days":2`:              "[Oslo]",
		`{"city":"Oslo","days":2}`:             "[Oslo 2]",
		`{"in":{"city":["Oslo","B"],"x":true`:  "[Oslo B]",
		`{"in":{"city":["Oslo"]},"x":"b c","y`: "[Oslo b c]",
		`{"a":" ","b":null,"c":false,"d":"e"`:  "[e]",
	} {
		if got, err := valuesOf(text); fmt.Sprint(got) != want || err != nil {
			t.Errorf("%s: got %v %v, want %s", text, got, err, want)
		}
	}
	if _, err := valuesOf(`{"city":Oslo}`); err == nil {
		t.Error("no JSON: want an error")
	}
}
