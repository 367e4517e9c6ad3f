package adapters

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// endedCode are texts in which every block and span of code has ended, or none had begun.
var endedCode = []string{
	"```\nx\n```", "~~~\nx\n~~~", "````md\n```\nx\n```\n````", "```python title=\"a file with a long name\" linenos\nx\n```", "```markdown\n# T\n```py\nx\n```\n```",
	"Code:```py\nx\n```\n", "- ```py\n  x\n  ```\n", "1. ```\n   x\n   ```\n", "   ```\nx\n   ```", "```py\na = '''```x'''\n```", "```py\nprint(1)```", "~~~\n```\n~~~\n", "```\na\n```\n```\nb\n```",
	"```inline```\n", "Text ```x``` more.\n", "Run ```ls```", "```py\nx```\n", "```py\nx = 1\ny()```\n\n", "Use the ` sign.", "The key ` is broken.", "5` long.", "Use `a` and ` b.", "a `` b.",
}

// openCode are texts in which a block or span is open, and what would end it.
var openCode = [][2]string{
	{"It reads:\n```\n", "\n```\nThat is it."}, {"~~~ xml\n", "\n~~~\nThat is it."}, {"````\n```\n", "\n```\n````\nThat is it."}, {"- ```\n  ", "\n  ```\n- more"}, {"Write `", "` so."}, {"Write ``", "`` so."},
	{"Code:```py\n", "\n```\nThat is it."}, {"```md\n```py\nx\n```\n", "\n```\nThat is it."}, {"> ", "\n\nThat is it."}, {"```py\nx = f('```\n", "\n```\nThat is it."}, {"```md\nA ```b```\n", "\n```\nThat is it."}, {"```py\nx = \"```\"\n", "\n```\nThat is it."},
}

// marksCalls says whether the calls of a family stand between marks.
func marksCalls(f *Format) bool {
	return len(f.Calls) > 0 && !f.Calls[0].IsFence() && !f.Calls[0].Markless() && !declaration.IsProse(f.Calls[0].Parts[0].Lit.Key())
}

func TestMarksBehindCodeAreRead(t *testing.T) {
	tools := testTools(t)
	for _, f := range All() {
		if !marksCalls(f) || f.Header != nil {
			continue
		}
		call := strings.TrimLeft(string(f.Append(nil, chat.Call{Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)})), "\n")
		for _, text := range endedCode {
			if got := decodeCalls(t, f, []string{text + call}, Options{Tools: tools}); len(got) != 1 {
				t.Errorf("%s: lost behind %q: %q", f.Name, text, call)
			}
			checkDecode(t, f, text+call, chat.Stop, Options{Tools: tools})
			for _, end := range f.Drop {
				end = strings.ReplaceAll(end, declaration.SuffixPlaceholder, ":opensource")
				checkEnd(t, f, text, end, Options{Tools: tools})
				checkEnd(t, f, text, end, Options{})
			}
		}
		for _, end := range f.Drop { // tags too, where the block or the quoted line is the last thing
			for _, text := range []string{"```py\nx", "> A quotation.", "> A `b` c."} {
				if end = strings.ReplaceAll(end, declaration.SuffixPlaceholder, ":opensource"); !declaration.IsProse(end) {
					checkNoMark(t, f, text, end, Options{Tools: tools})
				}
			}
		}
		for _, code := range openCode {
			if strings.HasPrefix(code[0], ">") || strings.HasPrefix(code[0], "Write") {
				call = strings.ReplaceAll(call, "\n", " ")
			}
			if got := decodeCalls(t, f, []string{code[0] + call + code[1]}, Options{Tools: tools}); len(got) != 0 {
				t.Errorf("%s: read inside code %q: %q", f.Name, code, call)
			}
		}
	}
}

// checkEnd reads a text and a mark that ends the turn.
func checkEnd(t *testing.T, f *Format, text, end string, o Options) {
	t.Helper()
	if m := (declaration.Mark{Key: end}); len(end) < 2 || !m.Special() {
		return
	}
	checkNoMark(t, f, text, end, o)
}

// checkNoMark reads a text and a mark behind it, which must not be seen.
func checkNoMark(t *testing.T, f *Format, text, end string, o Options) {
	t.Helper()
	got, err := transcript(f, golden.Bytes(text+end), chat.Stop, o)
	if err != nil || strings.Contains(got, end) {
		t.Errorf("%s: %s leaks behind %q: %s, %v", f.Name, end, text, got, err)
	}
}
