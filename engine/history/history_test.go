package history

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// message is a chat.Message as the case files have it.
type message struct {
	Role      chat.Role `json:"role"`
	Content   string    `json:"content"`
	Reasoning string    `json:"reasoning,omitempty"`
	Calls     []called  `json:"tool_calls,omitempty"`
	CallID    string    `json:"tool_call_id,omitempty"`
	Name      string    `json:"name,omitempty"`
	Images    [][]byte  `json:"images,omitempty"`
}

type called struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
}

// read reads a case's messages and policy.
func readCase(t testing.TB, text string) (ms []chat.Message, p Policy) {
	t.Helper()
	p.Format = adapters.Named("hermes")
	for line := range strings.Lines(text) {
		var m message
		switch line = strings.TrimSpace(line); {
		case line == "":
			continue
		case line == "# strict":
			p.Strict = true
			continue
		case strings.HasPrefix(line, "# reasoning "):
			p.Reasoning = strings.TrimPrefix(line, "# reasoning ")
			continue
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		c := chat.Message{Role: m.Role, Content: m.Content, Reasoning: m.Reasoning, CallID: m.CallID, Name: m.Name, Images: m.Images}
		for _, call := range m.Calls {
			c.Calls = append(c.Calls, chat.Call{ID: call.ID, Name: call.Name, Args: call.Args})
		}
		ms = append(ms, c)
	}
	return ms, p
}

// written are messages and notes as the case files have them.
func written(ms []chat.Message, notes []Note) string {
	var b strings.Builder
	for _, m := range ms {
		w := message{m.Role, m.Content, m.Reasoning, nil, m.CallID, m.Name, m.Images}
		for _, c := range m.Calls {
			w.Calls = append(w.Calls, called{c.ID, c.Name, c.Args})
		}
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(w)
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "# %d %s\n", n.Index, n.Code)
	}
	return b.String()
}

func TestConversationsBecomeWhatTemplatesTake(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		src := must.Read(t, file)
		sections, err := golden.Sections(src)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		head, _, _ := strings.Cut(string(src), "\n-- ")
		now := head + "\n"
		for i, s := range sections {
			name, isSent := strings.CutSuffix(s.Name, ": sent")
			if !isSent {
				continue
			}
			got := shownCase(t, name, s.Text)
			want := ""
			if i+1 < len(sections) && sections[i+1].Name == name+": shown" {
				want = sections[i+1].Text + "\n"
			}
			if !*must.Update && strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s, %s:\n%s\nwant\n%s", file, name, got, want)
			}
			now += fmt.Sprintf("-- %s: sent --\n%s\n\n-- %s: shown --\n%s\n", name, strings.TrimSpace(s.Text), name, got)
		}
		if *must.Update {
			must.Write(t, file, strings.TrimRight(now, "\n")+"\n")
		}
	}
}

// shownCase is what comes of a case, which must be what it was when it goes through once more, and
// leave what was given.
func shownCase(t *testing.T, name, sent string) string {
	t.Helper()
	ms, p := readCase(t, sent)
	before, _ := readCase(t, sent)
	got, notes := Normal(ms, p)
	if !reflect.DeepEqual(ms, before) {
		t.Errorf("%s: the client's messages were changed", name)
	}
	if again, notes := Normal(got, p); len(notes) > 0 || !reflect.DeepEqual(again, got) {
		t.Errorf("%s: a second time it becomes\n%s", name, written(again, notes))
	}
	return written(got, notes)
}

// FuzzNormal wants of any conversation that nothing is lost, that its calls have ids that differ,
// that each result stands behind a call that it answers, and that a second time nothing changes.
func FuzzNormal(f *testing.F) {
	f.Add("uatu", false)
	f.Add("satatut", true)
	f.Add("ttaauus", true)
	f.Add("uaAtTtTu", false)
	f.Fuzz(func(t *testing.T, plan string, strict bool) {
		if len(plan) > 60 {
			return
		}
		ms := planned(plan)
		got, _ := Normal(ms, Policy{Strict: strict, Format: adapters.Named("hermes")})
		checkWhole(t, ms, got)
		checkPaired(t, got)
		if again, notes := Normal(got, Policy{Strict: strict, Format: adapters.Named("hermes")}); len(notes) > 0 || !reflect.DeepEqual(again, got) {
			t.Errorf("%s becomes\n%sa second time\n%s", written(ms, nil), written(got, nil), written(again, notes))
		}
	})
}

// planned is a conversation made of letters: s u a (text) A (one call) B (two) t (a result with an
// id) T (without).
func planned(plan string) (ms []chat.Message) {
	for i, c := range plan {
		text := fmt.Sprintf("text %d.", i)
		id := fmt.Sprintf("id%d", i/3%4)
		switch c {
		case 's':
			ms = append(ms, chat.Message{Role: chat.System, Content: text})
		case 'u':
			ms = append(ms, chat.Message{Role: chat.User, Content: text})
		case 'a':
			ms = append(ms, chat.Message{Role: chat.Assistant, Content: text, Reasoning: "why " + text})
		case 'A':
			ms = append(ms, chat.Message{Role: chat.Assistant, Content: text, Calls: []chat.Call{{ID: id, Name: "f", Args: json.RawMessage(fmt.Sprint(i))}}})
		case 'B':
			ms = append(ms, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: id, Name: "f", Args: json.RawMessage(`{}`)}, {ID: "", Name: "g", Args: json.RawMessage(`{}`)}}})
		case 't':
			ms = append(ms, chat.Message{Role: chat.ToolRole, CallID: id, Content: text})
		case 'T':
			ms = append(ms, chat.Message{Role: chat.ToolRole, Name: "g", Content: text})
		}
	}
	return ms
}

// checkWhole wants every text, thought and call to be there still.
func checkWhole(t *testing.T, before, after []chat.Message) {
	t.Helper()
	var texts strings.Builder
	calls := 0
	for _, m := range after {
		texts.WriteString(m.Content + "\n" + m.Reasoning + "\n")
		calls += len(m.Calls)
	}
	for _, m := range before {
		calls -= len(m.Calls)
		if !strings.Contains(texts.String(), m.Content) || !strings.Contains(texts.String(), m.Reasoning) {
			t.Errorf("%q, %q is lost in\n%s", m.Content, m.Reasoning, written(after, nil))
		}
	}
	if calls != 0 {
		t.Errorf("%d calls more than there were:\n%s", calls, written(after, nil))
	}
}

// checkPaired wants ids that differ, and every result behind the message of its call.
func checkPaired(t *testing.T, ms []chat.Message) {
	t.Helper()
	ids := map[string]bool{}
	var open map[string]bool
	for _, m := range ms {
		if m.Role == chat.ToolRole {
			if !open[m.CallID] {
				t.Errorf("the result %q is not behind its call:\n%s", m.CallID, written(ms, nil))
			}
			delete(open, m.CallID)
			continue
		}
		open = map[string]bool{}
		for _, c := range m.Calls {
			if c.ID == "" || ids[c.ID] {
				t.Errorf("the id %q is there twice, or empty:\n%s", c.ID, written(ms, nil))
			}
			ids[c.ID], open[c.ID] = true, true
		}
	}
}
