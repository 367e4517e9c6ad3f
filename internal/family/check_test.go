package family

import (
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

func TestEveryFamilyReadsWhatItPrints(t *testing.T) {
	for _, f := range adapters.All() {
		for _, p := range ReadsBack(f) {
			t.Errorf("%s: %v", f.Name, p.Err)
		}
	}
}

func TestCheckSaysWhatDiffers(t *testing.T) {
	tools, err := golden.Tools()
	must.OK(t, err)
	const head = "format mine\nmodels mine*\ncall <mine>{call}</mine>\n"
	for _, tt := range []struct {
		src, want string
		cases     int
	}{
		{head + "-- a: raw --\n<mine>{\"name\":\"get_time\",\"arguments\":{}}</mine>\n-- a: events --\ncall 0 get_time {}\nfinish stop\n", "", 1},
		{head + "-- a: raw --\nx\n-- a: events --\nfinish stop\n", "case a: whole, hold short\nraw  \"x\"\ngot  text \"x\"\n     finish stop\nwant finish stop", 1},
		{head + "-- a: raw --\n<tool_call>{\"name\":\"get_time\",\"arguments\":{}}</tool_call>\n-- a: events --\ncall 0 get_time {}\nfinish stop\n", "no other family's marks", 1},
		{"format mine\ncall <mine>{call}</mine>\nkeys name=banana\n", "printed calls: raw", 0},
	} {
		f, err := adapters.Builtin().Parse([]byte(tt.src))
		must.OK(t, err)
		n, problems, err := Check(f, tools)
		got := ""
		if len(problems) > 0 {
			got = problems[0].Where + ": " + problems[0].Err.Error()
		}
		if n != tt.cases || err != nil || (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q: %d cases, %v, %q, want %d and %q", tt.src, n, err, got, tt.cases, tt.want)
		}
	}
}
