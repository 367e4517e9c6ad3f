package declaration

import (
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// TestLayout reads keys and flag lines as families write them.
func TestLayout(t *testing.T) {
	const head = "format mine\ncall <mine>{calls}</mine>\n"
	f, err := Parse([]byte(head+"keys list=lines id=tool_call_id name=tool_name objects=python glue=always\nflag cdata think-calls\n"), unknown)
	must.OK(t, err)
	want := Layout{Name: "tool_name", Args: "arguments", Counter: "tool_call_id", List: ListLines, Words: PythonObjects, GlueAlways: true}
	if f.Layout != want {
		t.Errorf("%+v, want %+v", f.Layout, want)
	}
	if want := (Flags{CDATA: true, ThinkCalls: true}); f.Flags != want {
		t.Errorf("%+v, want %+v", f.Flags, want)
	}
	if got, want := f.Calls[0].Several(1), (Several{Open: "[\n    ", Comma: ",\n    ", Close: "\n]"}); got != want {
		t.Errorf("several calls stand in %+v, want %+v", got, want)
	}
}

// TestWhatIsNotUnderstoodIsAnError has words that would otherwise silently print nothing.
func TestWhatIsNotUnderstoodIsAnError(t *testing.T) {
	const head = "format mine\ncall <mine>{calls}</mine>\n"
	for line, want := range map[string]string{
		"keys list":         "name=word",
		"keys list=line":    "list= takes always or lines or bare or indent",
		"keys list=":        "list= takes",
		"keys scalar=json":  "no scalar=",
		"keys scalars=true": "scalars= takes json or python",
		"flag think":        `no flag "think"`,
	} {
		_, err := Parse([]byte(head+line+"\n"), unknown)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 3: ") {
			t.Errorf("%s: %v, want %q in line 3", line, err, want)
		}
	}
}
