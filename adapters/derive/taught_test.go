package derive

import (
	"errors"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// TestTheExampleInThePromptIsTheDeclaration asks templates that print no calls and say in words how
// they are written.
func TestTheExampleInThePromptIsTheDeclaration(t *testing.T) {
	for _, tt := range []struct{ system, reply string }{
		{"To use a tool answer <call>{\"name\": \"<tool>\", \"arguments\": {<arguments>}}</call>.", `<call>{"name": "get_time", "arguments": {}}</call>`},
		{"Format:\n[ACT]\n{\"tool\": \"TOOL_NAME\", \"args\": {\"key\": \"value\"}}\n[/ACT]", "[ACT]\n{\"tool\": \"get_time\", \"args\": {}}\n[/ACT]"},
		{"write <|use|>[{'function': 'name of it', 'parameters': {}}, ...]<|end_use|>", `<|use|>[{"function": "get_time", "parameters": {}}]<|end_use|>`},
		{"You may use tools. Say {\"name\": \"x\", \"arguments\": {}} to call one.", ""},
		{"Answer as JSON: <answer>{\"title\": \"x\", \"body\": \"y\"}</answer>", ""},
	} {
		says := func(ms []chat.Message, _ []chat.Tool) (string, error) {
			out := tt.system
			for _, m := range ms {
				out += "\n" + string(m.Role) + ": " + m.Content
			}
			return out + "\nassistant: ", nil
		}
		found, err := From("lab/Mine:7b", adapters.Builtin(), Template{Render: says})
		if tt.reply == "" {
			if !errors.Is(err, ErrNoCalls) {
				t.Errorf("%q: %+v, %v", tt.system, found, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.system, err)
			continue
		}
		if err := Reads(found.Format, tt.reply, "", []chat.Call{{Name: "get_time", Args: []byte("{}")}}, probeTools); err != nil || !strings.Contains(found.Lines, "format  mine\n") {
			t.Errorf("%q: %v\n%s", tt.system, err, found.Lines)
		}
	}
}

// TestWhatIsLeftOfAnUnreadTemplate asks a template that loses most of a call's values: its calls
// are not read, and its thoughts are.
func TestWhatIsLeftOfAnUnreadTemplate(t *testing.T) {
	says := func(ms []chat.Message, _ []chat.Tool) (string, error) {
		out := ""
		for _, m := range ms {
			out += "\n<|" + string(m.Role) + "|>"
			if m.Reasoning != "" {
				out += "<mull>" + m.Reasoning + "</mull>"
			}
			out += m.Content
			for _, c := range m.Calls {
				content, path := "wombat", "quokka.txt"
				if strings.Contains(string(c.Args), "bilby") {
					content, path = "bilby", "numbat.txt"
				}
				out += "<call><arg=content>" + content + "</arg><arg=path>" + path + "</arg><name>" + c.Name + "</name></call>"
			}
		}
		return out + "\n<|assistant|>", nil
	}
	found, err := From("lab/mine", adapters.Builtin(), Template{Render: says})
	if err != nil || found.Rest == nil || !errors.Is(found.Wrong[0], ErrForm) {
		t.Fatalf("%+v, %v", found, err)
	}
	got, err := read(found.Rest, "<mull>Hm.</mull>Yes.", probeTools)
	if err != nil || got.Reasoning.String() != "Hm." || got.Text.String() != "Yes." {
		t.Errorf("thought %q, text %q, %v", got.Reasoning.String(), got.Text.String(), err)
	}
}
