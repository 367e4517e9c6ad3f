package responses

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
	"toolnorm/proxy/form"
)

// tape turns bytes into the events of a reply, in the order that chat.Model promises: fragments of
// text and thoughts, calls from their start to their end, a pause or a silence anywhere, and at the
// end a finish, an error, or nothing.
func tape(b []byte) (events []chat.Event, pauses map[int]bool, end error) {
	names := []string{"f", "mcp__docs__find", "patch", "tool_search", "unknown"}
	texts := []string{"a", "b c", "\xed\x95", "\x9c\xed", `\n`, `\"`}
	pauses, call, open, empty := map[int]bool{}, -1, false, false
	for _, c := range b {
		if c >= 128 {
			pauses[len(events)] = true
		}
		switch pick := int(c >> 3 & 15); {
		case open && !empty && c%8 < 5:
			events = append(events, chat.Event{Kind: chat.CallArgs, Index: call, Text: texts[pick%len(texts)]})
		case open:
			if open = false; !empty {
				events = append(events, chat.Event{Kind: chat.CallArgs, Index: call, Text: `"}`})
			}
			events = append(events, chat.Event{Kind: chat.CallEnd, Index: call})
		case c%8 < 2:
			events = append(events, chat.Event{Kind: chat.Text, Text: texts[pick%len(texts)]})
		case c%8 < 4:
			events = append(events, chat.Event{Kind: chat.Reasoning, Text: texts[pick%len(texts)]})
		case c%8 < 6:
			call++
			open, empty = true, c%8 == 5
			events = append(events, chat.Event{Kind: chat.CallStart, Index: call, ID: fmt.Sprint("call_", call), Text: names[pick%len(names)]})
			if !empty {
				events = append(events, chat.Event{Kind: chat.CallArgs, Index: call, Text: `{"input":"`})
			}
		case c%8 == 6:
			events = append(events, chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: int(c), Completion: pick}}})
		}
	}
	switch last := len(b); {
	case last > 0 && b[last-1]%4 == 0:
		return events, pauses, fault.New(fault.Unavailable, "broken")
	case last > 0 && b[last-1]%4 == 1:
		return events, pauses, nil
	case last > 0 && b[last-1]%4 == 2 || open:
		return append(events, chat.Event{Kind: chat.Finish, Text: chat.Length}), pauses, nil
	}
	return append(events, chat.Event{Kind: chat.Finish, Text: chat.Stop}), pauses, nil
}

// play writes a reply, streamed or whole.
func play(t *testing.T, b []byte, stream bool) (*httptest.ResponseRecorder, error) {
	t.Helper()
	r, err := parse(`{"model":"m","input":"x","reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"],"stream":` + fmt.Sprint(stream) + `,"tools":[{"name":"f"},
		{"type":"namespace","name":"mcp__docs","tools":[{"name":"find"}]},{"type":"custom","name":"patch"},{"type":"tool_search","execution":"client"}]}`)
	must.OK(t, err)
	r.summary = len(b)%2 == 0
	rec := httptest.NewRecorder()
	reply, err := r.open(http.Header{}, r.Ask, form.Out{W: rec, ID: "resp_A", Created: time.Unix(1, 0)})
	must.OK(t, err)
	events, pauses, end := tape(b)
	for i, e := range events {
		if pauses[i] {
			err = errors.Join(reply.Flush(), reply.Ping(""))
		}
		must.OK(t, errors.Join(err, reply.Event(e)))
	}
	return rec, reply.Close(end)
}

// FuzzEvents holds that any reply's stream is valid by the rules of streamcheck, and that the
// object at its end is the whole reply.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{0, 8, 130, 3, 36, 41, 200, 6, 7})
	f.Add([]byte{4, 0, 5, 7, 12, 40, 7, 1, 3})
	f.Add([]byte{4, 40, 7, 0, 4, 8, 2})
	f.Add([]byte{20, 0, 8, 160, 7, 28, 40, 7, 44, 40, 7, 128, 0, 3, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := play(t, b, true)
		whole, wholeErr := play(t, b, false)
		if err != nil {
			if rec.Body.Len() > 0 || wholeErr == nil {
				t.Errorf("%v, sent %q, whole %v", err, rec.Body, wholeErr)
			}
			return
		}
		got, broken := streamcheck.CheckResponses(rec.Header(), rec.Body.String())
		if len(broken) > 0 {
			t.Fatalf("%s\n%s", strings.Join(broken, "\n"), rec.Body)
		}
		if wholeErr != nil {
			if got.Status != failed {
				t.Errorf("streamed %s, whole %v", got.Status, wholeErr)
			}
			return
		}
		inStream := strings.ReplaceAll(string(got.Final), `"stream":true`, `"stream":false`)
		if text := strings.TrimSpace(whole.Body.String()); text != inStream {
			t.Errorf("whole    %s\nstreamed %s", text, inStream)
		}
	})
}
