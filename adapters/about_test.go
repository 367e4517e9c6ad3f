package adapters

import (
	"reflect"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestAFormatTellsItsMarks(t *testing.T) {
	for name, want := range map[string][2][]string{
		"hermes":  {{"<tool_call>"}, {"<think>…</think>"}},
		"mistral": {{"[TOOL_CALLS]"}, {"[THINK]…[/THINK]", "<think>…</think>"}},
		"kimi-k2": {{"<|tool_calls_section_begin|>", "<|tool_call_begin|>"}, {"<think>…</think>"}},
		"harmony": {{"<|start|>"}, nil},
	} {
		f := Named(name)
		if got := [2][]string{f.Marks(), f.Thinks()}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAFormatKeepsItsFile(t *testing.T) {
	src := "# mine\nformat  mine\ncall    <mine>{call}</mine>\n-- a: raw --\nx\n-- a: events --\ntext \"x\"\nfinish stop\n"
	f, err := Builtin().Parse([]byte(src))
	must.OK(t, err)
	if f.File() != src || f.Declaration() != "# mine\nformat  mine\ncall    <mine>{call}</mine>" {
		t.Errorf("file %q, declaration %q", f.File(), f.Declaration())
	}
	for _, f := range All() {
		if !strings.Contains(f.Declaration(), "format  "+f.Name+"\n") {
			t.Errorf("%s: declaration %q", f.Name, f.Declaration())
		}
	}
}
