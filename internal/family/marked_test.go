package family

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// mark finds the stretch of a part of a text.
func mark(text, part string) Stretch {
	at := strings.Index(text, part)
	return Stretch{at, at + len(part)}
}

// TestAMarkedCallIsLearned writes calls between marks of many kinds, by a seed: of most of them a
// file is made, and each file that is made reads the reply as the call that was marked.
func TestAMarkedCallIsLearned(t *testing.T) {
	set := adapters.Builtin()
	for _, seed := range []uint64{3, 8, 20261124} {
		r, made := rand.New(rand.NewPCG(seed, 0)), 0
		const n = 60
		for range n {
			pick := func(all ...string) string { return all[r.IntN(len(all))] }
			args := fmt.Sprintf(`{"city": %q, "days": %d}`, pick("Rome", "Oslo"), r.IntN(5))
			open, end := pick("[[CALL ", "<act name=\"", "@@", "#CALL ", "<<", "{{tool:", "⟦"), pick("]]\n", "\">", " ", "(", ">> ", "}} ", "⟧")
			raw := pick("", "I look it up.\n", "Sure! ") + open + "get_weather" + end + args + pick("\n[[/CALL]]", "</act>", "@@", ")#END", " <</done>>", "⟧⟧")
			file, _, err := FromMarked("acme", "acme", set, Reply{raw, []chat.Tool{{Name: "get_time"}}}, mark(raw, "get_weather"), mark(raw, args))
			if err != nil {
				continue
			}
			made++
			f, err := set.Parse([]byte(file))
			if err != nil {
				t.Fatalf("seed %d: %q: %v\n%s", seed, raw, err, file)
			}
			calls := callsIn(f, Reply{raw, []chat.Tool{{Name: "get_weather"}}})
			if len(calls) != 1 || calls[0].Name != "get_weather" || !strings.Contains(string(calls[0].Args), "city") {
				t.Errorf("seed %d: %q is read as %+v by\n%s", seed, raw, calls, file)
			}
		}
		if made < n*2/3 {
			t.Errorf("seed %d: a file was made of %d of %d replies", seed, made, n)
		}
	}
}

func TestMarksThatAreNone(t *testing.T) {
	const raw = `CALL get_weather {"city":"Rome"} END`
	name, args := mark(raw, "get_weather"), mark(raw, `{"city":"Rome"}`)
	for _, row := range []struct {
		raw        string
		name, args Stretch
		want       string
	}{
		{raw, Stretch{}, args, "must be marked"}, {raw, name, Stretch{3, 900}, "must be marked"}, {raw, Stretch{-1, 4}, args, "must be marked"}, {raw, Stretch{9, 4}, args, "must be marked"},
		{raw, name, mark(raw, "END"), "no JSON object"}, {raw, name, mark(raw, `{"city":"Rome"} END`), "no JSON object"},
		{`{"a":1} f`, Stretch{8, 9}, Stretch{0, 7}, "in front of the name"}, {`x{"a":1}`, Stretch{0, 3}, Stretch{1, 8}, "overlap"},
	} {
		if _, _, err := FromMarked("acme", "acme", adapters.Builtin(), Reply{Raw: row.raw}, row.name, row.args); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row, err)
		}
	}
	const known = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>"
	file, _, err := FromMarked("acme", "acme", adapters.Builtin(), Reply{Raw: known}, mark(known, "get_weather"), mark(known, `{"city": "Rome"}`))
	if other, _, _ := FromMarked("own", "acme", adapters.Builtin(), Reply{Raw: known}, mark(known, "get_weather"), mark(known, `{"city": "Rome"}`)); !strings.Contains(other, "format  own\nmodels  acme*\n") {
		t.Errorf("the file is for other models:\n%s", other)
	}
	if err != nil || !strings.Contains(file, "like ") {
		t.Errorf("what a family reads already is %v\n%s", err, file)
	}
	const whole = `CALL>{"tool": "get_weather", "arguments": {"city": "Rome"}}<END`
	file, questions, err := FromMarked("acme", "acme", adapters.Builtin(), Reply{Raw: whole}, mark(whole, "get_weather"), mark(whole, `{"tool": "get_weather", "arguments": {"city": "Rome"}}`))
	if err != nil || !strings.Contains(file, `CALL>{call}<END`) || !strings.Contains(file, `call 0 get_weather {"city": "Rome"}`) || len(questions) != 1 {
		t.Errorf("a whole call: %v %v\n%s", questions, err, file)
	}
}
