package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"toolnorm/chat"
)

func TestTheLastExchangesAreKept(t *testing.T) {
	l := New(3, false)
	for i := range 5 {
		e := l.Begin(fmt.Sprint(i), "chat", "/v1/chat/completions", time.Now())
		e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Repairs: []string{"quotes"}}})
		e.End(200, nil, 0, 0)
		l.Add(e)
		ids := ""
		for _, e := range l.List().Exchanges {
			ids += e.ID
		}
		if want := [...]string{"0", "10", "210", "321", "432"}[i]; ids != want {
			t.Errorf("after %d: kept %s, want %s", i, ids, want)
		}
	}
	if l.Find("1") != nil || l.Find("2") == nil || l.Find("") != nil {
		t.Errorf("found 1: %v, 2: %v", l.Find("1"), l.Find("2"))
	}
	if s := l.List(); s.Seen != 5 || s.Keeps != 3 || s.Counts["quotes"] != 5 {
		t.Errorf("list %+v", s)
	}
}

func TestAnExchangeSaysWhatBecameOfIt(t *testing.T) {
	e := New(1, false).Begin("id", "chat", "/v1/chat/completions", time.Now())
	e.Asked(&chat.Request{Model: "m", Tools: make([]chat.Tool, 2), Messages: []chat.Message{{Content: "SECRET"}}}, true)
	e.Chosen("hermes", "tap")
	e.Chosen("hermes", "native")
	for i, name := range []string{"get_weather", "get_time"} {
		e.Event(&chat.Event{Kind: chat.CallStart, Index: i, ID: "call_" + name, Text: name})
		e.Event(&chat.Event{Kind: chat.CallArgs, Index: i, Text: `{"a":"SECRET"}`})
		if i == 0 {
			e.Event(&chat.Event{Kind: chat.CallEnd, Index: i})
		}
	}
	e.Event(&chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: 3, Completion: 4}, Times: &chat.Times{Load: time.Second}}})
	e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Length, Meta: &chat.Meta{Format: "hermes", Strategy: "native", Cause: "a call was cut", Repairs: []string{"quotes"}, Cut: "SECRET"}})
	e.End(499, errors.New("gone"), 1500*time.Microsecond, 2*time.Second)
	e.Time = time.Time{}
	got, err := json.Marshal(e)
	want := `{"id":"id","time":"0001-01-01T00:00:00Z","form":"chat","path":"/v1/chat/completions","model":"m","stream":true,"tools":2,"conversation":"id","turn":1,` +
		`"format":"hermes","strategy":"native","tried":["tap","native"],"status":499,"error":"gone","finish":"length","cause":"a call was cut",` +
		`"calls":[{"id":"call_get_weather","name":"get_weather"},{"id":"call_get_time","name":"get_time","open":true}],"repairs":["quotes"],"cut":true,` +
		`"prompt_tokens":3,"completion_tokens":4,"first_ms":1.5,"total_ms":2000,"load_ms":1000}`
	if string(got) != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// sides puts a generation into words: each part as kind:text/pieces.
func sides(s Side) string {
	var all []string
	for _, p := range s.Parts {
		all = append(all, fmt.Sprintf("%s%d:%s/%d", p.Kind, p.Index, p.Text, p.Pieces))
	}
	return strings.Join(all, " ")
}

func TestBodiesHoldWhatWasSaid(t *testing.T) {
	e := New(1, true).Begin("id", "chat", "/", time.Now())
	e.Asked(&chat.Request{Tools: []chat.Tool{{Name: "f"}}, Messages: []chat.Message{
		{Role: chat.System, Content: "be brief"},
		{Role: chat.User, Content: "look", Images: [][]byte{{1}}},
		{Role: chat.Assistant, Reasoning: "hm", Calls: []chat.Call{{ID: "c", Name: "f", Args: json.RawMessage(`{"a":1}`)}}},
		{Role: chat.ToolRole, CallID: "c", Content: "done"},
	}}, false)
	first := e.Bodies.Heard("tap")
	first(chat.Event{Kind: chat.Finish, Text: chat.Abandoned, Meta: &chat.Meta{Cause: "EOF"}})
	second := e.Bodies.Heard("native")
	for _, text := range []string{"a", "b", "c"} {
		second(chat.Event{Kind: chat.Reasoning, Text: text})
		e.Event(&chat.Event{Kind: chat.Reasoning, Text: text})
	}
	second(chat.Event{Kind: chat.Usage})
	second(chat.Event{Kind: chat.Text, Text: "<tool_"})
	second(chat.Event{Kind: chat.Text, Text: "call>"})
	for i := range 2 {
		e.Event(&chat.Event{Kind: chat.CallStart, Index: i, ID: "call_1", Text: "f"})
		e.Event(&chat.Event{Kind: chat.CallArgs, Index: i, Text: "{"})
		e.Event(&chat.Event{Kind: chat.CallArgs, Index: i, Text: "}"})
		e.Event(&chat.Event{Kind: chat.CallEnd, Index: i})
	}
	second(chat.Event{Kind: chat.Finish, Text: chat.Stop})
	e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop})
	e.End(200, nil, 0, 0)
	b := e.Bodies
	if got, want := sides(b.Left), "reasoning0:abc/3 call0:f/1 args0:{}/2 end0:/1 call1:f/1 args1:{}/2 end1:/1 finish0:stop/1"; got != want {
		t.Errorf("left  %s\nwant %s", got, want)
	}
	if len(b.Wrote) != 2 || b.Wrote[0].Name != "tap" || sides(b.Wrote[0].Side) != "finish0:abandoned/1" || b.Wrote[0].Parts[0].Cause != "EOF" {
		t.Errorf("first wrote %+v", b.Wrote[0])
	}
	if got, want := sides(b.Wrote[1].Side), "reasoning0:abc/3 text0:<tool_call>/2 finish0:stop/1"; got != want {
		t.Errorf("then wrote %s\nwant %s", got, want)
	}
	got, err := json.Marshal(b.Messages)
	want := `[{"role":"system","text":"be brief"},{"role":"user","text":"look","images":1},` +
		`{"role":"assistant","text":"hm\n\n","calls":[{"id":"c","name":"f","arguments":"{\"a\":1}"}]},{"role":"tool","text":"done","call_id":"c"}]`
	if string(got) != want || err != nil {
		t.Errorf("messages %s, %v\nwant %s", got, err, want)
	}
}

// TestHugeExchangesAreBounded has every part of an exchange too large, in every way that it can be.
func TestHugeExchangesAreBounded(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	calls, raw := make([]chat.Call, 1000), json.RawMessage(huge)
	for i := range calls {
		calls[i] = chat.Call{ID: huge, Name: huge, Args: raw}
	}
	e := New(1, true).Begin("id", "chat", "/", time.Now())
	e.Asked(&chat.Request{
		Model: huge, Tools: []chat.Tool{{Name: huge}, {Name: huge}},
		Messages: []chat.Message{{Content: "first"}, {Content: huge}, {Content: huge}, {Content: huge}, {Content: huge}, {Content: huge, CallID: huge}, {Content: huge, Calls: calls}},
	}, false)
	for range 3 {
		hear := e.Bodies.Heard("raw")
		for range 20000 {
			hear(chat.Event{Kind: chat.Text, Text: "x"})
			hear(chat.Event{Kind: chat.CallStart, ID: huge, Text: huge})
		}
		hear(chat.Event{Kind: chat.Text, Text: huge})
		hear(chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Cause: huge}})
	}
	for i := range 500 {
		e.Event(&chat.Event{Kind: chat.CallStart, Index: i, ID: huge, Text: huge})
	}
	e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Length, Meta: &chat.Meta{Cause: huge}})
	e.End(500, errors.New(huge), 0, 0)
	got, err := json.Marshal(e)
	if err != nil || len(got) > 512<<10 || !utf8.Valid(got) || strings.Contains(string(got), `\ufffd`) {
		t.Errorf("an exchange of %d bytes, error %v", len(got), err)
	}
	b := e.Bodies
	if b.Omitted == 0 || len(b.Messages) == 0 || len(b.Messages[len(b.Messages)-1].Calls) == 0 || b.Messages[len(b.Messages)-1].Missing == 0 {
		t.Errorf("%d messages kept, %d not", len(b.Messages), b.Omitted)
	}
	if e.More != 500-maxCalls || b.Left.Missing == 0 || b.Wrote[0].Missing == 0 {
		t.Errorf("%d more calls, %d bytes missing on the left, %d on the right", e.More, b.Wrote[0].Missing, b.Left.Missing)
	}
	for _, g := range b.Wrote {
		if last := g.Parts[len(g.Parts)-1]; last.Kind != "finish" || last.Text != chat.Stop {
			t.Errorf("a generation ends with %+v, want its finish", last)
		}
	}
}

func TestNothingOfALargeRequestIsHeld(t *testing.T) {
	s := strings.Repeat("a", 1<<20)
	if c := copied(s[:4], maxName); c != "aaaa" {
		t.Errorf("clip = %q", c)
	}
	if c := copied("aé", 2); c != "a…" {
		t.Errorf("clip = %q, want no half character", c)
	}
}

func TestALogIsUsedByMany(t *testing.T) {
	l := New(4, true)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				e := l.Begin(fmt.Sprint(i), "chat", "/", time.Now())
				e.Asked(&chat.Request{Model: "m"}, false)
				e.Event(&chat.Event{Kind: chat.Text, Text: "a"})
				e.End(200, nil, 0, 0)
				l.Add(e)
				if _, err := json.Marshal(l.List()); err != nil {
					t.Error(err)
				}
				if e := l.Find("3"); e != nil && e.Bodies.Left.Parts[0].Text != "a" {
					t.Errorf("found %+v", e)
				}
			}
		})
	}
	all.Wait()
	if n := l.List().Seen; n != 400 {
		t.Errorf("seen %d, want 400", n)
	}
}
