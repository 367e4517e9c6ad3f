package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"toolnorm/e2e/script"
	"toolnorm/internal/test/streamcheck"
)

// faults compares what a client got with what it should have got, and says each difference.
func faults(want *script.Reply, got reply) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if want == nil {
		return nil
	}
	if want.Open {
		if len(got.Calls) > 0 {
			say("calls %+v, want none", got.Calls)
		}
		return out
	}
	if got.Error != "" {
		say("error %s", got.Error)
		return out
	}
	if g, w := gotCalls(got), wantCalls(want); g != w {
		say("calls\n%swant\n%s", g, w)
	}
	if got.Content != want.Text && (want.Exact || strings.TrimSpace(got.Content) != strings.TrimSpace(want.Text)) {
		say("content %q, want %q", got.Content, want.Text)
	}
	finish := "stop"
	if len(want.Calls) > 0 {
		finish = "tool_calls"
	}
	if got.Finish != finish {
		say("finish_reason %q, want %q", got.Finish, finish)
	}
	return out
}

// thinkFault compares the reasoning. Ollama's own endpoint is not held to it: its models have no
// thinking declared.
func thinkFault(want *script.Reply, got reply) []string {
	if want == nil || want.Open || strings.TrimSpace(got.Reasoning) == want.Think {
		return nil
	}
	return []string{fmt.Sprintf("reasoning %q, want %q", got.Reasoning, want.Think)}
}

func gotCalls(r reply) string {
	var b strings.Builder
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "  %s %s\n", c.Name, canonical(c.Arguments))
	}
	return b.String()
}

func wantCalls(r *script.Reply) string {
	var b strings.Builder
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "  %s %s\n", c.Name, canonical(c.Args))
	}
	return b.String()
}

// canonical writes JSON in one spelling of its white space and string escapes; key order and the
// digits of numbers stay. What is no JSON comes back marked.
func canonical(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var out []byte
	for {
		token, err := d.Token()
		if err == io.EOF && json.Valid([]byte(text)) {
			return string(out)
		}
		if err != nil {
			return "not JSON: " + text
		}
		if delim, ok := token.(json.Delim); ok {
			out = append(out, delim.String()...)
			continue
		}
		b, err := json.Marshal(token)
		if err != nil {
			return "not JSON: " + text
		}
		out = append(append(out, b...), ' ')
	}
}

// broken are the stream rules that a reply breaks, by the bytes on the wire.
func broken(got reply, offered []string) []string {
	_, rules := streamcheck.Check(http.Header{"Content-Type": {got.Type}}, got.Raw, streamcheck.Expect{Usage: true, Tools: offered})
	return rules
}

func TestFaultsAreSeen(t *testing.T) {
	want := &script.Reply{Text: "hi", Calls: []script.Call{{Name: "f", Args: `{"a": 1.50, "b": "é"}`}}}
	good := reply{Content: " hi\n", Finish: "tool_calls", Calls: []gotCall{{Name: "f", Arguments: `{"a":1.50,"b":"\u00e9"}`}}}
	if f := faults(want, good); len(f) > 0 {
		t.Fatalf("a right reply has the faults %q", f)
	}
	for name, bad := range map[string]reply{
		"digits":   {Content: "hi", Finish: "tool_calls", Calls: []gotCall{{Name: "f", Arguments: `{"a":1.5,"b":"é"}`}}},
		"order":    {Content: "hi", Finish: "tool_calls", Calls: []gotCall{{Name: "f", Arguments: `{"b":"é","a":1.50}`}}},
		"cut":      {Content: "hi", Finish: "tool_calls", Calls: []gotCall{{Name: "f", Arguments: `{"a":1.50,"b":"é"`}}},
		"name":     {Content: "hi", Finish: "tool_calls", Calls: []gotCall{{Name: "g", Arguments: `{"a":1.50,"b":"é"}`}}},
		"text":     {Content: "hi }", Finish: "tool_calls", Calls: good.Calls},
		"finish":   {Content: "hi", Finish: "stop", Calls: good.Calls},
		"one more": {Content: "hi", Finish: "tool_calls", Calls: append(good.Calls, good.Calls...)},
		"error":    {Error: "500"},
	} {
		if len(faults(want, bad)) == 0 {
			t.Errorf("%s: the fault was not seen", name)
		}
	}
}
