package script

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/test/must"
)

func TestParse(t *testing.T) {
	got, err := Parse("f", `about the file

-- a anchor piece=9 --
two
lines¦{{words w 8}}
-- a: reply --
text " hi"
think so
call get {"x": "{{words w 5}}"}
-- b quoted loop --
"\n "
-- c --
as it is
-- c: reply --
same
`)
	must.OK(t, err)
	want := []Script{
		{Name: "a", Family: "f", Anchor: true, Model: gguf.Script{Name: "a", Parts: []string{"two\nlines", "w0 w1 w2"}, Piece: 9},
			Reply: &Reply{Text: " hi", Think: "so", Calls: []Call{{"get", `{"x": "w0 w1"}`}}}},
		{Name: "b", Family: "f", Model: gguf.Script{Name: "b", Parts: []string{"\n "}, Loop: true}},
		{Name: "c", Family: "f", Model: gguf.Script{Name: "c", Parts: []string{"as it is"}}, Reply: &Reply{Text: "as it is", Exact: true}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Parse =\n%+v\nwant\n%+v", got, want)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"-- a huge --\nx\n":                              "unknown option",
		"-- a piece=1 --\nx\n":                           "two or more",
		"-- a quoted --\nx\n":                            "its text",
		"-- a: reply --\nsame\n":                         "does not follow",
		"-- a --\nx\n-- a: reply --\nsay hi\n":           "unknown line",
		"-- a --\nx\n-- a: reply --\ncall f {\"a\": }\n": "no JSON",
	} {
		if _, err := Parse("f", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want an error with %q", text, err, want)
		}
	}
}

func TestTheLaneScriptsMakeAModel(t *testing.T) {
	scripts := must.Have(Load(os.DirFS("../scripts")))(t)
	calls, texts := 0, 0
	for _, s := range scripts {
		switch {
		case !s.Anchor:
		case len(s.Reply.Calls) > 0:
			calls++
		default:
			texts++
		}
	}
	if calls != 27 || texts != 5 {
		t.Errorf("the anchor has %d calls and %d texts, its known scores are of 27 and 5", calls, texts)
	}
	must.Have(gguf.New(Models(scripts), ""))(t)
}
