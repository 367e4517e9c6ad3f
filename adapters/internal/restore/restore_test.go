package restore

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// marks are those of a family with tags, and those of DeepSeek's.
var marks = Marks([]string{"<tool_call>\n", "\n</tool_call>", "<function=", "<parameter=", "</parameter>", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"})

func TestMarksAreSplit(t *testing.T) {
	for _, m := range []string{"<tool_call>", "</tool_call>", "<function=", "<parameter=", "</parameter>", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"} {
		if !slices.Contains(marks, m) {
			t.Errorf("%q is missing in %q", m, marks)
		}
	}
	if slices.Contains(Marks([]string{"function <a> to", "Action:"}), "function") {
		t.Error("a word became a mark")
	}
}

// TestDamagedMarksAreMended has one slip of each kind, and the degree in which the text that was
// meant stands.
func TestDamagedMarksAreMended(t *testing.T) {
	const meant = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"
	for name, row := range map[string]struct {
		text   string
		degree int
	}{
		"a character is missing":   {strings.Replace(meant, "<tool_call>", "<tol_call>", 1), 0},
		"the first one is missing": {strings.Replace(meant, "<tool_call>", "tool_call>", 1), 0},
		"the last one is missing":  {strings.Replace(meant, "<tool_call>", "<tool_call", 1), 0},
		"a blank too many":         {strings.Replace(meant, "<tool_call>", "<tool_ call>", 1), 0},
		"another character":        {strings.Replace(meant, "<tool_call>", "<tool-call>", 1), 0},
		"two have changed places":  {strings.Replace(meant, "<tool_call>", "<toolc_all>", 1), 0},
		"the other case":           {strings.Replace(meant, "<tool_call>", "<Tool_Call>", 1), 0},
		"other angles":             {strings.Replace(meant, "<tool_call>", "＜tool_call＞", 1), 0},
		"escaped angles":           {strings.Replace(meant, "<tool_call>", "&lt;tool_call&gt;", 1), 0},
		"it stands twice":          {strings.Replace(meant, "<tool_call>", "<tool_call> <tool_call>", 1), 0},
		"two are damaged":          {strings.NewReplacer("<tool_call>", "<tol_call>", "</tool_call>", "</tool_cal>").Replace(meant), 1},
		"a semicolon for a comma":  {strings.Replace(meant, `", "`, `"; "`, 1), 0},
		"a comment in the envelope": {strings.Replace(meant, `", "`, `", // why
"`, 1), 0},
		"an arrow for a colon":          {strings.Replace(meant, `s": {`, `s" => {`, 1), 0},
		"words behind a mark":           {strings.Replace(meant, "<tool_call>", "<tool_call>\nI call it.", 1), Visible},
		"two marks have changed places": {strings.NewReplacer("<tool_call>", "</tool_call>", "</tool_call>", "<tool_call>").Replace(meant), Visible},
	} {
		t.Run(name, func(t *testing.T) {
			texts := Texts(row.text, marks, []string{"f"})
			tight := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if !slices.ContainsFunc(texts[row.degree], func(s string) bool { return tight(s) == tight(meant) }) {
				t.Errorf("%q is not among %q", meant, texts)
			}
		})
	}
}

// TestTheBeginningOfAMarkIsAwaited: as long as a damaged mark may come, May says so, and prose is
// known soon.
func TestTheBeginningOfAMarkIsAwaited(t *testing.T) {
	for _, text := range []string{"<tool_call>", "tool_call>", "<tol_call>", "<toool_call>", "<too_lcall>", "<TOOL_CALL>", "&lt;tool_call&gt;", "＜parameter=a＞", "[parameter=a]"} {
		for n := range text {
			if !May(text[:n], marks) {
				t.Errorf("%q may not begin a mark", text[:n])
			}
		}
	}
	for _, text := range []string{"Hello", "The ", "I wi", "fun fact", "# Ti", "```json"} {
		if May(text, marks) {
			t.Errorf("%q may begin a mark", text)
		}
	}
}

func TestTextsWithoutDamageHaveNoVisibleOnes(t *testing.T) {
	for _, text := range []string{
		"The tool call is described below.", "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
		`{"name": "f", "description": "It does.", "parameters": {}}`, `{"name": "f_two", "arguments" = {}}`, `{"name": "f", "arguments": "[{a"}`,
	} {
		for degree, texts := range Texts(text, marks, []string{"f"}) {
			if degree < Visible && len(texts) > 0 {
				t.Errorf("%q gives %q", text, texts)
			}
		}
	}
}

// FuzzTexts: texts are bounded in number and size, differ from the one that was given, and stay
// UTF-8.
func FuzzTexts(f *testing.F) {
	f.Add("tool_call>\n<function=f>＜parameter=a＞x</parameter>")
	f.Add(strings.Repeat("<tool_cal>", 50))
	f.Fuzz(func(t *testing.T, text string) {
		Begins(text, marks)
		for _, texts := range Texts(text, marks, []string{"f", "get"}) {
			if len(texts) > maxTexts {
				t.Fatalf("%d texts", len(texts))
			}
			for _, s := range texts {
				if s == text || utf8.ValidString(text) && !utf8.ValidString(s) {
					t.Fatalf("%q became %q", text, s)
				}
			}
		}
	})
}
