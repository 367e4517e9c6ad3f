package grammar

import "testing"

// TestRulesAreShared names expressions: equal ones share a rule, and names are those that GBNF
// takes.
func TestRulesAreShared(t *testing.T) {
	g := newRules()
	for _, c := range [][3]string{
		{"get_weather", `"a"`, "get-weather"}, {"get-weather", `"b"`, "get-weather-2"},
		{"other", `"a"`, "get-weather"}, {"root", `"c"`, "root-2"}, {"empty", "", ""},
	} {
		if got := g.rule(c[0], c[1]); got != c[2] {
			t.Errorf("rule(%s, %s) = %s, want %s", c[0], c[1], got, c[2])
		}
	}
	g.define("root", seq("get-weather", "get-weather-2"))
	want := "get-weather ::= \"a\"\nget-weather-2 ::= \"b\"\nroot-2 ::= \"c\"\nroot ::= get-weather get-weather-2\n"
	if got := g.source(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
