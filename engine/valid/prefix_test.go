package valid

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// editor is a schema with all that a Prefix reads by itself.
const editor = `{"type":"object","required":["path","edits"],"additionalProperties":false,"properties":{
	"path":{"type":"string","minLength":3},
	"mode":{"enum":["append","replace"]},
	"days":{"type":"integer","minimum":1,"maximum":7},
	"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
	"tags":{"type":"array","items":{"type":"string"},"maxItems":2,"minItems":1},
	"edits":{"type":"array","items":{"$ref":"#/$defs/edit"}}},
	"$defs":{"edit":{"type":"object","required":["old"],"properties":{"old":{"type":"string"},"count":{"type":"integer"}}}}}`

func validator(t testing.TB, schema string) *Validator {
	t.Helper()
	v, err := new(Cache).Get(json.RawMessage(schema))
	must.OK(t, err)
	return v
}

// read is a Prefix that has read a text in pieces of n bytes.
func read(v *Validator, text string, n int) *Prefix {
	p := v.Prefix()
	for len(text) > 0 {
		n := min(n, len(text))
		p.Write(text[:n])
		text = text[n:]
	}
	return p
}

func TestWhatCanStandIsWhatCanStillBecomeRight(t *testing.T) {
	v := validator(t, editor)
	for _, row := range []struct{ text, safe, problem string }{
		{`{`, `{`, ""},
		{`{"pa`, `{`, ""},
		{`{"path": "ab`, `{`, ""},
		{`{"path": "abcdefghi`, `{"path": "abcdefghi`, ""},
		{`{"path": "ab"`, `{`, "arguments.path: want at least 3 characters, got 2"},
		{`{"path":"abcdefghi\`, `{"path":"abcdefghi`, ""},
		{`{"path":"abcdefghi\"x`, `{"path":"abcdefghi\"x`, ""},
		{`{"mode":"appe`, `{`, ""},
		{`{"mode":"append"`, `{"mode":"append"`, ""},
		{`{"mode":"append","days":7`, `{"mode":"append"`, ""},
		{`{"mode":"append","days":7,`, `{"mode":"append","days":7`, ""},
		{`{"mode":"append","days":9,"path":"x`, `{"mode":"append"`, "arguments.days: want at most 7, got 9"},
		{`{"mode":"delete","path":"x`, `{`, `arguments.mode: want one of "append", "replace", got "delete"`},
		{`{"note":"long`, `{"note":"long`, ""},
		{`{"note":null`, `{"note":null`, ""},
		{`{"note":null,`, `{"note":null`, ""},
		{`{"note":1,`, `{`, "arguments.note: "},
		{`{"other":1`, `{`, ""},
		{`{"other":1,"note":"a", "more" : {"x":["}"]} ,"tags":["a`, `{"note":"a" ,"tags":["a`, ""},
		{`{"other":1}`, `{`, "arguments.path: is missing"},
		{`{"path":"abcdefgh","pat":1,"note":"x`, `{"path":"abcdefgh","note":"x`, ""},
		{`{"pat":1`, `{`, "arguments.pat: is not a parameter"},
		{`{"days":1,"days":2`, `{"days":1`, "arguments.days: is there twice"},
		{`{"tags":["a","b"`, `{"tags":["a","b"`, ""},
		{`{"tags":["a","b",`, `{"tags":["a","b"`, "arguments.tags: want at most 2 elements, got more"},
		{`{"tags":[]`, `{"tags":[`, "arguments.tags: want at least 1 elements, got 0"},
		{`{"edits":[{"old":"x"},{"old":"y`, `{"edits":[{"old":"x"},{"old":"y`, ""},
		{`{"edits":[{"count":1},`, `{"edits":[{"count":1`, "arguments.edits[0].old: is missing"},
		{`{"edits":[{"old":"x","count":"no"}`, `{"edits":[{"old":"x"`, "arguments.edits[0].count: want integer, got string"},
		{`{"path":"abcdefgh"}`, `{"path":"abcdefgh"`, "arguments.edits: is missing"},
		{`{"path":"abcdefgh","edits":[]}`, `{"path":"abcdefgh","edits":[]}`, ""},
		{`{"days":1,}`, `{"days":1`, "arguments: is no JSON"},
		{`{"tags":["a",]`, `{"tags":["a"`, "arguments.tags[1]: no JSON"},
		{`{"path":"abcdefgh","edits":[]} x`, `{"path":"abcdefgh","edits":[]}`, "arguments: something follows the object"},
	} {
		for n := 1; n <= len(row.text); n++ {
			p := read(v, row.text, n)
			problem := ""
			if p.problem != nil {
				problem = p.problem.Text
			}
			if got := string(p.Text()[:p.Safe()]); got != row.safe || !strings.HasPrefix(problem, row.problem) || row.problem == "" && problem != "" {
				t.Fatalf("%s in pieces of %d: %q and %q, want %q and %q", row.text, n, got, problem, row.safe, row.problem)
			}
		}
	}
}

func TestEveryPrefixThatStandsIsCompletedByTheWhole(t *testing.T) {
	v := validator(t, editor)
	for _, whole := range []string{
		`{"path":"a/b/c/d/e/f.txt","mode":"append","days":3,"note":"said \"so\"","tags":["a"],"edits":[{"old":"x","count":2},{"old":""}]}`,
		`{"edits":[],"note":null,"path":"안녕하세요 세계 🌍 파일"}`,
		` { "edits" : [ { "old" : "x" } , { "count" : 1 , "old" : "y" } ] , "path" : "abcdefgh" } `,
	} {
		for cut := range len(whole) {
			p := read(v, whole[:cut], 1)
			if p.problem != nil {
				t.Fatalf("%s: %v", whole[:cut], p.problem)
			}
			rest, ok := p.Rest(json.RawMessage(whole))
			if done := string(p.Text()[:p.Safe()]) + rest; !ok || !same([]byte(done), []byte(whole)) {
				t.Fatalf("%q and the rest %q (%v) are not %q", p.Text()[:p.Safe()], rest, ok, whole)
			}
		}
	}
}

func TestTheRestOfAnotherObjectIsNone(t *testing.T) {
	v := validator(t, editor)
	p := read(v, `{"mode":"append","days":9`, 3)
	if rest, ok := p.Rest(json.RawMessage(`{"mode":"replace","days":1}`)); ok {
		t.Errorf("mode has left as append: %s", rest)
	}
	if rest, ok := read(v, `{"tags":[`, 3).Rest(json.RawMessage(`{"tags":null}`)); ok {
		t.Errorf("a list has begun, which null is not: %s", rest)
	}
	if rest, ok := read(v, `{"note":"said`, 3).Rest(json.RawMessage(`{"note":"sad"}`)); ok {
		t.Errorf("a text has begun otherwise: %s", rest)
	}
	if rest, ok := p.Rest(json.RawMessage(`{"days":1,"mode":"append","path":"abc"}`)); !ok || rest != `,"days":1,"path":"abc"}` {
		t.Errorf("%q, %v", rest, ok)
	}
}

// TestTheFirstProblemIsTheSameEachTime holds that what is told of a value that is checked as a
// whole does not depend on the order in which the library goes through a map.
func TestTheFirstProblemIsTheSameEachTime(t *testing.T) {
	wrong := `{"type":"object","minProperties":1,"properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"integer"},"d":{"type":"integer"}}}`
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"o":` + wrong + `}}`:                                                    `arguments.o.a: want integer, got string`,
		`{"type":"object","properties":{"o":{"oneOf":[` + wrong + `,` + wrong + `]}}}`:                          `arguments.o: fits none of the alternatives; for one of them, a: want integer, got string`,
		`{"type":"object","properties":{"o":{"type":"object","additionalProperties":false,"maxProperties":9}}}`: `arguments.o.a: is not a parameter`,
	} {
		for range 20 {
			p := read(validator(t, schema), `{"o":{"d":"1","c":"1","b":"1","a":"1"}}`, 9)
			if p.problem == nil || p.problem.Text != want {
				t.Fatalf("%s: %v, want %s", schema, p.problem, want)
			}
		}
	}
}

// TestOnlyAnObjectBegins holds that nothing leaves of a text where arguments have to stand,
// whatever the schema would take.
func TestOnlyAnObjectBegins(t *testing.T) {
	for _, schema := range []string{`{"anyOf":[{"type":"string"},{"type":"object"}]}`, `{"type":["array","object"]}`, `{}`} {
		for _, text := range []string{`"abc`, `[1,`, `12 `, `null`} {
			p := read(validator(t, schema), text, 2)
			if rest, ok := p.Rest(json.RawMessage(`{}`)); p.Safe() > 0 || p.problem == nil || !ok || rest != `{}` {
				t.Errorf("%s, %s: %d, %v, %q, %v", schema, text, p.Safe(), p.problem, rest, ok)
			}
		}
	}
}

func TestConditionsWaitForTheWhole(t *testing.T) {
	for schema, whole := range map[string]bool{
		editor: false,
		`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`: true,
		`{"type":"object","minProperties":1}`:                                        true,
		`{"$ref":"#/$defs/x","$defs":{"x":{"type":"object","properties":{"a":{}}}}}`: false,
		`{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`:        true,
		``: false,
	} {
		if got := validator(t, schema).Whole(); got != whole {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

func FuzzPrefix(f *testing.F) {
	for _, text := range []string{`{"path":"abcdefgh","edits":[{"old":"x"}]}`, `{"tags":["a","b","c"]}`, `{"days":9,`, `{"note":nul`, `[1`, `{"a":{}}`, `"\`, `{"path":"\u00e9\`, `{"path":"abcdefgh","x":{"y":[1]},"edits":[],"z":2}`} {
		f.Add(text, 3)
	}
	v := validator(f, editor)
	f.Fuzz(func(t *testing.T, text string, n int) {
		whole, cut := read(v, text, len(text)+1), read(v, text, 1+max(n, 0)%7)
		if whole.Safe() != cut.Safe() || string(whole.Text()) != string(cut.Text()) || string(whole.Written()) != text || (whole.problem == nil) != (cut.problem == nil) {
			t.Fatalf("%q: %d, and %d in pieces of %d", text, whole.Safe(), cut.Safe(), 1+max(n, 0)%7)
		}
		if whole.state == finished && whole.problem == nil && len(v.Check(whole.Text())) > 0 {
			t.Fatalf("%q passed and does not fit: %v", text, v.Check(whole.Text()))
		}
		if len(v.Check([]byte(text))) == 0 && (whole.problem != nil || whole.Safe() == 0) {
			t.Fatalf("%q fits, and was stopped: %v", text, whole.problem)
		}
		whole.Rest(json.RawMessage(text))
	})
}

// BenchmarkPrefix reads calls as a model streams them, a token of four bytes at a time: one of a
// long text and one of many values.
func BenchmarkPrefix(b *testing.B) {
	v := validator(b, editor)
	for name, text := range map[string]string{
		"text":   `{"path":"src/main.go","edits":[{"old":"` + strings.Repeat(`func f() {\n\treturn \"x\"\n}\n`, 200) + `"}]}`,
		"values": `{"path":"src/main.go","mode":"append","days":3,"note":null,"tags":["a","b"],"edits":[` + strings.Repeat(`{"old":"x","count":12},`, 99) + `{"old":"x"}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if p := read(v, text, 4); p.problem != nil || p.Safe() != len(text) {
					b.Fatal(p.problem)
				}
			}
		})
	}
}
