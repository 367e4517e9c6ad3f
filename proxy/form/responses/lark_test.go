package responses

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"toolnorm/adapters"
	"toolnorm/internal/test/must"
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
		pattern, _ := larkPattern(tt.grammar)
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

// What cannot be said as a pattern leaves the text free: the client checks it, and is told so.
func TestGrammarsThatAreNoPatternsAreLeftToTheClient(t *testing.T) {
	for name, grammar := range map[string]string{
		"holds itself":          `start: "(" start ")" | "x"`,
		"an unknown directive":  "start: \"x\"\n%declare Y",
		"an unknown terminal":   "start: PYTHON\n%import python.PYTHON",
		"a template":            "start: sep{\"x\"}\nsep{a}: a (\",\" a)*",
		"a range":               `start: "a".."z"`,
		"no token":              `start: "x" $`,
		"free spacing":          `start: /a b/x`,
		"too long when written": "start: a a a a a a a a a a\n" + `a: b b b b b b b b b b` + "\n" + `b: c c c c c c c c c c` + "\n" + `c: "longer than that"`,
		"too long":              `start: "` + strings.Repeat("x", longestGrammar) + `"`,
		"looks ahead":           `start: /(?!a)b/`,
	} {
		if pattern, err := patternOf("lark", grammar); pattern != "" || err != nil {
			t.Errorf("%s: %q, %v", name, pattern, err)
		}
	}
	for _, definition := range []string{`(?=a)a`, `(a)\1`, `a{2000}`, `(?<n>a)\k<n>`, `a++`, strings.Repeat("a", longestPattern)} {
		if pattern, err := patternOf("regex", definition); pattern != "" || err != nil {
			t.Errorf("%.40s: %.40q, %v", definition, pattern, err)
		}
	}
	r, err := parse(`{"input":"a","tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"regex","definition":"(?=a)a"}}]}`)
	if err != nil || len(r.Notes) != 1 || r.Notes[0].Word != "Grammar" || !strings.HasPrefix(r.Notes[0].Text, "c: ") {
		t.Errorf("told %v, %v", r.Notes, err)
	}
}

// A grammar that is none is refused: no text could follow it, and who sent it meant another.
func TestGrammarsThatAreNoneAreRefused(t *testing.T) {
	for grammar, want := range map[string]string{
		`start: nothing`:       "definition: names nothing, which has no rule",
		`begin: "x"`:           "definition: has no rule named start",
		`start: ("x"`:          "definition: does not close a bracket",
		`start: "x")`:          "definition: closes a bracket in start that was not opened",
		`"x"`:                  "definition: begins with a line that is no rule",
		`start: "x`:            `definition: does not close what begins at "\"x"`,
		`start: /(x/`:          "definition: holds an expression that is none: missing closing )",
		"start: a\na: \"x\" b": "definition: names b, which has no rule",
		" \n":                  "definition: is empty",
	} {
		if _, err := patternOf("lark", grammar); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", grammar, err, want)
		}
	}
	for definition, want := range map[string]string{
		`(a`: "definition: holds an expression that is none: missing closing )",
		`a)`: "definition: holds an expression that is none: unexpected )",
		`[a`: "definition: holds an expression that is none: missing closing ]",
		`*a`: "definition: holds an expression that is none: missing argument to repetition operator",
		`a\`: "definition: holds an expression that is none",
		``:   "definition: is empty",
	} {
		if _, err := patternOf("regex", definition); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", definition, err, want)
		}
	}
}

// A llama-server is held to the grammar while the model writes, line breaks and all: nothing of the
// pattern is left open.
func TestAServerIsHeldToTheGrammar(t *testing.T) {
	s := &toolset{ask: new(form.Ask)}
	tools, err := json.Marshal([]any{map[string]any{"type": "custom", "name": "apply_patch", "format": map[string]string{"type": "grammar", "syntax": "lark", "definition": patchGrammar}}})
	must.OK(t, err)
	must.OK(t, s.read(fastjson.MustParseBytes(tools)))
	g := adapters.Builtin().For("hermes").Grammar(s.ask.Tools, false)
	if len(g.Dropped) > 0 || !strings.Contains(g.Text, `*** Begin Patch\\n`) {
		t.Errorf("dropped %q of\n%s", g.Dropped, g.Text)
	}
}
