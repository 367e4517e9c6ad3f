package engine

import (
	"strings"
	"testing"

	"toolnorm/chat"
)

func TestAModelThatPicksNoToolIsOfferedNone(t *testing.T) {
	for name, row := range map[string]struct {
		pick   string
		change func(*chat.Request)
		want   string
		picks  int
	}{
		"none":       {`{"tool":"none"}`, nil, tagged("clock", `{}`) + " stop ", 1}, // text, since nothing is offered
		"a tool":     {`{"tool":"clock"}`, nil, `[clock {}] stop `, 1},
		"nonsense":   {`I like tools.`, nil, `[clock {}] stop `, 1},
		"a required": {`{"tool":"none"}`, func(r *chat.Request) { r.Required, r.Allowed = true, []string{"clock"} }, `[clock {}] stop `, 0},
		"behind a result": {`{"tool":"none"}`, func(r *chat.Request) {
			r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "a", Name: "clock"}}}, chat.Message{Role: chat.ToolRole, CallID: "a", Content: "9:00"})
		}, `[clock {}] stop `, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, Config{Gate: map[string]string{"*": GateAlways}}, tagged("clock", `{}`))
			picks := 0
			f.reply = func(system string) string {
				if strings.HasPrefix(system, "Decide") {
					picks++
					return row.pick
				}
				return tagged("clock", `{}`)
			}
			r := user("what time is it?")
			r.Tools = []chat.Tool{clock}
			if row.change != nil {
				row.change(r)
			}
			if got := told(collect(t, e, r)); !strings.HasPrefix(got, row.want) {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			tokens := 0
			for ev, err := range e.Stream(t.Context(), r) {
				if err == nil && ev.Kind == chat.Usage {
					tokens = ev.Meta.Usage.Completion
				}
			}
			if picks /= 2; tokens != 4*(1+picks) {
				t.Errorf("%d tokens, want those of %d replies", tokens, 1+picks)
			}
			if picks != row.picks {
				t.Errorf("picked %d times, want %d", picks, row.picks)
			}
		})
	}
}

// TestAModelThatContradictsItselfNeedsNoTool picks one tool and calls another: such a call leaves
// only when the conversation explains it.
func TestAModelThatContradictsItselfNeedsNoTool(t *testing.T) {
	for _, row := range []struct{ said, pick, want string }{
		{"Who painted the Mona Lisa?", "clock", "Hello to you."},
		{"Who painted the Mona Lisa?", "forecast", "[forecast"},
		{"What of Oslo?", "clock", "[forecast"},
	} {
		e, picks := chattyModel(t, Config{Gate: map[string]string{"*": GateAlways}}, `{"city":"Oslo","days":2}`, func(string) string { return row.pick })
		r := user(row.said)
		r.Tools = []chat.Tool{forecast, clock}
		if got := told(collect(t, e, r)); !strings.Contains(got, row.want) || *picks != 1 {
			t.Errorf("%+v: got %s with %d picks", row, got, *picks)
		}
	}
}

func TestAQuestionIsAskedWithTheTurnBefore(t *testing.T) {
	turn := func(role chat.Role, text string) chat.Message { return chat.Message{Role: role, Content: text} }
	long := strings.Repeat("ü", mostTold)
	for want, all := range map[string][]chat.Message{
		"Hello": {turn(chat.System, "be brief"), turn(chat.User, "Hello")},
		"Earlier the user said: 250 dollars in euros?\nThe answer was: 230\nNow the user says: And in yen?": {
			turn(chat.User, "Hi"), turn(chat.Assistant, "Hello"), turn(chat.User, "250 dollars in euros?"), turn(chat.Assistant, ""), turn(chat.ToolRole, "230.1"),
			turn(chat.Assistant, "230"), turn(chat.User, "And in yen?")},
		"Earlier the user said: " + long[:mostTold] + "\nThe answer was: \nNow the user says: " + long: {turn(chat.User, long), turn(chat.User, long)},
	} {
		if got := question(&chat.Request{Messages: all}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStopSequencesOutliveTheTools has the gate take the tools away: stop sequences, which are
// matched here only beside tools, must be the server's then.
func TestStopSequencesOutliveTheTools(t *testing.T) {
	e, f := guarding(t, Config{Gate: map[string]string{"*": GateAlways}}, "a")
	f.reply = func(system string) string {
		if strings.HasPrefix(system, "Decide") {
			return `{"tool":"none"}`
		}
		return "a"
	}
	r := user("what time is it?")
	r.Tools, r.Stop = []chat.Tool{clock}, []string{"END"}
	if got := told(collect(t, e, r)); got != "a stop " {
		t.Errorf("got %s", got)
	}
	if got := string(f.generes[len(f.generes)-1].Options["stop"]); got != `["END"]` {
		t.Errorf("the server is told to stop at %s", got)
	}
}
