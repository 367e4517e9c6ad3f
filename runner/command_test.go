package runner

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestACommandSaysItsArgumentsPlainly(t *testing.T) {
	for args, want := range map[string]string{
		``:       `{}`,
		` null `: `{}`,
		"{\n  \"q\" : \"연차 규정\",\n\"n\": 1.50e+3 }":                                      `{"q":"연차 규정","n":1.50e+3}`,
		`{"q":"\uc5f0\uCC28 😀 \ud83d\ude00"}`:                                            `{"q":"연차 😀 😀"}`,
		`{"a":"it's ` + "`id`" + ` $(id) !x ~"}`:                                         `{"a":"it\u0027s \u0060id\u0060 \u0024(id) \u0021x ~"}`,
		`{"a":"say \"x\" \\ \/ \u0000\u0009"}`:                                           `{"a":"say \u0022x\u0022 \u005c / \u0000\t"}`,
		`{"a":"</command> a<b>c"}`:                                                       `{"a":"\u003c/command> a\u003cb>c"}`,
		`{"a":"‘’“”«»′＇＂｀＼"}`:                                                            `{"a":"\u2018\u2019\u201c\u201d\u00ab\u00bb\u2032\uff07\uff02\uff40\uff3c"}`,
		"{\"a\":\"\u202e\u200b\u00a0\u3164\ufe0f\u2028\ufeff\U000e0041\U000f0000\x7f\"}": `{"a":"\u202e\u200b\u00a0\u3164\ufe0f\u2028\ufeff\udb40\udc41\udb80\udc00\u007f"}`,
		`{"a":"\ud800","b":"\udc00\ud800x"}`:                                             `{"a":"\ud800","b":"\udc00\ud800x"}`,
		`{"it's":{"\"":[true,null,"é ñ ß ไทย हिन्दी"]}}`:                                 `{"it\u0027s":{"\u0022":[true,null,"é ñ ß ไทย हिन्दी"]}}`,
	} {
		got, err := Toolrun.Command("search_docs", json.RawMessage(args))
		if want = "toolrun search_docs '" + want + "'"; err != nil || got != want {
			t.Errorf("Command(%s)\n got %s, %v\nwant %s", args, got, err, want)
		}
	}
}

func TestWhatNoCommandIsWrittenFor(t *testing.T) {
	for _, name := range []string{"", "a b", "a;id", "a'b", "$(id)", "검색", "a\nb", "a/b", strings.Repeat("x", 129)} {
		for _, write := range []func(string, json.RawMessage) (string, error){Toolrun.Command, Toolrun.Base64} {
			if line, err := write(name, nil); err == nil {
				t.Errorf("%q became %s", name, line)
			}
		}
	}
	for _, args := range []string{`[1]`, `"a"`, `7`, `{`, `{"a":1}{}`, "{\"a\":\"\xff\"}", `{"a":'b'}`} {
		if line, err := Toolrun.Command("f", json.RawMessage(args)); err == nil {
			t.Errorf("%q became %s", args, line)
		}
	}
	for _, program := range []Program{"/usr/bin/toolrun", "toolrun; id", "A=1 toolrun", "-c", "~/toolrun", "tool'run", "toolrun $HOME", "toolrun //x"} {
		if line, err := program.Command("f", nil); err == nil {
			t.Errorf("%q became %s", program, line)
		}
		if line, err := program.Fetch("abc"); err == nil {
			t.Errorf("%q became %s", program, line)
		}
	}
	for _, id := range []string{"", "a b", "a-b", "--b64", strings.Repeat("x", 65)} {
		if line, err := Toolrun.Fetch(id); err == nil {
			t.Errorf("%q became %s", id, line)
		}
	}
}

func TestLongArgumentsGoAnotherWay(t *testing.T) {
	text := func(n int) json.RawMessage { return json.RawMessage(`{"a":"` + strings.Repeat("x", n) + `"}`) }
	for name, write := range map[string]func(string, json.RawMessage) (string, error){"Command": Toolrun.Command, "Base64": Toolrun.Base64} {
		longest := 0
		for n := range 1000 {
			line, err := write("f", text(n))
			if longest = max(longest, len(line)); err != nil && !errors.Is(err, ErrTooLong) || err == nil && len(line) > longestLine {
				t.Errorf("%s: %d characters, %v", name, len(line), err)
			}
		}
		if longest < longestLine-1 {
			t.Errorf("%s: the longest line has %d characters", name, longest)
		}
	}
	if _, err := Toolrun.Command("f", json.RawMessage(`{"a":"`+strings.Repeat("'", 200)+`"}`)); !errors.Is(err, ErrTooLong) {
		t.Errorf("what is escaped counts as it is written: %v", err)
	}
}

func TestOtherFormsOfACommand(t *testing.T) {
	python := Program("  python   mcp_server/mcp_tools_runner.py ")
	for _, tt := range []struct {
		want string
		line func() (string, error)
	}{
		{`python mcp_server/mcp_tools_runner.py f '{}'`, func() (string, error) { return python.Command("f", nil) }},
		{`python /opt/x.py --call k3J_9`, func() (string, error) { return Program("python /opt/x.py").Fetch("k3J_9") }},
		{`toolrun -- -rf '{}'`, func() (string, error) { return Toolrun.Command("-rf", nil) }},
		{`toolrun --b64 e30 -- -rf`, func() (string, error) { return Program("").Base64("-rf", nil) }},
		{`toolrun --b64 eyJhIjoiaXRcdTAwMjdzIn0 f`, func() (string, error) { return Toolrun.Base64("f", json.RawMessage(`{"a": "it's"}`)) }},
	} {
		got, err := tt.line()
		if err != nil || got != tt.want {
			t.Errorf("got %s, %v; want %s", got, err, tt.want)
		}
	}
}

// safeWord is what portable JSON consists of: no quote, no backquote, no <, no $, no !, nothing but
// letters behind a backslash, and nothing that a terminal would act on.
var safeWord = regexp.MustCompile("^(?:[^\\x00-\\x1f\\x7f'`<$!\\\\\\p{C}\\p{Zl}\\p{Zp}\u00a0]|\\\\[bfnrtu])*$")

// checkCommands says what is wrong with the commands of a call. Arguments that are taken must come
// back as the same value.
func checkCommands(t *testing.T, args string) {
	t.Helper()
	line, err := Toolrun.Command("f", json.RawMessage(args))
	if err != nil {
		return
	}
	inner, found := strings.CutPrefix(line, "toolrun f '")
	inner, closed := strings.CutSuffix(inner, "'")
	if !found || !closed || !safeWord.MatchString(inner) {
		t.Fatalf("%q became %q", args, line)
	}
	if args = strings.TrimSpace(args); args == "" || args == "null" {
		args = "{}"
	}
	if want, got := value(t, args), value(t, inner); !reflect.DeepEqual(want, got) {
		t.Fatalf("%q became %q", args, inner)
	}
	if again, err := portable(json.RawMessage(inner)); err != nil || string(again) != inner {
		t.Fatalf("%q, and once more %q, %v", inner, again, err)
	}
	if line, err := Toolrun.Base64("f", json.RawMessage(args)); err == nil {
		if strings.Trim(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ ") != "" { // PowerShell and cmd read nothing into these
			t.Fatalf("%q became %q", args, line)
		}
		data, err := base64.RawURLEncoding.DecodeString(strings.Fields(line)[2])
		if err != nil || string(data) != inner {
			t.Fatalf("%s is %q, %v", line, data, err)
		}
	}
}

// value reads JSON with its number text.
func value(t *testing.T, text string) (v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// FuzzCommand: a command holds only what every shell leaves alone, and its arguments are the same
// value.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"a":"it's \"x\" \\ ` + "`id`" + `"}`, `{"연차":["\ud83d\ude00",1e5]}`, "{\"\u202e\":\"\u2019\"}", `{"a":"\ud800"}`, `[1]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) { checkCommands(t, args) })
}
