package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
	"toolnorm/proxy/form"
)

// cases runs the cases of a file: each section "NAME: in" is given to out, whose results, in the
// order of kinds, must be the sections behind it. See testdata/README.md.
func cases(t *testing.T, file, in string, kinds []string, out func(text string) []string) {
	t.Helper()
	src := must.Read(t, file)
	sections, err := golden.Sections(src)
	must.OK(t, err)
	want := map[string]string{}
	for _, s := range sections {
		want[s.Name] = s.Text
	}
	head, _, _ := strings.Cut(string(src), "\n-- ")
	now := head + "\n"
	for _, s := range sections {
		name, isIn := strings.CutSuffix(s.Name, ": "+in)
		if !isIn {
			continue
		}
		now += fmt.Sprintf("-- %s --\n%s\n", s.Name, strings.TrimSpace(s.Text))
		for i, got := range out(s.Text) {
			title := name + ": " + kinds[i]
			if got = strings.TrimSpace(got); !*must.Update && got != strings.TrimSpace(want[title]) {
				t.Errorf("%s:\n%s\nwant\n%s", title, got, want[title])
			}
			now += fmt.Sprintf("-- %s --\n%s\n", title, got)
		}
		now += "\n"
	}
	if *must.Update {
		must.Write(t, file, strings.TrimRight(now, "\n")+"\n")
	}
}

func TestRequestsBecomeOneForm(t *testing.T) {
	cases(t, "testdata/requests.txt", "body", []string{"read"}, func(body string) []string { return []string{shown(read([]byte(body)))} })
}

// shown is what was read of a request: a line for each message and tool, and one for the rest.
func shown(r *request, err error) string {
	if err != nil {
		f := fault.From(err)
		return fmt.Sprintf("%d at %q: %s", f.AnthropicStatus(), f.Param, f.Message)
	}
	var b strings.Builder
	line := func(word string, v any) {
		text, err := chat.JSON(v)
		if err != nil {
			text = []byte(err.Error())
		}
		if s := string(text); s != "null" && s != "{}" && s != "[]" && s != `""` && s != "0" && (s != "false" || word == "think") {
			fmt.Fprintf(&b, "%s %s\n", word, s)
		}
	}
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s %q", m.Role, m.Content)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " call %s %s %s", c.ID, c.Name, c.Args)
		}
		if m.CallID != "" {
			fmt.Fprintf(&b, " of %s", m.CallID)
		}
		if m.Reasoning != "" {
			fmt.Fprintf(&b, " thought %q", m.Reasoning)
		}
		if len(m.Images) > 0 {
			fmt.Fprintf(&b, " images %v", m.Images)
		}
		b.WriteByte('\n')
	}
	for _, tool := range r.Tools {
		fmt.Fprintf(&b, "tool %s %q %s strict=%v\n", tool.Name, tool.Description, tool.Schema, tool.Strict)
	}
	for _, o := range []struct {
		word  string
		value any
	}{
		{"max_tokens", r.MaxTokens}, {"stop", r.Stop}, {"temperature", r.Temperature}, {"top_p", r.TopP}, {"options", r.Options}, {"stream", r.Stream},
		{"think", r.Think}, {"sealed", r.SealThoughts}, {"effort", r.Effort}, {"format", r.Format}, {"required", r.Required}, {"allowed", r.Allowed}, {"single", r.Single}, {"no calls", r.NoCalls}, {"extra", r.Extra},
	} {
		line(o.word, o.value)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note %s: %s\n", n.Word, n.Text)
	}
	return b.String()
}

func TestEventsBecomeAMessage(t *testing.T) {
	cases(t, "testdata/replies.txt", "events", []string{"stream", "whole"}, func(text string) []string {
		return []string{replied(t, text, true), replied(t, text, false)}
	})
}

// replied is the body of a reply to these events, with its status in front when that is an error's.
func replied(t *testing.T, text string, stream bool) string {
	t.Helper()
	w := httptest.NewRecorder()
	a := &form.Ask{Stream: stream}
	a.Model = "m"
	out := form.Out{W: w, ID: "msg_1", PromptTokens: func() int { return 7 }}
	var steps []any
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "": // between steps
		case "#quiet":
			off := false
			a.Think = &off
		case "#seal":
			a.SealThoughts = true
		case "#stop":
			a.Stop = []string{rest}
		default:
			steps = append(steps, step(t, word, rest))
		}
	}
	reply, err := open(http.Header{}, a, out)
	must.OK(t, err)
	if err := run(reply, steps); err != nil {
		fault.WriteAnthropic(w, err)
	}
	if w.Code != http.StatusOK {
		return fmt.Sprintf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// run gives a reply its steps, as exchange does.
func run(reply form.Reply, steps []any) error {
	for _, s := range steps {
		var err error
		switch s := s.(type) {
		case chat.Event:
			err = reply.Event(s)
		case error:
			return reply.Close(s)
		case string:
			if err = reply.Flush(); s == "beat" {
				err = errors.Join(err, reply.Ping(""))
			}
		}
		if err != nil {
			return reply.Close(err)
		}
	}
	return reply.Close(nil)
}

// step reads one line of a case: an event, an error, or what happens between events.
func step(t *testing.T, word, rest string) any {
	t.Helper()
	literal := func(s string) string {
		text, err := strconv.Unquote(s)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		return text
	}
	switch word {
	case "flush", "beat":
		return word
	case "text":
		return chat.Event{Kind: chat.Text, Text: literal(rest)}
	case "reasoning":
		return chat.Event{Kind: chat.Reasoning, Text: literal(rest)}
	case "call":
		return chat.Event{Kind: chat.CallStart, Text: rest, ID: "call_" + rest}
	case "args":
		return chat.Event{Kind: chat.CallArgs, Text: literal(rest)}
	case "end":
		return chat.Event{Kind: chat.CallEnd}
	case "usage":
		var c chat.Counts
		fmt.Sscan(rest, &c.Prompt, &c.Completion)
		return chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &c}}
	case "finish":
		var m chat.Meta
		reason, more, _ := strings.Cut(rest, " ")
		if json.Unmarshal([]byte(more), &m) != nil && more != "" {
			t.Fatalf("%s: no JSON", more)
		}
		return chat.Event{Kind: chat.Finish, Text: reason, Meta: &m}
	case "error":
		return fault.New(fault.Unavailable, "%s", rest)
	}
	t.Fatalf("no step is called %q", word)
	return nil
}
