package engine

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// person is a schema in which each member holds a value back for another reason.
const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},` +
	`"mood":{"enum":["good","bad"]},"tags":{"type":"array","items":{"type":"string"}}},` +
	`"required":["name","age"],"additionalProperties":false}`

func TestAnAnswerWithoutToolsHasTheWishedForm(t *testing.T) {
	const good = `{"name":"Ann","age":41}`
	for name, row := range map[string]struct {
		form, text, again, want string
	}{
		"as it is":            {person, good, "", good + " stop "},
		"blanks around":       {person, "\n" + good + "\n", "", "\n" + good + "\n stop "},
		"prose and a fence":   {person, "Sure!\n```json\n{name: 'Ann', age: \"41\",}\n```\nBye!", "", `{"name": "Ann", "age": 41} stop formatted`},
		"a number as a text":  {person, `{"name":"Ann","age":"41"}`, "", good + " stop formatted"},
		"a member too many":   {person, `{"name":"Ann","age":41,"zip":"x"}`, "", good + " stop formatted"},
		"a value not allowed": {person, `{"name":"Ann","age":41,"mood":"so so"}`, `{"name":"Ann","age":41,"mood":"good"}`, `{"name":"Ann","age":41,"mood":"good"} stop formatted`},
		"a member missing":    {person, `{"name":"Ann"}`, good, good + " stop formatted"},
		"prose alone":         {person, "Her name is Ann.", good, good + " stop formatted"},
		"nothing":             {person, " ", good, good + " stop formatted"},
		"a list":              {`{"type":"array","items":{"type":"integer"}}`, `[1, "2"]`, "", `[1, 2] stop formatted`},
		"any object":          {`"json"`, "Here: {'a': 1}", "", `{"a": 1} stop formatted`},
		"not to be had":       {person, "No.", "No.", `error the model's answer does not fit response_format (it is not JSON; it began "No."), and asking again did not help: simplify the schema, raise the limit of tokens, or use a larger model`},
		"a value cut off":     {person, `{"name":"Ann","age":4`, good, good + " stop formatted"},
		"closers missing":     {person, `{"name":"Ann","age":41,"tags":["a"`, `{"name":"Ann","age":41,"tags":["a","b"]}`, `{"name":"Ann","age":41,"tags":["a","b"]} stop formatted`},
		"closers alone":       {person, `{"name":"Ann","age":41,"mood":"good"`, "No.", `{"name":"Ann","age":41,"mood":"good"} stop formatted`},
		"a text cut off":      {person, `{"name":"An`, good, good + " stop formatted"},
		"words behind it":     {person, good + "\nHave a {nice} day", "", good + " stop formatted"},
		"a word in a fence":   {`{"type":["object","null"]}`, "Here:\n```\nnull\n```", "", `null stop formatted`},
		"a reference":         {`{"$defs":{"n":{"type":"integer"}},"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"required":["a"]}`, `{"a":"7"}`, "", `{"a":7} stop formatted`},
	} {
		for _, hold := range []int{adapters.HoldCall, 0} { // a whole reply, and a stream
			t.Run(name, func(t *testing.T) {
				e, f := guarding(t, Config{}, row.text)
				asked := 0
				f.reply = func(string) string {
					if asked++; asked == 1 {
						return row.text
					}
					return row.again
				}
				r := user("who?")
				r.Format, r.Hold = json.RawMessage(row.form), hold
				if got := told(collect(t, e, r)); got != row.want {
					t.Errorf("got  %s\nwant %s", got, row.want)
				}
				if row.again == "" && asked > 1 {
					t.Errorf("%d generations", asked)
				}
			})
		}
	}
}

// TestEveryAnswerIsWholeOrAnError damages right answers at random: each reply that ends with stop
// must fit the schema, and every piece that was sent must be a part of it.
func TestEveryAnswerIsWholeOrAnError(t *testing.T) {
	const seeds = 300
	r := rand.New(rand.NewPCG(7, 31))
	whole := 0
	for range seeds {
		text := []byte(`{"name": "Ann \"the\" one", "age": 41, "mood": "good", "tags": ["a", "b c"]}`)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(text))
			switch r.IntN(4) {
			case 0:
				text = append(text[:at], text[at+1:]...)
			case 1:
				text = text[:at+1]
			case 2:
				text[at] = `"{}[],:x1`[r.IntN(9)]
			default:
				text = append([]byte("Here it is: "), text...)
			}
		}
		e, f := guarding(t, Config{}, string(text))
		f.reply = func(string) string { return string(text) }
		ask := user("who?")
		ask.Format = json.RawMessage(person)
		got, _, end, err := collect(t, e, ask)
		if err != nil {
			continue
		}
		rules, _ := e.schemas.Get(json.RawMessage(person))
		if problems := rules.Check([]byte(got)); len(problems) > 0 || end.Text != chat.Stop {
			t.Errorf("%q became %q (%s): %v", text, got, end.Text, problems)
		}
		whole++
	}
	if whole < seeds/3 {
		t.Errorf("%d of %d answers, want a third at least", whole, seeds)
	}
}

func TestAnAnswerStreamsWhileItFits(t *testing.T) {
	long := `{"name":"` + strings.Repeat("Ann ", 50) + `","age":41}`
	e, f := guarding(t, Config{}, long)
	f.reply = func(string) string { return long }
	r := user("who?")
	r.Format = json.RawMessage(person)
	pieces := 0
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		if ev.Kind == chat.Text {
			pieces++
		}
	}
	if pieces < 2 {
		t.Errorf("%d pieces of text, want the answer in several", pieces)
	}
}
