package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// templateTools are tools of several parameters, some of which are no texts.
var templateTools = []chat.Tool{
	{Name: "send_mail", Schema: json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}},"required":["to"]}`)},
	{Name: "save_file", Schema: json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}`)},
	{Name: "tag_items", Schema: json.RawMessage(`{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"note":{"type":"string"}}}`)},
}

// placeholdersFor are texts that stand for a value of a parameter.
func placeholdersFor(key string) []string {
	upper := strings.ToUpper(key)
	return []string{"___", "_____", "...", "…", "<value>", "<string>", "<" + key + ">", "<your " + key + ">",
		"<" + strings.ReplaceAll(key, "_", " ") + ">", "{{" + key + "}}", "{{ user.name }}", "YOUR_" + upper + "_HERE", "YOUR_" + upper,
		"INSERT_" + upper + "_HERE", "your_" + key, "your-" + key + "-here", "[your " + key + "]", "{" + key + "}", "<도시 이름>", "<...>"}
}

// lookalikes are values that merely look odd, and mean what they say.
var lookalikes = []string{"<br>", "<div class=\"x\">", "</body>", "<script/>", "a ... b", "f(...args)", "...and more", "func f(a ...int) {}",
	"{{x}} and {{y}}", "Hello {{name}}!", "__init__", "__", "snake___case", "<tool_call>", "<stdin>", "<module>", "<kim@example.com>",
	"<https://example.com>", "YOUR answer", "You're here", "your order is here", "[]", "{}", "{a}", "[x]", "-", "?", "N/A", "..", ".", "./...", "../..", "$HOME",
	"${value}", "%s", "*", "<a> and <b>", "if a < b && c > d {}", "HERE", "X", "I_AM", "<h1>value</h1>"}

// TestACallOfPlaceholdersIsText draws calls of all families with placeholders for all values, which
// leave as text, and such with one other value in them, which leave as calls.
func TestACallOfPlaceholdersIsText(t *testing.T) {
	r := rand.New(rand.NewSource(41))
	for _, f := range All() {
		for n := range 30 {
			tool := templateTools[r.Intn(len(templateTools))]
			var shape struct {
				Properties map[string]struct{ Type string }
				Required   []string
			}
			must.OK(t, json.Unmarshal(tool.Schema, &shape))
			args := map[string]any{}
			for key, p := range shape.Properties {
				all := placeholdersFor(key)
				v := all[r.Intn(len(all))]
				if args[key] = v; p.Type == "array" {
					args[key] = []string{v}
				}
			}
			real := n%2 == 1
			if real {
				for key, p := range shape.Properties {
					v := lookalikes[r.Intn(len(lookalikes))]
					if args[key] = v; p.Type == "array" {
						args[key] = []string{"...", v}
					}
					break
				}
			}
			raw, err := json.Marshal(args)
			must.OK(t, err)
			reply := string(f.Append(nil, chat.Call{Name: tool.Name, Args: raw}))
			hold := []int{HoldShort, 1, HoldCall}[r.Intn(3)]
			calls, text := ran(t, f, reply, Options{Tools: templateTools, Hold: hold})
			was, _ := ran(t, f, string(f.Append(nil, chat.Call{Name: tool.Name, Args: plainOf(args)})), Options{Tools: templateTools, Hold: hold})
			switch {
			case was != 1: // the family cannot write it
			// of a call in doubt the values say nothing of the rule
			case real && calls != 1 && doubtOf(t, f, []string{reply}, Options{Tools: templateTools}) == "", !real && calls != 0:
				t.Errorf("%s, real %v: %d calls of %q (%s)", f.Name, real, calls, reply, text)
			}
		}
	}
}

// plainOf returns arguments with words for all values.
func plainOf(args map[string]any) json.RawMessage {
	plain := map[string]any{}
	for key, v := range args {
		if plain[key] = "word"; fmt.Sprintf("%T", v) == "[]string" {
			plain[key] = []string{"word"}
		}
	}
	raw, _ := json.Marshal(plain) // texts cannot fail
	return raw
}

// ran returns how many calls a reply has, and its text.
func ran(t *testing.T, f *Format, reply string, o Options) (calls int, text string) {
	t.Helper()
	got := replyOf(t, f, strings.SplitAfter(reply, ""), o)
	return len(got.Complete()), got.Text.String()
}

// TestPlaceholdersThatTheUserWrote has calls whose values are in the user's message, or that the
// schema lists: they are meant.
func TestPlaceholdersThatTheUserWrote(t *testing.T) {
	listed := []chat.Tool{{Name: "mark", Schema: json.RawMessage(`{"type":"object","properties":{"sign":{"enum":["...","___"]}}}`)}}
	for _, c := range []struct {
		tools []chat.Tool
		said  string
		args  string
		want  int
	}{
		{templateTools, "Send {{greeting}} to YOUR_NAME_HERE", `{"to": "YOUR_NAME_HERE", "body": "{{greeting}}"}`, 1},
		{templateTools, `Write "..." to bob, I mean to "___"`, `{"to": "___", "body": "..."}`, 1},
		{templateTools, "Write a mail... you know to whom", `{"to": "...", "body": "..."}`, 0},
		{templateTools, "Show the JSON with YOUR_NAME_HERE", `{"to": "YOUR_NAME_HERE"}`, 0},
		{templateTools, "", `{"to": "..."}`, 0},
		{listed, "", `{"sign": "..."}`, 1},
		{listed, "", `{}`, 1},
	} {
		o := Options{Tools: c.tools, Messages: []chat.Message{{Role: chat.User, Content: c.said}}}
		reply := "<tool_call>\n{\"name\": \"" + c.tools[0].Name + "\", \"arguments\": " + c.args + "}\n</tool_call>"
		if got, text := ran(t, Named("hermes"), reply, o); got != c.want || got == 0 && text != reply {
			t.Errorf("%q, %s: %d calls, want %d; text %q", c.said, c.args, got, c.want, text)
		}
	}
}
