package adapters

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// TestEveryReasonsExampleGivesIt runs the examples that docs/repairs.md shows.
func TestEveryReasonsExampleGivesIt(t *testing.T) {
	typ := schema.Compile(json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"file_name":{"type":"string"}}}`))
	for _, r := range Reasons() {
		var got string
		var repairs []string
		switch r.Code {
		case "too-deep":
			got, repairs = program(t, "["+strings.Repeat("[", lenient.MaxDepth))
		case "raw-arguments":
			got, repairs = program(t, r.Wrote)
		case "invented-result", "repeated-call":
			got, repairs = behindCall(t, r.Code, r.Wrote)
		case "marks":
			got, repairs = withMarks(t, r.Wrote)
		case "two-readings", "placeholders":
			got, repairs = asText(t, r.Wrote)
		case "object-in-string": // of no known type: else it is text that became one
			got, repairs, _ = Repair(r.Wrote, nil)
		default:
			got, repairs, _ = Repair(r.Wrote, typ)
		}
		if got != r.Reads || !slices.Contains(repairs, r.Code) {
			t.Errorf("%s: %q became %s and gave %q, want %s", r.Code, r.Wrote, got, repairs, r.Reads)
		}
	}
}

// program is what becomes of the body of a call to a tool with one parameter, and what was
// repaired.
func program(t *testing.T, body string) (args string, repairs []string) {
	o := Options{Tools: []chat.Tool{{Name: "run", Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string"}}}`)}}}
	got := replyOf(t, Named("harmony"), []string{"<|channel|>commentary to=functions.run <|message|>" + body + "<|call|>"}, o)
	for _, c := range got.Calls {
		args = string(c.Args)
	}
	return args, got.End.Meta.Repairs
}

// asText is what is shown of a call with arguments that can be read in two ways, and what was
// noted.
func asText(t *testing.T, args string) (text string, repairs []string) {
	schema := json.RawMessage(`{"properties":{"n":{"type":"object","properties":{"a":{"type":"array"},"m":{"type":"string"}}},"m":{"type":"string"}}}`)
	before, after := `<tool_call>{"name": "f", "arguments": `, "}</tool_call>"
	got := replyOf(t, Named("hermes"), []string{before + args + after}, Options{Tools: []chat.Tool{{Name: "f", Schema: schema}}})
	return strings.TrimSuffix(strings.TrimPrefix(got.Text.String(), before), after), got.End.Meta.Repairs
}

// behindCall is what is shown of a reply that makes one call twice, with a text between where that
// is the example.
func behindCall(t *testing.T, code, between string) (text string, repairs []string) {
	call := `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`
	if code == "repeated-call" {
		between = ""
	}
	got := replyOf(t, Named("hermes"), []string{call + between + call}, Options{Tools: []chat.Tool{{Name: "f"}}})
	if len(got.Complete()) != 1 {
		t.Errorf("%s: %d calls leave", code, len(got.Complete()))
	}
	return got.Text.String(), got.End.Meta.Repairs
}

// withMarks is the call that a reply makes, printed, and what was repaired.
func withMarks(t *testing.T, reply string) (text string, repairs []string) {
	hermes := Named("hermes")
	got := replyOf(t, hermes, []string{reply}, Options{Tools: []chat.Tool{{Name: "f"}}})
	for _, c := range got.Complete() {
		text += string(hermes.Append(nil, c))
	}
	return strings.NewReplacer("\n", "").Replace(text), got.End.Meta.Repairs
}
