package adapters

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolnorm/chat/schema"
)

// TestRepairFindsTheValue reads documents in which the JSON has to be found first.
func TestRepairFindsTheValue(t *testing.T) {
	for _, tt := range []struct{ text, want, repairs string }{
		{"Use [this link](x) and send {'k':1}.", `{"k":1}`, "quotes text-around"},
		{"An empty {} first, then ```json\n{\"k\": [1]}\n```", `{"k": [1]}`, "text-around"},
		{"{'a':[1,2],\"b\":3} as you see", `{"a":[1,2],"b":3}`, "quotes text-around"},
		{"Sure: {\"a\":[1,2", `{"a":[1,2]}`, "closers text-around"},
		{"{\"a\":1}\n{\"a\":2}", `{"a":1}`, "text-around"},
		{`"arguments": {"a":1}}`, `{"arguments": {"a":1}}`, "opening-brace"},
		{`"arguments": "a":1}`, `{"a":1}`, "opening-brace"},
		{`"{\"a\":1}"`, `{"a":1}`, "object-in-string"},
		{`"[1, 2]"`, `[1, 2]`, "object-in-string"},
		{`"[no list"`, `"[no list"`, ""},
		{`(1, 2)`, `[1, 2]`, "tuples"},
		{`(see below) {"k":1}`, `{"k":1}`, "text-around"},
		{"True", "true", "literals"},
		{"007", "7", "literals"},
		{"'word'", `"word"`, "quotes"},
		{"\ufeff[1]", "[1]", "text-around"},
		{"<seed:think>hm</seed:think>{\"a\":1}", `{"a":1}`, "text-around"},
		{"[THINK]{\"b\":1}[/THINK][1]", "[1]", "text-around"},
		{"{\"a\":\"cut he", `{"a":"cut he"}`, "truncated closers"},
	} {
		got, repairs, err := Repair(tt.text, nil)
		if got != tt.want || strings.Join(repairs, " ") != tt.repairs || err != nil {
			t.Errorf("Repair(%q) = %s, %q, %v, want %s, %q", tt.text, got, repairs, err, tt.want, tt.repairs)
		}
	}
}

func TestRepairTypesByTheSchema(t *testing.T) {
	typ := schema.Compile(json.RawMessage(`{"type":"object","properties":{"zip":{"type":"string"},"n":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"at":{"type":"object"}}}`))
	for text, want := range map[string]string{
		`{"zip": 00123, "n": "5"}`:                  `{"zip": "00123", "n": 5}`,
		`{"tags": "a", "at": "{\"x\": 1}"}`:         `{"tags": ["a"], "at": {"x": 1}}`,
		`{"zip": "007", "n": 12345678901234567890}`: `{"zip": "007", "n": 12345678901234567890}`,
		`"{\"n\": \"5\"}"`:                          `{"n": 5}`,
		`{'zip': 'E', n: 5}`:                        `{"zip": "E", "n": 5}`,
		`{"zip": "say "E", m: 5", "n": 5}`:          `{"zip": "say \"E\", m: 5", "n": 5}`,
	} {
		if got, _, err := Repair(text, typ); got != want || err != nil {
			t.Errorf("Repair(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	text := schema.Compile(json.RawMessage(`{"type":"string"}`))
	if got, _, err := Repair(`"{\"n\": 5}"`, text); got != `"{\"n\": 5}"` || err != nil {
		t.Errorf("where a string is wanted: %s, %v", got, err)
	}
}

func TestRepairSaysWhatItCannotRead(t *testing.T) {
	for text, want := range map[string]string{
		"": "no JSON", " \n": "no JSON", "I cannot do that.": "no JSON", "```json\n```": "no JSON", "<think>{}</think>": "no JSON",
		strings.Repeat("[", 600): "deeper than 512", `{"a":` + strings.Repeat(`{"a":`, 600): "deeper than 512",
	} {
		if got, _, err := Repair(text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Repair(%.20q) = %s, %v, want an error with %q", text, got, err, want)
		}
	}
}

// FuzzRepair turns any text into strict JSON or an error, and leaves strict JSON alone (but for an
// object in a string, and for what looks like a Windows path: R24).
func FuzzRepair(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{'a':'it's'}`, `[1,2,]`, `{"p":"C:\new"}`, `{"a":"x" + "y"}`, "{\"a\":\"\xff\"}", `"a":1}`, "so: {'k':[1,{}]} and [2]", `"{\"a\":1}"`, "<think>x</think>[1]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, repairs, err := Repair(text, nil)
		switch {
		case err != nil && json.Valid([]byte(text)) && !strings.Contains(err.Error(), "deeper"):
			t.Fatalf("Repair(%q): %v", text, err)
		case err != nil:
			return
		case !json.Valid([]byte(out)):
			t.Fatalf("Repair(%q) = %q", text, out)
		}
		if json.Valid([]byte(text)) && utf8.ValidString(text) && out != text && !slices.Contains(repairs, "object-in-string") && !strings.Contains(text, `:\`) && !strings.Contains(text, `"\\`) {
			t.Fatalf("Repair(%q) = %q changes valid JSON", text, out)
		}
	})
}
