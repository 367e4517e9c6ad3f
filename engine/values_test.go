package engine

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Tools whose schemas forbid, want and bound.
var (
	booking = chat.Tool{Name: "create_event", Schema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string"}},"required":["title","date"],"additionalProperties":false}`)}
	writing = chat.Tool{Name: "write_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"overwrite":{"type":"boolean"}},"required":["path","content"]}`)}
	finding = chat.Tool{Name: "search", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"max_results":{"type":"integer","minimum":1,"maximum":20}},"required":["query"],"additionalProperties":false}`)}
)

func TestRightValuesAreNeverThrownAway(t *testing.T) {
	long := strings.Repeat("Review ", 100)
	for name, row := range map[string]struct {
		cfg   Config
		texts []string
		want  string
		asked int
	}{
		"surplus members": {Config{}, []string{tagged("create_event", `{"title":"Review of Q4","date":"2026-12-10","time":"14:30","place":"room B7"}`)},
			`[create_event {"title":"Review of Q4","date":"2026-12-10"}] stop surplus`, 1},
		"one in front of what streams": {Config{}, []string{tagged("create_event", `{"reason":"asked","title":"`+long+`","why":[1,{"a":"}"}],"date":"x"}`)},
			`[create_event {"title":"` + long + `","date":"x"}] stop surplus`, 1},
		"nothing else is wrong, one letter at a time": {Config{Decoding: Decoding{Hold: -1}}, []string{tagged("create_event", `{"time":"14:30","title":"a","date":"b"}`)},
			`[create_event {"title":"a","date":"b"}] stop surplus`, 1},
		"a surplus one where one is missing": {Config{}, []string{tagged("create_event", `{"title":"Review","when":"2026-12-10"}`), object("create_event", `{"title":"Other","date":"2026-12-10"}`)},
			`[create_event {"title":"Review","date":"2026-12-10"}] stop rewritten,surplus`, 2},
		"the same, and the beginning has left": {Config{}, []string{tagged("create_event", `{"title":"`+long+`","when":"2026-12-10"}`), object("create_event", `{"title":"Other","date":"2026-12-10"}`)},
			`[create_event {"title":"` + long + `","date":"2026-12-10"}] stop rewritten,surplus`, 2},
		"what is missing is asked for": {Config{}, []string{tagged("write_file", `{"path":"a.txt"}`), tagged("write_file", `{"path":"b.txt","content":"x","overwrite":true}`)},
			`[write_file {"path":"a.txt","content":"x"}] stop reasked`, 2},
		"and is all that is written anew": {Config{}, []string{tagged("write_file", `{"path": "a.txt"}`), "Which content?", object("write_file", `{"path":"README.md","content":"x","overwrite":true}`)},
			`[write_file {"path":"a.txt","content":"x"}] stop rewritten`, 3},
		"and is not made up": {Config{Checking: Checking{NoRewrite: true}}, []string{tagged("write_file", `{"path": "a.txt"}`), "Which content?"},
			tagged("write_file", `{"path": "a.txt"}`) + ` stop as-text`, 2},
		"as text it is as it was written": {Config{Checking: Checking{NoRewrite: true, NoReask: true}}, []string{tagged("create_event", `{"reason":"x","title":"a"}`)},
			tagged("create_event", `{"reason": "x", "title": "a"}`) + ` stop as-text`, 1},
		"out of bounds": {Config{}, []string{tagged("search", `{"query":"x","max_results":22}`)},
			`[search {"query":"x"}] stop dropped`, 3},
		"out of bounds, let through": {Config{Checking: Checking{OutOfBounds: BoundsPass}}, []string{tagged("search", `{"query":"x","max_results":22}`)},
			`[search {"query":"x","max_results":22}] stop out-of-bounds`, 3},
		"out of bounds, clamped": {Config{Checking: Checking{OutOfBounds: BoundsClamp}}, []string{tagged("search", `{"query":"x","max_results":22}`)},
			`[search {"query":"x","max_results":20}] stop clamped`, 3},
		"out of bounds, clamped, without another try": {Config{Checking: Checking{OutOfBounds: BoundsClamp, NoRewrite: true, NoReask: true}}, []string{tagged("search", `{"query":"`+long+`","max_results":-11}`)},
			`[search {"query":"` + long + `","max_results":1}] stop clamped`, 1},
		"out of bounds, let through, its beginning has left": {Config{Checking: Checking{OutOfBounds: BoundsPass, NoRewrite: true}}, []string{tagged("search", `{"query":"`+long+`","max_results":22}`)},
			`[search {"query":"` + long + `","max_results":22}] stop out-of-bounds`, 1},
		"of another type, which is no bound": {Config{Checking: Checking{OutOfBounds: BoundsPass, NoRewrite: true, NoReask: true}}, []string{tagged("search", `{"query":"x","max_results":"many"}`)},
			`[search {"query":"x"}] stop dropped`, 1},
		"an optional value, left out at once": {Config{Checking: Checking{Misfit: MisfitDrop}}, []string{tagged("search", `{"query":"`+long+`","max_results":"many"}`)},
			`[search {"query":"` + long + `"}] stop dropped`, 1},
		"what must be there is not left out": {Config{Checking: Checking{Misfit: MisfitDrop, NoReask: true}}, []string{tagged("create_event", `{"title": "a"}`), "No."},
			tagged("create_event", `{"title": "a"}`) + ` stop as-text`, 2},
		"as it is, when nothing helps": {Config{Checking: Checking{Misfit: MisfitPass, NoRewrite: true}}, []string{tagged("search", `{"query":"x","max_results":"many"}`)},
			`[search {"query":"x","max_results":"many"}] stop misfit`, 2},
		"another tool, when asked again": {Config{Checking: Checking{NoRewrite: true}}, []string{tagged("write_file", `{"path":"a.txt"}`), tagged("search", `{"query":"a.txt"}`)},
			`[search {"query":"a.txt"}] stop reasked`, 2},
		"a misspelt member": {Config{}, []string{tagged("create_event", `{"titles":"Review","date":"2026-12-10"}`)},
			`[create_event {"title":"Review","date":"2026-12-10"}] stop renamed`, 1},
		"the bound is kept where the model can": {Config{Checking: Checking{OutOfBounds: BoundsPass}}, []string{tagged("search", `{"query":"x","max_results":22}`), object("search", `{"query":"y","max_results":5}`)},
			`[search {"query":"x","max_results":5}] stop rewritten`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := guarding(t, row.cfg, row.texts...)
			r := user("go on")
			r.Tools = []chat.Tool{booking, writing, finding}
			if got := told(collect(t, e, r)); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if len(f.generes) != row.asked {
				t.Errorf("%d generations, want %d", len(f.generes), row.asked)
			}
		})
	}
}

// TestARewriteIsHeldToWhatFits looks at what the server is asked for.
func TestARewriteIsHeldToWhatFits(t *testing.T) {
	e, f := guarding(t, Config{}, tagged("search", `{"query":"as it was","max_results":22,"reason":"x"}`), object("search", `{"query":"as it was","max_results":2}`))
	r := user("go on")
	r.Tools = []chat.Tool{finding}
	if got := told(collect(t, e, r)); got != `[search {"query":"as it was","max_results":2}] stop rewritten` {
		t.Errorf("got %s", got)
	}
	want := `"properties":{"query":{"const":"as it was"},"max_results":{"type":"integer","minimum":1,"maximum":20}},"required":["query","max_results"],"additionalProperties":false`
	if form := string(f.generes[1].Format); !strings.Contains(form, want) {
		t.Errorf("the model is held to %s, want %s in it", form, want)
	}
}

func TestTheSameCallsAreNotMadeForEver(t *testing.T) {
	a, b, c := tagged("clock", `{"zone":"UTC"}`), tagged("clock", `{ "zone" : "CET" }`), tagged("forecast", `{"city":"Rome","days":3}`)
	sameA := `[clock {"zone":"UTC"}]`
	sameB := `[clock { "zone" : "CET" }]`
	sameC := `[forecast {"city":"Rome","days":3}]`
	for name, row := range map[string]struct {
		most int
		text string
		want string
	}{
		"one call":               {0, strings.Repeat(a+"\n", 100), sameA + " stop repeated-call,same-calls"},
		"a limit of its own":     {1, strings.Repeat(a, 3), sameA + " stop repeated-call,same-calls"},
		"no limit":               {-1, strings.Repeat(a, 30), sameA + " stop repeated-call"},
		"twice":                  {0, strings.Repeat(a, 2), sameA + " stop repeated-call"},
		"two in turns":           {0, strings.Repeat(a+b, 30), sameA + sameB + " stop repeated-call,same-calls"},
		"after others":           {0, c + strings.Repeat(b, 30), sameC + sameB + " stop repeated-call,same-calls"},
		"three times, then on":   {0, strings.Repeat(a, 3) + b + a + a, sameA + sameB + " stop repeated-call"},
		"the same, other blanks": {0, a + `<tool_call>{"name":"clock","arguments":{ "zone":"UTC" }}</tool_call>`, sameA + " stop repeated-call"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := guarding(t, Config{Loops: Loops{SameCalls: row.most}}, row.text)
			r := user("time?")
			r.Tools = []chat.Tool{forecast, clock}
			got := told(collect(t, e, r))
			if got = strings.ReplaceAll(got, "look. \n", "look."); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// TestACallThatMayBeOneTooManyLeavesWhenItIsAnother has a long one behind three that are alike.
func TestACallThatMayBeOneTooManyLeavesWhenItIsAnother(t *testing.T) {
	long := strings.Repeat("UTC ", 300)
	for _, end := range []string{"stop", "length"} {
		e, f := guarding(t, Config{}, strings.Repeat(tagged("clock", `{}`), 3)+tagged("clock", `{"zone":"`+long+`"}`)+" Well.")
		f.end = end
		r := user("time?")
		r.Tools = []chat.Tool{clock}
		if got, want := told(collect(t, e, r)), " Well.[clock {}]"+`[clock {"zone":"`+long+`"}] `+end+" repeated-call"; strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestAForcedCallThatTheServerBreaksOffIsNotAskedForAgain: what is held to a schema comes the same
// way again.
func TestAForcedCallThatTheServerBreaksOffIsNotAskedForAgain(t *testing.T) {
	for _, required := range []bool{true, false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/api/show":
				io.WriteString(w, `{"capabilities":["completion","tools"]}`)
			case "/api/chat", "/api/generate":
				io.WriteString(w, `{"message":{"content":"{\"name\":"},"response":"{\"name\":","done":false}`+"\n")
			}
		}))
		t.Cleanup(s.Close)
		r := user("time?")
		r.Tools, r.Required = []chat.Tool{clock}, required
		_, _, _, err := collect(t, New(Config{Ollama: s.URL, Strategy: map[string]string{"*": Native}}), r)
		h := http.Header{}
		fault.From(err).Advise(h)
		if again := h.Get("Retry-After") != ""; again == required {
			t.Errorf("required %t: %v, %v", required, err, h)
		}
	}
}

func TestAnIntegerIsHeldToWhatEveryReaderTakes(t *testing.T) {
	for said, want := range map[string]string{"list ten": `"maximum":9007199254740991`, "of user 1234567890123456789": `"maximum":9223372036854775806`} {
		e, f := guarding(t, Config{}, object("list", `{"limit":1}`))
		r := user(said)
		r.Tools, r.Required = []chat.Tool{{Name: "list", Schema: json.RawMessage(`{"type":"object","properties":{"limit":{"type":"integer"}},"required":["limit"]}`)}}, true
		if got := told(collect(t, e, r)); got != `[list {"limit":1}] stop ` || !strings.Contains(string(f.generes[0].Format), want) {
			t.Errorf("%s: %s, held to %s", said, got, f.generes[0].Format)
		}
	}
}

// TestTheErrorOfALongRequestNamesWhatBoundsIt has the context bounded by each of those who can.
func TestTheErrorOfALongRequestNamesWhatBoundsIt(t *testing.T) {
	for name, row := range map[string]struct {
		cfg  Config
		ctx  string // num_ctx of the request
		want string
	}{
		"the client":      {Config{Lengths: Lengths{Overflow: Refuse}}, "4096", "or ask for more: this is num_ctx of the request."},
		"a setting":       {Config{Lengths: Lengths{Overflow: Refuse, NumCtx: 4096}}, "", "or raise the setting num-ctx."},
		"another setting": {Config{Lengths: Lengths{Overflow: Refuse, MaxCtx: 8192}}, "", "or raise the setting max-ctx."},
	} {
		e := (&narrow{}).start(t, row.cfg)
		r := long(60)
		if row.ctx != "" {
			r.Options = map[string]json.RawMessage{"num_ctx": json.RawMessage(row.ctx)}
		}
		if _, _, _, err := collect(t, e, r); err == nil || !strings.HasSuffix(err.Error(), row.want) {
			t.Errorf("%s: %v, want …%s", name, err, row.want)
		}
	}
}

// TestLongValuesThatStandAreNotRepeatedByTheModel: they take the place of their beginnings.
func TestLongValuesThatStandAreNotRepeatedByTheModel(t *testing.T) {
	long, list := strings.Repeat("line ", 1000), "["+strings.Repeat(`{"a":1},`, 100)+`{"a":2}]`
	tool := chat.Tool{Name: "edit", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"list":{"type":"array","items":{"type":"object"}},"line":{"type":"integer","minimum":1}},"required":["text","list","line"]}`)}
	e, f := guarding(t, Config{}, tagged("edit", `{"text":"`+long+`","list":`+list+`,"line":0}`), object("edit", `{"text":"`+long[:400]+`…","list":[],"line":7}`))
	r := user("go on")
	r.Tools, r.Hold = []chat.Tool{tool}, adapters.HoldCall
	if got, want := told(collect(t, e, r)), `[edit {"text":"`+long+`","list":`+list+`,"line":7}] stop rewritten`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := len(f.generes[1].Format); n > 2000 {
		t.Errorf("the schema has %d bytes", n)
	}
}

func TestAMissingCallSaysWhatDidNotFit(t *testing.T) {
	e, _ := guarding(t, Config{Checking: Checking{NoRewrite: true, NoReask: true}}, tagged("create_event", `{"title": "a"}`))
	r := user("go on")
	r.Tools, r.Required = []chat.Tool{booking}, true
	_, _, _, err := collect(t, e, r)
	const want = `(the call of create_event does not fit its schema: arguments.date: is missing; the model wrote {"title": "a"})`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s in it", err, want)
	}
	r.Required = false
	if _, _, end, _ := collect(t, e, r); end == nil || !strings.Contains(end.Meta.Cause, "arguments.date: is missing") {
		t.Errorf("the end says %+v", end)
	}
}
