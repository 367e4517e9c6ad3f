package engine

import (
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
)

// agentRequest is a request of so many tools of 3 KB each, as coding agents send them.
func agentRequest(tools int) *chat.Request {
	r := user("hi")
	for i := range tools {
		r.Tools = append(r.Tools, chat.Tool{
			Name:        fmt.Sprint("agent_tool", i),
			Description: fmt.Sprintf("Does thing %d. ", i) + strings.Repeat("And a rule about it. ", 100),
			Schema:      []byte(`{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("The path. ", 90) + `"}},"required":["path"]}`),
		})
	}
	return r
}

// With the setting, tools are cut to it in the same way in every turn.
func TestToolsAreCutToTheirBudget(t *testing.T) {
	n := &narrow{trained: 131072, tools: true}
	e := n.start(t, Config{Lengths: Lengths{ToolBudget: 2000, MaxCtx: 131072}})
	r := agentRequest(12)
	var head string
	for turn := range 3 {
		notes, o := noting()
		if _, _, _, err := collectWith(t, e, r, o); err != nil {
			t.Fatal(err)
		}
		if got := notes["Tools"]; !strings.Contains(got, "more than the budget of 2000: descriptions are cut to 160 bytes, those of parameters to 120") {
			t.Errorf("told %q", got)
		}
		prompt := n.prompts[len(n.prompts)-1]
		at := strings.Index(prompt, "<user>")
		if at > 7000 || strings.Count(prompt, "{agent_tool") != 12 {
			t.Errorf("%d bytes of tools: %.200s", at, prompt)
		}
		if turn > 0 && prompt[:at] != head {
			t.Error("the next turn begins with other tools")
		}
		head = prompt[:at]
		r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Content: "well"}, chat.Message{Role: chat.User, Content: strings.Repeat("more ", 500)})
	}
}

// Without the setting, tools are cut where the request would be refused otherwise, and what the
// user said stays.
func TestToolsGiveWayToASmallContext(t *testing.T) {
	n := &narrow{trained: 16384, tools: true}
	e := n.start(t, Config{})
	r := agentRequest(12)
	r.Messages[0].Content = strings.Repeat("the task ", 600)
	notes, o := noting()
	if text, _, _, err := collectWith(t, e, r, o); err != nil || text != "well" {
		t.Fatalf("%q, %v", text, err)
	}
	if got := notes["Tools"]; !strings.Contains(got, "more than the budget of 8192: descriptions are cut to") {
		t.Errorf("told %q", notes)
	}
	if prompt := n.prompts[0]; strings.Count(prompt, "{agent_tool") != 12 || !strings.HasSuffix(prompt, r.Messages[0].Content) || n.refused != 1 {
		t.Errorf("%d refusals, prompt %.300s", n.refused, prompt)
	}
}

// A call is held to the whole schema, whatever the model was shown of it, and tools that were
// called stay.
func TestWhatWasCalledIsNotLeftOut(t *testing.T) {
	n := &narrow{trained: 131072, tools: true}
	e := n.start(t, Config{Lengths: Lengths{ToolBudget: 100}})
	r := agentRequest(6)
	r.Messages = append(r.Messages, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "a", Name: "agent_tool5", Args: []byte(`{"path":"x"}`)}}}, chat.Message{Role: chat.ToolRole, CallID: "a", Content: "r"})
	notes, o := noting()
	if _, _, _, err := collectWith(t, e, r, o); err != nil {
		t.Fatal(err)
	}
	if prompt := n.prompts[0]; !strings.Contains(prompt, "{agent_tool5}") || strings.Contains(prompt, "{agent_tool3}") || !strings.Contains(notes["Tools"], "left out: agent_tool") {
		t.Errorf("told %q, prompt %.300s", notes, prompt)
	}
}
