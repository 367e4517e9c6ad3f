package window

import (
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
)

func TestTheContextGrowsByPowersAndStaysWhereItIsEnough(t *testing.T) {
	for _, row := range []struct {
		limits     Limits
		need, want int
	}{
		{Limits{}, 100, 8192},
		{Limits{}, 8192, 8192},
		{Limits{}, 8193, 16384},
		{Limits{Trained: 131072, Most: 32768}, 20000, 32768},
		{Limits{Trained: 131072, Most: 32768}, 200000, 32768},
		{Limits{Trained: 131072, Most: 20000}, 18000, 20000},
		{Limits{Trained: 2048, Most: 32768}, 100, 2048},
		{Limits{Trained: 2048, Most: 32768}, 9000, 2048},
		{Limits{Loaded: 4096, Most: 32768}, 4096, 4096},
		{Limits{Loaded: 4096, Most: 32768}, 4097, 8192},
		{Limits{Loaded: 16384, Most: 32768}, 100, 16384},
		{Limits{Loaded: 65536, Most: 32768}, 40000, 65536},
		{Limits{Loaded: 65536, Most: 32768}, 70000, 65536},
		{Limits{Loaded: 131072, Trained: 131072, Most: 32768}, 100000, 131072},
	} {
		if got := row.limits.Choose(row.need); got != row.want {
			t.Errorf("%+v.Choose(%d) = %d, want %d", row.limits, row.need, got, row.want)
		}
	}
}

func TestRoom(t *testing.T) {
	for _, row := range [][3]int{{0, 32768, 2048}, {500, 32768, 500}, {32000, 32768, 8192}, {0, 4096, 1024}} {
		if got := Room(row[0], row[1]); got != row[2] {
			t.Errorf("Room(%d, %d) = %d, want %d", row[0], row[1], got, row[2])
		}
	}
}

func TestMeterGoesByLongAndLateCounts(t *testing.T) {
	var m Meter
	if got := m.Estimate(3000); got != 1001 {
		t.Errorf("without a count 3000 bytes are %d tokens", got)
	}
	m.Learn(100, 60) // mostly the template's own text
	if m.Tokens != 0 {
		t.Error("a short prompt taught something")
	}
	m.Learn(40000, 10000)
	if got := m.Estimate(80000); got != 20001 {
		t.Errorf("80000 bytes are %d tokens, want 20001", got)
	}
	m.Learn(10000, 4000)
	if m.Tokens != 10000 {
		t.Error("a much shorter prompt taught something")
	}
	m.Learn(30000, 6000)
	if got := m.Estimate(30000); got != 6001 {
		t.Errorf("30000 bytes are %d tokens, want 6001", got)
	}
}

// talk is a conversation of letters: s u a, A (with a call), t. Each costs ten.
func talk(plan string) (ms []chat.Message) {
	roles := map[rune]chat.Role{'s': chat.System, 'u': chat.User, 'a': chat.Assistant, 'A': chat.Assistant, 't': chat.ToolRole}
	for i, c := range plan {
		m := chat.Message{Role: roles[c], Content: fmt.Sprintf("%c%d", c, i)}
		if c == 'A' {
			m.Calls = []chat.Call{{Name: "f"}}
		}
		ms = append(ms, m)
	}
	return ms
}

func ten(chat.Message) int { return 10 }

// left says which messages stayed: a dot for each that went.
func left(plan string, ms []chat.Message) string {
	kept := map[string]bool{}
	for _, m := range ms {
		kept[m.Content] = true
	}
	var b strings.Builder
	for i, c := range plan {
		if kept[fmt.Sprintf("%c%d", c, i)] {
			b.WriteRune(c)
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

func TestTheOldestTurnsGo(t *testing.T) {
	for _, row := range []struct {
		plan         string
		excess, step int
		want         string
	}{
		{"suauau", 1, 0, "s..uau"},
		{"suauau", 20, 0, "s..uau"},
		{"suauau", 21, 0, "s....u"},
		{"suauau", 1000, 0, "s....u"},
		{"suauauau", 1, 40, "s....uau"}, // rounded up
		{"suAtauAtau", 1, 0, "s....uAtau"},
		{"suAtau", 1000, 0, "s....u"},
		{"suasuau", 1000, 0, "s..s..u"}, // a late system message stays
		{"suAtAtAt", 1, 0, "su..AtAt"},  // within the last turn steps go, call and result
		{"suAttAt", 1, 0, "su...At"},    // with all of its results
		{"suAtAt", 1000, 0, "su..At"},   // the last step stays
		{"uauAtAtt", 25, 0, "..u..Att"}, // first turns, then steps
		{"uauu", 1000, 0, "..uu"},       // several user messages are one
		{"auau", 1, 0, ".uau"},          // a greeting goes first
		{"su", 1000, 0, "su"},           // nothing may go
		{"sAtAt", 1000, 0, "s..At"},     // without a user
		{strings.Repeat("ua", 3) + "u", 10, 0, "..uauau"},
	} {
		got := Trim(talk(row.plan), row.excess, row.step, ten)
		if s := left(row.plan, got.Messages); s != row.want {
			t.Errorf("Trim(%s, %d, %d) leaves %s, want %s", row.plan, row.excess, row.step, s, row.want)
		}
		if got.Dropped != len(row.plan)-len(got.Messages) || got.Freed != 10*got.Dropped {
			t.Errorf("Trim(%s): %d messages and %d tokens are said to be gone, %d are", row.plan, got.Dropped, got.Freed, len(row.plan)-len(got.Messages))
		}
	}
}

// TestTrimmedTurnsBeginAlike wants most requests of a growing conversation to begin with what the
// one before them began with: else the server reads all of it again in every turn.
func TestTrimmedTurnsBeginAlike(t *testing.T) {
	const budget, step = 400, 100
	changed, before := 0, ""
	for n := 20; n < 80; n++ {
		plan := "s" + strings.Repeat("ua", n) + "u"
		got := Trim(talk(plan), max(10*len(plan)-budget, 0), step, ten)
		if first := got.Messages[1].Content; first != before {
			changed++
			before = first
		}
	}
	if want := 60*20/step + 2; changed > want {
		t.Errorf("the beginning changed %d times in 60 turns, want %d at most", changed, want)
	}
}
