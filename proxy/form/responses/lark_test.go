package responses

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/proxy/form"
)

// patchGrammar is that of the tool apply_patch, as Codex offers it.
const patchGrammar = `start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
`

func TestGrammarsBecomePatterns(t *testing.T) {
	for _, tt := range []struct {
		name, grammar string
		yes, no       []string
	}{
		{"a patch", patchGrammar,
			[]string{"*** Begin Patch\n*** Update File: a.go\n@@ func f()\n-a\n+b\n c\n*** End Patch", "*** Begin Patch\n*** Add File: x\n+1\n+\n*** Delete File: y\n*** End Patch\n"},
			[]string{"", "*** Begin Patch\n*** End Patch", "*** Begin Patch\n*** Update File: a.go\nno sign\n*** End Patch", "```\n*** Begin Patch\n*** Delete File: y\n*** End Patch\n```"}},
		{"alternatives over lines, a count, a range, case", "?start: \"a\"\n  | B ~ 2 // twice\n  | c\n!c: \"X\"i ~ 1..2 [\"!\"]\nB.2: /b/i\n",
			[]string{"a", "bB", "x", "Xx!"}, []string{"b", "bbb", "xxx", "A", "!"}},
		{"what is ignored", "start: WORD (\",\" WORD)*\n%import common.WORD\n%import common.WS_INLINE -> BLANK\n%ignore BLANK\n%ignore /#[^\\n]*/\n",
			[]string{"a,b", " a , b ", "a# c", "a"}, []string{"a b", "a,,b", ","}},
		{"numbers", "start: SIGNED_NUMBER \"/\" INT\n%import common.SIGNED_NUMBER\n%import common.INT\n", []string{"-1.5e3/2", "3/4"}, []string{"a/1", "1/-2"}},
		{"escapes", `start: "\"" /[^"\\\/]*/ "\"" "\n"`, []string{"\"a\"\n"}, []string{"\"a\"", "\"/\"\n"}},
	} {
		pattern := larkPattern(tt.grammar)
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		if pattern == "" || err != nil {
			t.Errorf("%s: %q, %v", tt.name, pattern, err)
			continue
		}
		for _, text := range tt.yes {
			if !re.MatchString(text) {
				t.Errorf("%s: %q does not match %s", tt.name, text, pattern)
			}
		}
		for _, text := range tt.no {
			if re.MatchString(text) {
				t.Errorf("%s: %q matches %s", tt.name, text, pattern)
			}
		}
	}
}

// What cannot be said as a pattern leaves the text free: the client checks it.
func TestGrammarsThatAreNoPatternsAreLeftToTheClient(t *testing.T) {
	for name, grammar := range map[string]string{
		"holds itself":          `start: "(" start ")" | "x"`,
		"a rule is missing":     `start: nothing`,
		"no start":              `begin: "x"`,
		"an unknown directive":  "start: \"x\"\n%declare Y",
		"an unknown terminal":   "start: PYTHON\n%import python.PYTHON",
		"a bracket stays open":  `start: ("x"`,
		"a bracket too many":    `start: "x")`,
		"no token":              `start: "x" $`,
		"free spacing":          `start: /a b/x`,
		"too long when written": "start: a a a a a a a a a a\n" + `a: b b b b b b b b b b` + "\n" + `b: c c c c c c c c c c` + "\n" + `c: "longer than that"`,
		"too long":              `start: "` + strings.Repeat("x", longestGrammar) + `"`,
		"text in front":         `"x"`,
	} {
		if pattern := larkPattern(grammar); pattern != "" {
			t.Errorf("%s: %s", name, pattern)
		}
	}
	for syntax, definition := range map[string]string{"regex": `(?=a)a`, "lark": `start: /(?!a)b/`} {
		if pattern, err := patternOf(syntax, definition); pattern != "" || err != nil {
			t.Errorf("%s: %s, %v", definition, pattern, err)
		}
	}
}

// A llama-server is held to the grammar while the model writes, line breaks and all: nothing of the pattern is left open.
func TestAServerIsHeldToTheGrammar(t *testing.T) {
	r := &request{Ask: new(form.Ask)}
	tools, err := json.Marshal([]any{map[string]any{"type": "custom", "name": "apply_patch", "format": map[string]string{"type": "grammar", "syntax": "lark", "definition": patchGrammar}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.readTools(fastjson.MustParseBytes(tools)); err != nil {
		t.Fatal(err)
	}
	g := adapters.For("hermes").Grammar(r.Tools, adapters.GrammarOptions{})
	if len(g.Dropped) > 0 || !strings.Contains(g.Text, `*** Begin Patch\\n`) {
		t.Errorf("dropped %q of\n%s", g.Dropped, g.Text)
	}
}
