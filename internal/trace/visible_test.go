package trace

import "testing"

func TestWhiteSpaceIsVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a  b\n":         "<a><s:  ><b><n:\n>",
		"\n\n\ta":        "<n:\n><n:\n><t:\t><a>",
		"x\u00a0\u200b":  "<x><u:[U+00A0]><u:[U+200B]>",
		"\u202eé\r\x00":  "<u:[U+202E]><é><u:[U+000D]><u:[U+0000]>",
		"":               "",
		"\xff\ufeffa é ": "<u:[U+FFFD]><u:[U+FEFF]><a><s: ><é><s: >",
	} {
		got := ""
		for _, p := range visible(in) {
			if p.Class != "" {
				p.Text = p.Class + ":" + p.Text
			}
			got += "<" + p.Text + ">"
		}
		if got != want {
			t.Errorf("visible(%q) = %s, want %s", in, got, want)
		}
	}
}
