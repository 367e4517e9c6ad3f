package derive

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// drawnTools are offered where replies of invented templates are read; no probe names them.
var drawnTools = []chat.Tool{
	{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"metric":{"type":"boolean"},"at":{"type":"number"}},"required":["city"]}`)},
	{Name: "save_note", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"meta":{"type":"object"}},"required":["text"]}`)},
	{Name: "get_time", Schema: []byte(`{"type":"object","properties":{"zone":{"type":"string"}}}`)},
}

// drawn are the messages of the assistant whose replies are read.
func drawn() []chat.Message {
	call := func(name, args string) chat.Call {
		return chat.Call{ID: "abc000001", Name: name, Args: json.RawMessage(args)}
	}
	oslo, time := call("get_weather", `{"city": "Oslo", "days": 3}`), call("get_time", `{"zone": "UTC"}`)
	return []chat.Message{
		{Calls: []chat.Call{oslo}},
		{Calls: []chat.Call{call("get_weather", `{"city": "São Paulo, \"centro\"", "at": -7.5, "metric": true}`)}},
		{Calls: []chat.Call{call("save_note", `{"text": "if a < b && c:\n    print('x')\n", "tags": ["one", "t w o"]}`)}},
		{Calls: []chat.Call{call("save_note", `{"text": "x", "meta": {"p": {"q": ["r", 2]}, "s": false}}`)}},
		{Calls: []chat.Call{oslo, time}},
		{Calls: []chat.Call{time, oslo, call("save_note", `{"text": "C:\\temp"}`)}},
		{Calls: []chat.Call{call("get_time", `{}`)}},
		{Content: "I look that up.", Calls: []chat.Call{oslo}},
		{Reasoning: "They ask for Oslo.", Calls: []chat.Call{oslo}},
		{Reasoning: "Nothing to call.", Content: "Hello there."},
		{Content: "Plain words, and a list: [1, 2] {x}."},
	}
}

// hostile are calls whose values hold what the template itself writes: the ends of calls and of
// arguments, whole calls.
func hostile(v *invented) (out []chat.Message) {
	whole := v.reply(drawn()[0])
	for _, text := range []string{
		"a" + v.close + "b", "a" + v.close, v.open + "a", whole, "see " + whole + " there\n" + whole, "x" + v.last + "y", "]\n" + v.close + "\n" + v.last,
		whole[len(whole)/2:], "a\" }, \"days\": 4, \"x\": \"", "</city><days>4</days>", "Oslo\ndays := 4", "`" + whole + "`", v.end + v.bot + whole,
	} {
		text = strings.ReplaceAll(text, "#N#", "1")
		out = append(out, chat.Message{Calls: []chat.Call{{ID: "abc000001", Name: "save_note", Args: json.RawMessage(`{"text": ` + quote(text) + `}`)}}})
		out = append(out, chat.Message{Calls: []chat.Call{{ID: "abc000001", Name: "get_weather", Args: json.RawMessage(`{"city": ` + quote(text) + `, "days": 3}`)}}})
	}
	return out
}

// outcome is what became of an invented template.
type outcome struct {
	read, prompt        bool
	hostile, kept       int // replies with hostile values, and those whose call was read
	right, missed, text int // replies: calls missed, words otherwise than said
	wrong               []string
	why                 string
}

// tried reads the replies of an invented template by what is derived from it.
func tried(t testing.TB, v *invented) (o outcome) {
	t.Helper()
	found, err := From("mystery", adapters.Builtin(), Template{Render: v.render})
	f := adapters.Named("generic")
	switch {
	case err != nil:
		o.prompt, o.why = true, err.Error()
	case len(found.Wrong) > 0:
		o.prompt, o.why = true, found.Wrong[0].Error()
	default:
		f = found.Format
	}
	if o.prompt {
		return o
	}
	for _, m := range drawn() {
		if v.refusesTwo && len(m.Calls) > 1 {
			continue
		}
		raw := v.reply(m) + strings.TrimSpace(v.end)
		got, err := read(f, raw, drawnTools)
		must.OK(t, err)
		strange := slices.ContainsFunc(got.Calls, func(c chat.Call) bool {
			return !slices.ContainsFunc(m.Calls, func(w chat.Call) bool { return w.Name == c.Name && same(w.Args, c.Args) })
		})
		switch {
		case strange || len(got.Calls) > len(m.Calls):
			o.wrong = append(o.wrong, fmt.Sprintf("%q: %s", raw, callsText(got.Calls)))
		case len(got.Calls) < len(m.Calls):
			o.missed++
			o.why = fmt.Sprintf("missed %q\n%s", raw, found.Lines)
		case got.Text.String() != m.Content || v.thinks[0] != "" && got.Reasoning.String() != m.Reasoning:
			o.text++
			o.why = fmt.Sprintf("text %q, thought %q of %q\n%s", got.Text.String(), got.Reasoning.String(), raw, found.Lines)
		default:
			o.right++
		}
	}
	for _, m := range hostile(v) {
		o.hostile++
		raw := v.reply(m) + strings.TrimSpace(v.end)
		got, err := read(f, raw, drawnTools)
		must.OK(t, err)
		for _, c := range got.Calls {
			if c.Name != m.Calls[0].Name || !same(c.Args, m.Calls[0].Args) {
				o.wrong = append(o.wrong, fmt.Sprintf("%q: %s\n%s", raw, callsText(got.Calls), found.Lines))
			}
		}
		if len(got.Calls) == 1 {
			o.kept++
		}
	}
	o.read = o.missed+o.text+len(o.wrong) == 0
	return o
}

// TestInventedTemplates derives from templates that a program made up. Seeds from 1 on were looked
// at while the derivation was written, those from 100001 on were not, but for 100032 and 100152.
func TestInventedTemplates(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of templates")
	}
	n := 200
	if s := os.Getenv("TOOLNORM_TEMPLATES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for _, set := range []struct {
		name   string
		from   uint64
		invent func(uint64) *invented
	}{{"looked at", 1, invent}, {"held out", 100001, invent}, {"rare", 1, inventRare}} {
		reads, prompts, missed, text, wrong, hostile, kept := 0, 0, 0, 0, 0, 0, 0
		for i := range n {
			v := set.invent(set.from + uint64(i))
			o := tried(t, v)
			hostile, kept = hostile+o.hostile, kept+o.kept
			missed, text, wrong = missed+o.missed, text+o.text, wrong+len(o.wrong)
			for _, w := range o.wrong {
				t.Errorf("%s: wrong call %s", v.about, w)
			}
			switch {
			case o.read:
				reads++
			case o.prompt:
				prompts++
			}
			if !o.read && set.from == 1 {
				t.Logf("%s: %s", v.about, o.why)
			}
		}
		if least := map[string]int{"looked at": 95, "held out": 95, "rare": 85}[set.name]; reads*100 < least*n {
			t.Errorf("%s: %d of %d are read, want %d in 100", set.name, reads, n, least)
		}
		t.Logf("%s: %d of %d read, %d by prompt, replies with calls missed %d, with text otherwise %d, wrong calls %d; of %d replies with hostile values %d calls read", set.name, reads, n, prompts, missed, text, wrong, hostile, kept)
	}
}

// TestAFenceOfItsOwnStandsBehindText has templates whose calls stand in a fence with a label of its
// own, right behind the text: "I look that up.```moba⏎…". Those were code, and every call behind a
// text was lost.
func TestAFenceOfItsOwnStandsBehindText(t *testing.T) {
	for _, v := range []*invented{invent(700027), inventRare(50056)} {
		if o := tried(t, v); !o.read {
			t.Errorf("%s: %s, wrong calls %v", v.about, o.why, o.wrong)
		}
	}
}
