package voidmodel

import (
	"fmt"
	"testing"
)

// TestTheRulesOfTheParser holds the model to what is known of Void's parser, so that tests that use
// it mean something.
func TestTheRulesOfTheParser(t *testing.T) {
	tools := []Tool{{Name: "first", Params: []Param{{Name: "a"}, {Name: "b"}}}, {Name: "second", Params: []Param{{Name: "c"}}}, {Name: "none"}}
	for _, tt := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"a text", []string{"x < y", " <b>"}, `"x < y <b>" <nil>`},
		{"a call", []string{"x\n<first>\n", "<a>1</a>\n<b>2</b>\n</first>"}, `"x" &{first map[a:1 b:2] true}`},
		{"no parameters", []string{"<none>\n</none>"}, `"" &{none map[] true}`},
		{"text behind it is lost", []string{"<second><c>1</c></second> y"}, `"" &{second map[c:1] true}`},
		{"the list's order decides", []string{"<second>\n<c><first></c>\n</second>"}, `"<second>\n<c>" &{first map[] false}`},
		{"not once a call has begun", []string{"<second>\n", "<c><first></c>\n</second>"}, `"" &{second map[c:<first>] true}`},
		{"a mark alone waits for what follows", []string{"<second>", "<c><first></c>\n</second>"}, `"<second><c>" &{first map[] false}`},
		{"an unclosed call runs", []string{"<second>\n", "<c>1"}, `"" &{second map[c:1] false}`},
		{"the closing mark is looked for from the end", []string{"<second>\n", "<c></second></c></second>"}, `"" &{second map[c:</second>] true}`},
		{"an earlier parameter behind a later one loses that", []string{"<first>\n", "<b>2</b><a>1</a></first>"}, `"" &{first map[a:1] true}`},
		{"a value ends at the first parameter's mark", []string{"<first>\n", "<b>x</a>y</b></first>"}, `"" &{first map[b:x] true}`},
		{"outer lines go", []string{"<second>\n", "<c> \n\n x \n\n</c></second>"}, `"" &{second map[c:` + "\n x \n" + `] true}`},
		{"the beginning of a mark at the end is never shown", []string{"x <fir"}, `"" <nil>`},
	} {
		v := Parser{Tools: tools}
		for _, p := range tt.pieces {
			v.Piece(p)
		}
		shown, call := v.End()
		if got := fmt.Sprintf("%q %v", shown, call); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
