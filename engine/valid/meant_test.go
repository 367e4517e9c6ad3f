package valid

import "testing"

func TestMisspeltMembersGetTheNameThatIsMissing(t *testing.T) {
	const file = `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`
	for args, want := range map[string]string{
		`{"path":"a","contents":"b"}`:                `{"path":"a","content":"b"}`,
		`{"pth":"a","contents":"b\"c"}`:              `{"path":"a","content":"b\"c"}`,
		`{"path":"a","contents":"b","contenst":"c"}`: "", // which one was meant, nobody can tell
		`{"path":"a","text":"b"}`:                    "",
		`{"path":"a","contents":7}`:                  "", // not a text
	} {
		out, ok := validator(t, file).Renamed([]byte(args))
		if got := string(out); ok != (want != "") || ok && got != want {
			t.Errorf("%s became %q (%t), want %q", args, got, ok, want)
		}
	}
}

func TestOptionalMembersThatDoNotFitAreLeftOut(t *testing.T) {
	const search = `{"type":"object","properties":{"query":{"type":"string"},"regex":{"type":"boolean"},"when":{"type":"string","format":"date"},` +
		`"in":{"type":"object","properties":{"dir":{"type":"string"},"depth":{"type":"integer"}},"required":["dir"]},"n":{"type":"array","items":{"type":"integer"}}},"required":["query"]}`
	for args, want := range map[string]string{
		`{"query":"a","regex":"yes please"}`:               `{"query":"a"}`,
		`{"regex":"yes please","query":"a","when":"soon"}`: `{"query":"a"}`,
		`{"query":"a","in":{"dir":"x","depth":"deep"}}`:    `{"query":"a","in":{"dir":"x"}}`,
		`{"query":"a","in":{"depth":1}}`:                   `{"query":"a"}`, // dir is missing, so its object goes
		`{"query":"a","n":[1,"two"]}`:                      `{"query":"a"}`, // an element cannot go alone
		`{"query":7}`:                                      "",
		`{"regex":"yes please"}`:                           "",
	} {
		out, ok := validator(t, search).WithoutWrong([]byte(args))
		if got := string(out); ok != (want != "") || ok && got != want {
			t.Errorf("%s became %q (%t), want %q", args, got, ok, want)
		}
	}
}
