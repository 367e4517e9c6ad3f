package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
)

// calling is a turn of a call and its result.
func calling(i int, args, result string) []chat.Message {
	id := fmt.Sprintf("call_%d", i)
	return []chat.Message{
		{Role: chat.Assistant, Content: fmt.Sprintf("Try %d.", i), Calls: []chat.Call{{ID: id, Name: "clock", Args: json.RawMessage(args)}}},
		{Role: chat.ToolRole, CallID: id, Name: "clock", Content: result},
	}
}

func TestTheSameCallWithTheSameResultIsALoop(t *testing.T) {
	const utc, spelled, paris = `{"zone":"UTC"}`, `{ "zone" : "UTC" }`, `{"zone":"Paris"}`
	for name, row := range map[string]struct {
		guard string
		turns [][2]string // arguments and result
		more  bool        // a question behind them
		want  string      // what the client is told
		tools bool        // are offered
	}{
		"twice":                 {LoopWarn, [][2]string{{utc, "12"}, {utc, "12"}}, false, "", true},
		"three times":           {LoopWarn, [][2]string{{utc, "12"}, {spelled, "12"}, {utc, "12"}}, false, "clock, 3 times with the same arguments and the same result", true},
		"by default":            {"", [][2]string{{utc, "12"}, {utc, "12"}, {utc, "12"}}, false, "clock, 3 times with the same arguments and the same result", true},
		"four, the first apart": {LoopWarn, [][2]string{{paris, "12"}, {utc, "12"}, {utc, "12"}, {utc, "12"}}, false, "clock, 3 times with the same arguments and the same result", true},
		"another result":        {LoopWarn, [][2]string{{utc, "12"}, {utc, "13"}, {utc, "12"}}, false, "", true},
		"other arguments":       {LoopBreak, [][2]string{{utc, "12"}, {paris, "12"}, {utc, "12"}}, false, "", true},
		"a question behind it":  {LoopBreak, [][2]string{{utc, "12"}, {utc, "12"}, {utc, "12"}}, true, "", true},
		"off":                   {LoopOff, [][2]string{{utc, "12"}, {utc, "12"}, {utc, "12"}}, false, "", true},
		"broken":                {LoopBreak, [][2]string{{utc, "12"}, {utc, "12"}, {utc, "12"}, {utc, "12"}}, false, "clock, 4 times with the same arguments and the same result; no tools were offered", false},
		"none at all":           {LoopBreak, nil, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, Config{Loops: Loops{LoopGuard: row.guard}}, "It is noon.")
			r := user("time?")
			r.Tools = []chat.Tool{clock}
			for i, turn := range row.turns {
				r.Messages = append(r.Messages, calling(i, turn[0], turn[1])...)
			}
			if row.more {
				r.Messages = append(r.Messages, chat.Message{Role: chat.User, Content: "And now?"})
			}
			before := len(r.Messages)
			told := ""
			o := &chat.Observer{OnNote: func(word, text string) {
				if word == noteLoop {
					told = text
				}
			}}
			if _, _, _, err := collectWith(t, e, r, o); err != nil {
				t.Fatal(err)
			}
			q := f.chats[len(f.chats)-1] // what was rendered
			last := q.Messages[len(q.Messages)-1].Content
			if told != row.want || len(q.Tools) > 0 != row.tools || strings.Contains(last, "same call") == row.tools {
				t.Errorf("told %q, want %q; %d tools, the last message is %q", told, row.want, len(q.Tools), last)
			}
			if len(r.Messages) != before || strings.Contains(r.Messages[before-1].Content, "same call") {
				t.Error("the caller's request was changed")
			}
		})
	}
}
