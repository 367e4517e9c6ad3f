package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/types/model"
	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/openai"
	"toolnorm/engine/upstream"
	"toolnorm/internal/test/must"
)

// forecast has a bound that no reading can cure.
var forecast = chat.Tool{Name: "forecast", Schema: json.RawMessage(`{"type":"object","required":["city","days"],"properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":7}}}`)}

// clock is another tool.
var clock = chat.Tool{Name: "clock", Schema: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`)}

// tagged is a call as the hermes family writes it.
func tagged(name, args string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, args)
}

// object is a call as a forced reply is.
func object(name, args string) string { return fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args) }

// guarding is an engine whose model writes one text after the other.
func guarding(t *testing.T, cfg Config, texts ...string) (*Engine, *fakeOllama) {
	f := &fakeOllama{caps: []model.Capability{model.CapabilityTools}, prompt: "<|im_start|>assistant\n"}
	f.then = func(_ ollama.GenerateRequest, n int) string { return texts[min(n, len(texts)-1)] }
	cfg.Format = map[string]string{"*": "hermes"}
	return f.start(t, cfg), f
}

// told is what came of a reply, in short.
func told(text string, calls []chat.Call, end *chat.Event, err error) string {
	if err != nil {
		return "error " + err.Error()
	}
	for _, c := range calls {
		text += fmt.Sprintf("[%s %s]", c.Name, c.Args)
	}
	return text + " " + end.Text + " " + strings.Join(end.Meta.Repairs, ",")
}

func TestACallThatDoesNotFitIsMendedOrShown(t *testing.T) {
	wrong, long := tagged("forecast", `{"city": "Rome", "days": 9}`), strings.Repeat("Rome ", 200)
	wrongLate := tagged("forecast", `{"city": "`+long+`", "days": 9}`)
	for name, row := range map[string]struct {
		cfg   Config
		texts []string
		want  string
		asked int
	}{
		"it fits": {Config{}, []string{"Hi. " + tagged("forecast", `{"city": "Rome", "days": 7}`)}, `Hi. [forecast {"city": "Rome", "days": 7}] stop `, 1},
		"it is written again": {Config{}, []string{"Hi.\n" + wrong, object("forecast", `{"city":"Rome","days":7}`)},
			`Hi.[forecast {"city":"Rome","days":7}] stop rewritten`, 2},
		"the second of two": {Config{}, []string{tagged("clock", `{}`) + "\n" + wrong + "\n" + tagged("clock", `{"zone": "UTC"}`), object("forecast", `{"city":"Rome","days":7}`)},
			`[clock {}][forecast {"city":"Rome","days":7}][clock {"zone": "UTC"}] stop rewritten`, 2},
		"the model is told": {Config{}, []string{wrong, object("forecast", `{"city":"Rome","days":8}`), "Sorry. " + tagged("forecast", `{"city":"Rome","days":3}`)},
			`[forecast {"city":"Rome","days":3}] stop reasked`, 3},
		"only told":     {Config{Checking: Checking{NoRewrite: true}}, []string{wrong, tagged("forecast", `{"city":"Rome","days":3}`)}, `[forecast {"city":"Rome","days":3}] stop reasked`, 2},
		"nothing helps": {Config{}, []string{wrong}, tagged("forecast", `{"city": "Rome", "days": 9}`) + ` stop as-text`, 3},
		"nothing is tried": {Config{Checking: Checking{NoRewrite: true, NoReask: true}}, []string{wrong + "\nBye."},
			tagged("forecast", `{"city": "Rome", "days": 9}`) + "\nBye." + ` stop as-text`, 1},
		"nothing is checked": {Config{Checking: Checking{Unchecked: true}}, []string{wrong}, `[forecast {"city": "Rome", "days": 9}] stop `, 1},
		"what has left stands": {Config{}, []string{wrongLate, object("forecast", `{"city":"`+long+`","days":2}`)},
			`[forecast {"city": "` + long + `","days":2}] stop rewritten`, 2},
		"what has left stands, whatever the model says then": {Config{}, []string{wrongLate, object("forecast", `{"city":"Bonn","days":2}`)},
			`[forecast {"city": "` + long + `","days":2}] stop rewritten`, 2},
		"a call without an end": {Config{}, []string{`<tool_call>{"name": "forecast", "arguments": {"city": "Rome`}, ` length truncated`, 1},
		"no rest is to be had": {Config{}, []string{wrongLate, object("forecast", `{"city":"Bonn","days":8}`)},
			`[forecast {"city": "` + long + `"] length left-open`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, row.cfg, row.texts...)
			r := user("weather?")
			r.Tools = []chat.Tool{forecast, clock}
			if got := told(collect(t, e, r)); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if len(f.generes) != row.asked {
				t.Errorf("%d generations, want %d", len(f.generes), row.asked)
			}
		})
	}
}

func TestRewritingGoesOnWhereTheCallBegan(t *testing.T) {
	e, f := guarding(t, Config{}, "Well.\n"+tagged("forecast", `{"city": "Rome", "days": 9}`), object("forecast", `{"city":"Rome","days":7}`))
	r := user("weather?")
	r.Tools = []chat.Tool{forecast}
	var counts chat.Counts
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		if ev.Kind == chat.Usage {
			counts = *ev.Meta.Usage
		}
	}
	q := f.generes[1]
	if q.Prompt != "<|im_start|>assistant\nWell.<tool_call>\n" || !strings.Contains(string(q.Format), `"forecast"`) {
		t.Errorf("prompt %q, format %s", q.Prompt, q.Format)
	}
	if counts != (chat.Counts{Prompt: 6, Completion: 8}) {
		t.Errorf("usage %+v, want that of both generations", counts)
	}
}

func TestACallThatStaysOpenCountsTheReplyAndWhatMendingCost(t *testing.T) {
	wrongLate := tagged("forecast", `{"city": "`+strings.Repeat("Rome ", 200)+`", "days": 9}`)
	e, f := guarding(t, Config{}, wrongLate, object("forecast", `{"city":"Bonn","days":8}`))
	r := user("weather?")
	r.Tools = []chat.Tool{forecast}
	var ends []chat.Event
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		if ev.Kind >= chat.Usage {
			ends = append(ends, ev)
		}
	}
	if len(f.generes) != 2 || len(ends) != 2 || ends[0].Kind != chat.Usage || ends[1].Text != chat.Length {
		t.Fatalf("%d generations, then %+v", len(f.generes), ends)
	}
	if got := *ends[0].Meta.Usage; got != (chat.Counts{Prompt: 6, Completion: 8}) {
		t.Errorf("usage %+v, want that of both generations", got)
	}
}

func TestAChoiceIsObeyed(t *testing.T) {
	both := []chat.Tool{forecast, clock}
	for name, row := range map[string]struct {
		choose func(*chat.Request)
		texts  []string
		want   string
	}{
		"required":            {func(r *chat.Request) { r.Required = true }, []string{object("clock", `{"zone":"UTC"}`)}, `[clock {"zone":"UTC"}] stop `},
		"required, not given": {func(r *chat.Request) { r.Required = true }, []string{"I would rather not."}, "error the model wrote no call"},
		"required, and wrong": {func(r *chat.Request) { r.Required = true }, []string{object("forecast", `{}`)}, "error the model wrote no call"},
		"required, mended":    {func(r *chat.Request) { r.Required = true }, []string{object("forecast", `{}`), object("forecast", `{"city":"a","days":1}`)}, `[forecast {"city":"a","days":1}] stop rewritten`},
		"named":               {func(r *chat.Request) { r.Required, r.Allowed = true, []string{"clock"} }, []string{object("clock", `{}`)}, `[clock {}] stop `},
		"allowed, and called": {func(r *chat.Request) { r.Allowed = []string{"clock"} }, []string{tagged("clock", `{}`)}, `[clock {}] stop `},
		"not allowed":         {func(r *chat.Request) { r.Allowed = []string{"clock"} }, []string{tagged("forecast", `{"city": "a", "days": 1}`)}, tagged("forecast", `{"city": "a", "days": 1}`) + " stop "},
		"one call":            {func(r *chat.Request) { r.Single = true }, []string{"Hi. " + tagged("clock", `{}`) + tagged("clock", `{}`) + "more"}, `Hi. [clock {}] stop single`},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, Config{}, row.texts...)
			r := user("weather?")
			r.Tools = both
			row.choose(r)
			if got := told(collect(t, e, r)); !strings.HasPrefix(got, row.want) {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if forced := f.generes[0].Format != nil; forced != r.Required {
				t.Errorf("forced: %v", forced)
			}
		})
	}
}

func TestARequiredCallStreams(t *testing.T) {
	long := strings.Repeat("Rome ", 400)
	e, _ := guarding(t, Config{}, object("clock", `{"zone":"`+long+`"}`))
	r := user("time?")
	r.Tools, r.Required = []chat.Tool{clock}, true
	pieces := 0
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		if ev.Kind == chat.CallArgs {
			pieces++
		}
	}
	// Records that come together are read together, some forty to a buffer of 4 KiB: of these 500
	// there are a dozen pieces at least.
	if pieces < 10 {
		t.Errorf("the arguments came in %d pieces", pieces)
	}
}

func TestAReplyOfOneCallSaysThatItsTokensAreEstimated(t *testing.T) {
	e, f := guarding(t, Config{}, tagged("clock", `{}`)+strings.Repeat(" and so on", 1000))
	r := user("time?")
	r.Tools, r.Single = []chat.Tool{clock}, true
	var kinds []chat.Kind
	for ev, err := range e.Stream(t.Context(), r) {
		must.OK(t, err)
		kinds = append(kinds, ev.Kind)
		if ev.Kind == chat.Usage && (!ev.Meta.Usage.Estimated || ev.Meta.Usage.Completion == 0) {
			t.Errorf("%+v", ev.Meta.Usage)
		}
	}
	if want := []chat.Kind{chat.CallStart, chat.CallArgs, chat.CallEnd, chat.Usage, chat.Finish}; !slices.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
	if len(f.generes) != 1 {
		t.Errorf("%d generations", len(f.generes))
	}
}

func TestAnAnswerBesideToolsHasTheWishedForm(t *testing.T) {
	form := json.RawMessage(`{"type":"object","required":["mood"],"properties":{"mood":{"enum":["good","bad"]}}}`)
	for name, row := range map[string]struct {
		text, again, want string
	}{
		"as it is":      {`{"mood":"good"}`, "", `{"mood":"good"} stop `},
		"a call":        {"Hi. " + tagged("clock", `{}`), "", `Hi. [clock {}] stop `},
		"mended":        {"Here you are:\n```json\n{'mood': 'bad',}\n```", "", `{"mood": "bad"} stop formatted`},
		"written again": {"I feel fine.", `{"mood":"good"}`, `{"mood":"good"} stop formatted`},
		"not to be had": {"I feel fine.", "Really.", `error the model's answer does not fit response_format (it is not JSON; it began "I feel fine."), and asking again did not help: simplify the schema, raise the limit of tokens, or use a larger model`},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, Config{}, row.text)
			f.reply = func(system string) string { return row.again }
			r := user("how are you?")
			r.Tools, r.Format = []chat.Tool{clock}, form
			if got := told(collect(t, e, r)); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if said := f.chats[1].Messages[0].Content; !strings.Contains(said, `"mood"`) || f.chats[1].Format != nil {
				t.Errorf("the model was told %q, format %s", said, f.chats[1].Format)
			}
		})
	}
}

func TestAForcedCallThatRunsOnIsBounded(t *testing.T) {
	e, f := guarding(t, Config{}, object("clock", `{"zone":"`+strings.Repeat("a", 100)), object("clock", `{"zone":"UTC"}`))
	f.end = "length"
	r := user("time?")
	r.Tools, r.Required, r.Hold = []chat.Tool{clock}, true, adapters.HoldCall
	if got := told(collect(t, e, r)); got != `[clock {"zone":"UTC"}] stop rewritten` {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(string(f.generes[1].Format), `"maxLength"`) || strings.Contains(string(f.generes[0].Format), `"maxLength"`) {
		t.Errorf("formats %s and %s", f.generes[0].Format, f.generes[1].Format)
	}
}

// TestAChoiceIsObeyedAtEveryKindOfServer has a llama-server continue the prompt, another server
// answer in a form, and OpenAI itself choose.
func TestAChoiceIsObeyedAtEveryKindOfServer(t *testing.T) {
	native := []string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"clock","arguments":"{}"}}]},"finish_reason":null}]}`}
	for name, row := range map[string]struct {
		server *fakeOpenAI
		strict bool
		field  string // of the last request
		want   string // its beginning
	}{
		"llama-server": {&fakeOpenAI{template: "p {tools}", text: object("clock", "{}")}, false, "json_schema", `{"type":"object"`},
		"vLLM":         {&fakeOpenAI{text: object("clock", "{}")}, false, "response_format", `{"type":"json_schema"`},
		"OpenAI":       {&fakeOpenAI{native: native}, true, "tool_choice", `{"type":"function","function":{"name":"clock"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := row.server.start(t, Config{}, upstream.KindOpenAI)
			e.servers[len(e.servers)-1].backend.(*openai.Backend).Strict = row.strict
			r := atBox("time?", clock, forecast)
			r.Required, r.Allowed = true, []string{"clock"}
			if got := told(collect(t, e, r)); got != "[clock {}] stop " {
				t.Errorf("got %s", got)
			}
			if sent := string(row.server.last[row.field]); !strings.HasPrefix(sent, row.want) {
				t.Errorf("%s is %s, want %s…", row.field, sent, row.want)
			}
		})
	}
}

func TestASchemaThatCannotBeUsedIsTold(t *testing.T) {
	odd := chat.Tool{Name: "forecast", Schema: json.RawMessage(`{"properties":{"days":{"$ref":"other.json"}}}`)}
	var log bytes.Buffer
	e, _ := guarding(t, Config{Log: zerolog.New(&log)}, tagged("forecast", `{"days": 1}`), tagged("forecast", `{"days": 1}`))
	for range 2 {
		r := user("weather?")
		r.Tools = []chat.Tool{odd}
		notes := map[string]string{}
		o := &chat.Observer{OnNote: func(word, text string) { notes[word] = text }}
		if got := told(collectWith(t, e, r, o)); !strings.HasPrefix(got, `[forecast {"days": 1}] stop`) {
			t.Errorf("got %s", got)
		}
		if text := notes["Unchecked"]; !strings.Contains(text, "forecast") || !strings.Contains(text, "other.json") {
			t.Errorf("the client is told %q", text)
		}
	}
	if n := strings.Count(log.String(), `"level":"warn"`); n != 1 {
		t.Errorf("%d warnings in\n%s", n, log.String())
	}
}

// TestNoDateIsMadeUp has a model write a day that does not exist: held to the format it would write
// another one.
func TestNoDateIsMadeUp(t *testing.T) {
	for name, row := range map[string]struct {
		required, want string
		asked          int
	}{
		"optional": {`"what"`, `[plan {"what": "tea"}] stop dropped`, 1},
		"required": {`"what","due"`, `[plan {"what":"tea","due":"4235-02-12"}] stop rewritten`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, Config{}, tagged("plan", `{"what": "tea", "due": "2027-02-31"}`), object("plan", `{"what":"tea","due":"4235-02-12"}`))
			r := user("tea")
			r.Tools = []chat.Tool{{Name: "plan", Schema: json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"},"due":{"type":"string","format":"date"}},"required":[` + row.required + `]}`)}}
			if got := told(collect(t, e, r)); got != row.want || len(f.generes) != row.asked {
				t.Errorf("got %s after %d generations, want %s after %d", got, len(f.generes), row.want, row.asked)
			}
		})
	}
}

// TestOneOfTwoValuesIsMeant has a model write a member twice: what is written anew can be one of
// both alone.
func TestOneOfTwoValuesIsMeant(t *testing.T) {
	for args, want := range map[string]string{
		`{"city": "Ghent", "days": 2, "city": "Bruges"}`:     `"city":{"enum":["Ghent","Bruges"]}`,
		`{"city": "Ghent", "days": 2, "days": 5, "days": 2}`: `"days":{"enum":[2,5]}`,
	} {
		e, f := guarding(t, Config{}, tagged("forecast", args), object("forecast", `{"city":"Ghent","days":2}`))
		r := user("weather")
		r.Tools = []chat.Tool{forecast}
		if got := told(collect(t, e, r)); !strings.Contains(got, "rewritten") || !strings.Contains(string(f.generes[1].Format), want) {
			t.Errorf("%s: got %s, held to %s", args, got, f.generes[1].Format)
		}
	}
}

func TestAMissingCallSaysWhatWasWritten(t *testing.T) {
	e, _ := guarding(t, Config{}, "I would rather tell you a joke.")
	r := user("weather")
	r.Tools, r.Required = []chat.Tool{forecast}, true
	if got := told(collect(t, e, r)); !strings.Contains(got, "tool_choice wants one") || !strings.Contains(got, "I would rather tell you a joke.") {
		t.Errorf("got %s", got)
	}
}

// TestACallWithTwoReadingsIsWrittenAgain: none of the readings runs, and the model is held to a
// call of the tool, or told. Where that does not help the text is shown as it was.
func TestACallWithTwoReadingsIsWrittenAgain(t *testing.T) {
	move := chat.Tool{Name: "move", Schema: json.RawMessage(`{"properties":{"n":{"type":"object","properties":{"a":{"type":"array"},"m":{"type":"string"}}},"m":{"type":"string"}}}`)}
	doubtful := "<tool_call>\n{\"name\": \"move\", \"arguments\": {\"n\": {\"a\": [\"x\"}, \"m\": \"y\"}}\n</tool_call>"
	for name, row := range map[string]struct {
		cfg   Config
		texts []string
		want  string
		asked int
	}{
		"it is written again": {Config{}, []string{"Hi.\n" + doubtful, object("move", `{"m":"y"}`)}, `Hi.[move {"m":"y"}] stop closers,two-readings,rewritten`, 2},
		"the model is told":   {Config{Checking: Checking{NoRewrite: true}}, []string{doubtful, tagged("move", `{"m": "y"}`)}, `[move {"m": "y"}] stop closers,two-readings,reasked`, 2},
		"what follows stays":  {Config{}, []string{doubtful + "\n" + tagged("move", `{"m": "z"}`), object("move", `{"m":"y"}`)}, `[move {"m":"y"}][move {"m": "z"}] stop closers,two-readings,rewritten`, 2},
		"nothing helps":       {Config{}, []string{doubtful + "\nBye."}, doubtful + "\nBye. stop closers,two-readings,as-text", 3},
		"nothing is tried":    {Config{Checking: Checking{NoRewrite: true, NoReask: true}}, []string{doubtful}, doubtful + " stop closers,two-readings", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, row.cfg, row.texts...)
			r := user("move it")
			r.Tools = []chat.Tool{move}
			if got := told(collect(t, e, r)); got != row.want || len(f.generes) != row.asked {
				t.Errorf("%d generations, got  %s\nwant %d, %s", len(f.generes), got, row.asked, row.want)
			}
		})
	}
}
