package proxy

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/streamcheck"
	"toolnorm/proxy/form"
)

// called are calls as a client sees them: pairs of name and arguments.
func called(pairs ...string) (all []streamcheck.Call) {
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, streamcheck.Call{ID: call(i/2, "").ID, Name: pairs[i], Args: pairs[i+1]})
	}
	return all
}

func TestStreamKeepsEveryRule(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script script
		want   streamcheck.Reply
	}{
		{"text", script{say("Hel"), idle, say("lo"), finish("stop")},
			streamcheck.Reply{Text: "Hello", Finish: "stop", Chunks: 3}},
		{"what arrives together leaves together", script{say("a"), say("b"), think("c"), say("d"), finish("stop")},
			streamcheck.Reply{Text: "abd", Reasoning: "c", Finish: "stop", Chunks: 4}},
		{"a call in pieces", script{call(0, "get_weather"), idle, args(0, `{"city":`), idle, args(0, `"Par`), args(0, `is"}`), endOf(0), finish("stop")},
			streamcheck.Reply{Calls: called("get_weather", `{"city":"Paris"}`), Finish: "tool_calls", Chunks: 4, ArgChunks: 3}},
		{"a call whole", script{call(0, "get_weather"), args(0, `{"city":"Paris"}`), endOf(0), finish("stop")},
			streamcheck.Reply{Calls: called("get_weather", `{"city":"Paris"}`), Finish: "tool_calls", Chunks: 2, ArgChunks: 1}},
		{"no arguments", script{call(0, "get_time"), args(0, ""), endOf(0), finish("stop")},
			streamcheck.Reply{Calls: called("get_time", `{}`), Finish: "tool_calls", Chunks: 2, ArgChunks: 1}},
		{"no arguments, start sent before", script{call(0, "get_time"), idle, endOf(0), finish("stop")},
			streamcheck.Reply{Calls: called("get_time", `{}`), Finish: "tool_calls", Chunks: 3, ArgChunks: 2}},
		{"text, two calls, text", script{think("hm"), say("I look. "), call(0, "get_time"), args(0, "{}"), endOf(0), call(1, "get_weather"), args(1, `{"a":1}`), endOf(1), say("Done."), finish("stop")},
			streamcheck.Reply{Reasoning: "hm", Text: "I look. Done.", Calls: called("get_time", "{}", "get_weather", `{"a":1}`), Finish: "tool_calls", Chunks: 6, ArgChunks: 2}},
		{"cut inside a call", script{call(0, "get_weather"), args(0, `{"city":"Pa`), finish("length")},
			streamcheck.Reply{Calls: called("get_weather", `{"city":"Pa`), Finish: "length", Chunks: 2, ArgChunks: 1}},
		{"cut inside a call by a server that calls it a stop", script{call(0, "get_weather"), args(0, `{"city":"Pa`), finish("stop")},
			streamcheck.Reply{Calls: called("get_weather", `{"city":"Pa`), Finish: "length", Chunks: 2, ArgChunks: 1}},
		{"cut behind a call", script{call(0, "get_time"), endOf(0), say("an"), finish("length")},
			streamcheck.Reply{Text: "an", Calls: called("get_time", `{}`), Finish: "length", Chunks: 3, ArgChunks: 1}},
		{"cut before anything could be shown", script{finish("length")},
			streamcheck.Reply{Finish: "length", Chunks: 2}},
		{"heartbeats", script{beat, say("a"), beat, beat, finish("stop")},
			streamcheck.Reply{Text: "a", Finish: "stop", Chunks: 2, Comments: []string{": keep-alive", ": keep-alive", ": keep-alive"}}},
		{"characters cut over events and batches", script{say("가\xea"), idle, say("\xb0"), idle, say("\x80!"), idle, say("\xf0\x9f"), think("\x98"), finish("stop")},
			streamcheck.Reply{Text: "가가!\ufffd\ufffd", Reasoning: "\ufffd", Finish: "stop", Chunks: 5}},
		{"text that JSON escapes", script{say("\"\\\n\x00\u2028<&>"), finish("stop")},
			streamcheck.Reply{Text: "\"\\\n\x00\u2028<&>", Finish: "stop", Chunks: 2}},
		{"a call that was cut told in a comment", script{say("a"), chat.Event{Kind: chat.Finish, Text: "length", Meta: &chat.Meta{Cut: "<tool_call>\n{\"é"}}},
			streamcheck.Reply{Text: "a", Finish: "length", Chunks: 2, Comments: []string{`: cut="<tool_call>\n{\"\u00e9"`}}},
		{"repairs told in a comment", script{say("a"), chat.Event{Kind: chat.Finish, Text: "stop", Meta: &chat.Meta{Format: "hermes", Repairs: []string{"comma", "quote\n"}}}},
			streamcheck.Reply{Text: "a", Finish: "stop", Chunks: 2, Comments: []string{": format=hermes repairs=comma,quote"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, _ := serve(t, tt.script)
			resp, body := post(t, srv, `,"stream":true`)
			if got := mustStream(t, resp.Header, body, streamcheck.Expect{Tools: offered}); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			for key, want := range map[string]string{"X-Accel-Buffering": "no", "Cache-Control": "no-cache"} {
				if got := resp.Header.Get(key); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
		})
	}
}

func TestTokensAreCountedOnRequest(t *testing.T) {
	for name, s := range map[string]script{
		"counted":     {say("a"), counted(7, 5), finish("stop")},
		"not counted": {say("a"), finish("stop")},
	} {
		srv, _ := serve(t, s)
		resp, body := post(t, srv, `,"stream":true,"stream_options":{"include_usage":true}`)
		got := mustStream(t, resp.Header, body, streamcheck.Expect{Usage: true, Tools: offered})
		want := map[string]int{"counted": 12, "not counted": 0}[name]
		if got.Usage == nil || *got.Usage.Total != want {
			t.Errorf("%s: usage %+v, want a total of %d", name, got.Usage, want)
		}
		resp, body = post(t, srv, `,"stream":true`)
		mustStream(t, resp.Header, body, streamcheck.Expect{Tools: offered})
	}
}

func TestErrorBeforeTheFirstByteIsAStatus(t *testing.T) {
	for _, s := range []script{
		{fault.New(fault.Busy, "come back")},
		{say("never flushed"), fault.New(fault.Busy, "come back")},
	} {
		for _, stream := range []string{"true", "false"} {
			srv, _ := serve(t, s)
			resp, body := post(t, srv, `,"stream":`+stream)
			if resp.StatusCode != 503 {
				t.Errorf("stream %s: status %d, want 503", stream, resp.StatusCode)
			}
			wantErrorBody(t, body, "come back")
		}
	}
}

func TestErrorAfterTheFirstByteIsTheLastEvent(t *testing.T) {
	for name, s := range map[string]script{
		"text":          {say("a"), idle, fault.New(fault.Unavailable, "it broke")},
		"heartbeat":     {beat, fault.New(fault.Unavailable, "it broke")},
		"inside a call": {call(0, "get_weather"), args(0, `{"a":"`), idle, fault.New(fault.Unavailable, "it broke")},
		"no end":        {say("a"), idle},
		"own fault":     {say("a"), idle, errors.New("secret detail")},
	} {
		t.Run(name, func(t *testing.T) {
			srv, _ := serve(t, s)
			resp, body := post(t, srv, `,"stream":true`)
			got, broken := streamcheck.Check(resp.Header, body, streamcheck.Expect{Tools: offered})
			if got.Error == nil || got.Finish != "" || strings.Contains(body, "[DONE]") || strings.Contains(body, "secret") {
				t.Errorf("no clean error at the end of\n%s", body)
			}
			for _, b := range broken {
				if name != "inside a call" || !strings.HasPrefix(b, "S24") { // a broken call is no object
					t.Error(b)
				}
			}
		})
	}
}

func TestEmptyReplyIsAnErrorUnlessAskedFor(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		srv, _ := serve(t, script{finish("stop")})
		resp, body := post(t, srv, `,"stream":`+stream)
		if resp.StatusCode != 502 {
			t.Errorf("stream %s: status %d, want 502", stream, resp.StatusCode)
		}
		wantErrorBody(t, body, "without writing anything")
		if resp, _ := post(t, srv, `,"stop":"x","stream":`+stream); resp.StatusCode != 200 {
			t.Errorf("stream %s, own stop sequence: status %d, want 200", stream, resp.StatusCode)
		}
	}
}

// wantErrorBody checks OpenAI's error body.
func wantErrorBody(t *testing.T, body, message string) {
	t.Helper()
	var got struct {
		Error map[string]json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for _, key := range []string{"message", "type", "param", "code"} {
		if got.Error[key] == nil {
			t.Errorf("no %q in %s", key, body)
		}
	}
	if !strings.Contains(string(got.Error["message"]), message) || len(got.Error) != 4 {
		t.Errorf("error %s, want four keys and a message with %q", body, message)
	}
}

func TestWholeReplyIsTheStreamCollected(t *testing.T) {
	s := script{think("hm"), say("I "), idle, say("look. "), call(0, "get_weather"), args(0, `{"b":1.50,`), args(0, `"a":2}`), endOf(0), call(1, "get_time"), endOf(1), counted(3, 4),
		chat.Event{Kind: chat.Finish, Text: "stop", Meta: &chat.Meta{Format: "hermes", Strategy: "raw"}}}
	srv, m := serve(t, s)
	resp, body := post(t, srv, ``)
	if resp.Header.Get("Toolnorm-Format") != "hermes" || resp.Header.Get("Toolnorm-Strategy") != "raw" {
		t.Errorf("header %v lacks format or strategy", resp.Header)
	}
	if m.last.Hold <= 1<<30 {
		t.Errorf("Hold = %d: calls of a whole reply should wait until they are complete", m.last.Hold)
	}
	id := resp.Header.Get("X-Request-Id")
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil || got["id"] != id {
		t.Fatalf("%v, id %v, want %s: %s", err, got["id"], id, body)
	}
	delete(got, "id")
	delete(got, "created")
	b, _ := json.Marshal(got)
	want := `{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"content":"I look. ","reasoning":"hm","reasoning_content":"hm","role":"assistant",` +
		`"tool_calls":[{"function":{"arguments":"{\"b\":1.50,\"a\":2}","name":"get_weather"},"id":"call_0","type":"function"},` +
		`{"function":{"arguments":"{}","name":"get_time"},"id":"call_1","type":"function"}]}}],` +
		`"model":"m","object":"chat.completion","usage":{"completion_tokens":4,"prompt_tokens":3,"total_tokens":7}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestWholeReplyLeavesAHalfCallOut(t *testing.T) {
	srv, _ := serve(t, script{call(0, "get_time"), endOf(0), call(1, "get_weather"), args(1, `{"ci`), finish("length")})
	_, body := post(t, srv, ``)
	if strings.Contains(body, "get_weather") || !strings.Contains(body, `"finish_reason":"length"`) || !strings.Contains(body, `"content":null`) {
		t.Errorf("got %s", body)
	}
}

// TestAnyEventsInAnyBatchesKeepTheRules runs random replies through the checker: whatever the
// batches, the client puts together what the model said.
func TestAnyEventsInAnyBatchesKeepTheRules(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s, want := randomReply(rnd)
		srv, _ := serve(t, s)
		resp, body := post(t, srv, `,"stream":true,"stream_options":{"include_usage":true}`)
		got := mustStream(t, resp.Header, body, streamcheck.Expect{Usage: true, Tools: offered})
		if got.Text != want.Text || got.Reasoning != want.Reasoning || !reflect.DeepEqual(got.Calls, want.Calls) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		srv.Close()
	}
}

// randomReply makes a reply and what a client should see of it.
func randomReply(rnd *rand.Rand) (s script, want streamcheck.Reply) {
	pieces := func(text string, event func(string) chat.Event) {
		for text != "" {
			n := 1 + rnd.IntN(len(text))
			s = append(s, event(text[:n]))
			text = text[n:]
			for range rnd.IntN(3) {
				s = append(s, []any{idle, idle, beat}[rnd.IntN(3)])
			}
		}
	}
	for range 1 + rnd.IntN(6) {
		word := []string{"plain ", "가나다🙂", "\"quoted\\\n", "\u2028é"}[rnd.IntN(4)]
		switch rnd.IntN(3) {
		case 0:
			pieces(word, say)
			want.Text += word
		case 1:
			pieces(word, think)
			want.Reasoning += word
		default:
			i := len(want.Calls)
			obj := string(append(chat.AppendQuoted([]byte(`{"v":`), word), '}'))
			s = append(s, call(i, "get_weather"))
			pieces(obj, func(p string) chat.Event { return args(i, p) })
			s = append(s, endOf(i))
			want.Calls = append(want.Calls, streamcheck.Call{ID: call(i, "").ID, Name: "get_weather", Args: obj})
		}
	}
	return append(s, finish("stop")), want
}

func TestTheClientSaysHowMuchOfACallWaits(t *testing.T) {
	srv, m := serve(t, script{say("a"), finish("stop")})
	ask := func(hold string) int {
		resp, _ := do(t, "POST", srv.URL+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}]}`, "Toolnorm-Hold", hold)
		return resp.StatusCode
	}
	for hold, want := range map[string]int{"call": adapters.HoldCall, "none": adapters.HoldNone, "64": 64} {
		if status := ask(hold); status != 200 || m.last.Hold != want {
			t.Errorf("hold %s: status %d, Hold %d, want %d", hold, status, m.last.Hold, want)
		}
	}
	if status := ask("much"); status != 400 {
		t.Errorf("hold much: status %d, want 400", status)
	}
}

// TestThoughtsStandInTheFieldsThatAreWished has a thought come in pieces, one of them half a
// character.
func TestThoughtsStandInTheFieldsThatAreWished(t *testing.T) {
	s := script{think("h\""), think("m \xf0\x9f"), idle, think("\x8c\x8d"), say("Hi."), finish("stop")}
	for wish, want := range map[string][]string{"": {"reasoning_content", "reasoning"}, form.ThoughtsBoth: {"reasoning_content", "reasoning"}, form.ThoughtsContent: {"reasoning_content"}, form.ThoughtsPlain: {"reasoning"}} {
		srv, _ := serve(t, s, func(c *Config) { c.Thoughts = wish })
		for _, stream := range []string{"", `,"stream":true`} {
			_, body := post(t, srv, stream)
			said := map[string]string{}
			for line := range strings.Lines(body) {
				var c struct {
					Choices []struct{ Delta, Message map[string]any }
				}
				if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &c) != nil {
					continue // a blank line, or the end
				}
				for field, v := range c.Choices[0].Delta {
					text, _ := v.(string)
					said[field] += text
				}
				for field, v := range c.Choices[0].Message {
					said[field], _ = v.(string)
				}
			}
			for _, field := range []string{"reasoning_content", "reasoning"} {
				if slices.Contains(want, field) != (said[field] == "h\"m 🌍") || !slices.Contains(want, field) && said[field] != "" || said["content"] != "Hi." {
					t.Errorf("%q%s: %q in %s", wish, stream, said, body)
				}
			}
		}
	}
}
