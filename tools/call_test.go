package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/internal/test/must"
)

// with is a registry of one tool, f, that does what call does.
func with(t testing.TB, o Options, call func(context.Context, json.RawMessage) (Result, error)) *Registry {
	t.Helper()
	r := New(o)
	must.OK(t, r.Set("test", Tool{Name: "f", Call: call}))
	return r
}

// echo gives the arguments back.
func echo(_ context.Context, args json.RawMessage) (Result, error) { return JSONOf(args) }

func TestArgumentsAreAnObject(t *testing.T) {
	r := with(t, Options{}, echo)
	for args, want := range map[string]string{
		"":            `{}`,
		" null\n":     `{}`,
		`{"a": [1]}`:  `{"a":[1]}`,
		`{"a":"<&>"}`: `{"a":"<&>"}`,
		`[1]`:         "the arguments of f must be a JSON object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage",
		`{"a"`:        "the arguments of f must be a JSON object: unexpected end of JSON input",
	} {
		res := r.Call(t.Context(), "f", json.RawMessage(args))
		if res.Text() != want || res.IsError != !strings.HasPrefix(want, "{") {
			t.Errorf("Call(%q) = %q, want %q", args, res.Text(), want)
		}
	}
}

func TestArgumentsAreFitted(t *testing.T) {
	fit := func(tool Tool, args json.RawMessage) (json.RawMessage, error) {
		if string(args) == `{}` {
			return nil, errors.New(tool.Name + " needs a")
		}
		return json.RawMessage(`{"a":1}`), nil
	}
	r := with(t, Options{Fit: fit}, echo)
	if res := r.Call(t.Context(), "f", nil); !res.IsError || res.Text() != "f needs a" {
		t.Errorf("Call = %q", res.Text())
	}
	if res := r.Call(t.Context(), "f", json.RawMessage("a=1")); res.IsError || res.Text() != `{"a":1}` {
		t.Errorf("Call = %q", res.Text())
	}
}

func TestAnUnknownNameIsToldWhatComesNear(t *testing.T) {
	r := New(Options{})
	must.OK(t, r.Set("test", named("search_docs"), named("get_employee_info"), named("get_all_employees"), named("get_employee_age"), named("get_employee_name")))
	for name, want := range map[string]string{
		"search_docs":             "search_docs",
		"k3j9ab_search_docs":      "search_docs",
		"k3j9ab_f":                `there is no tool "k3j9ab_f"`,
		"K3J9AB_search_docs":      `there is no tool "K3J9AB_search_docs"; did you mean search_docs?`,
		"Search_Documents":        `there is no tool "Search_Documents"; did you mean search_docs?`,
		"get_employee":            `there is no tool "get_employee"; did you mean get_employee_info, get_employee_age, get_employee_name?`,
		"날씨":                      `there is no tool "날씨"`,
		"":                        `there is no tool ""`,
		strings.Repeat("x", 1000): "there is no tool of such a long name",
	} {
		if got := r.Call(t.Context(), name, nil).Text(); got != want {
			t.Errorf("Call(%.40q) = %q, want %q", name, got, want)
		}
	}
}

func TestNamesInALineAreReadAsTheyAreMeant(t *testing.T) {
	r := New(Options{})
	must.OK(t, r.Replace("test", map[string]string{"off": "off is off"}, named("calculate_vacation_days"), named("time.get_current_time"), named("a.echo"), named("b.echo"), named("c.echo"), named("evil.audio"), named("evil.icons"), named("evil.off")))
	for name, want := range map[string]string{
		"time.get_current_time":  "time.get_current_time",
		"time__get_current_time": "time.get_current_time",
		"get_current_time":       "time.get_current_time",
		"audio":                  "evil.audio",
		"off":                    "off is off", // what is known and not offered is not another's
		"echo":                   `there is no tool "echo"; did you mean a.echo, b.echo, c.echo?`,
		"calculate_vacation":     `there is no tool "calculate_vacation"; did you mean calculate_vacation_days?`,
		"get_curent_time":        `there is no tool "get_curent_time"; did you mean time.get_current_time?`,
	} {
		if got := r.Call(t.Context(), r.Snapshot().Meant(name), nil).Text(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAPanicIsAResult(t *testing.T) {
	var told string
	o := Options{Panicked: func(tool string, value any, stack []byte) {
		told = tool + " " + value.(string)
		if !strings.Contains(string(stack), "TestAPanicIsAResult") {
			t.Errorf("the stack does not say where: %s", stack)
		}
	}}
	res := with(t, o, func(context.Context, json.RawMessage) (Result, error) { panic("secret") }).Call(t.Context(), "f", nil)
	if !res.IsError || res.Text() != "f failed inside; the log says where" || told != "f secret" {
		t.Errorf("Call = %q, told %q", res.Text(), told)
	}
}

func TestACallEndsWithItsTime(t *testing.T) {
	for name, call := range map[string]func(context.Context, json.RawMessage) (Result, error){
		"that heeds its context": func(ctx context.Context, _ json.RawMessage) (Result, error) {
			<-ctx.Done()
			return Result{}, errors.New("read: interrupted")
		},
		"that does not": func(context.Context, json.RawMessage) (Result, error) {
			time.Sleep(time.Hour)
			return TextOf("late"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, r := time.Now(), with(t, Options{Timeout: 3 * time.Second}, call)
				if got := r.Call(t.Context(), "f", nil); !got.IsError || got.Text() != "f took longer than its 3s" || time.Since(start) != 3*time.Second {
					t.Errorf("Call = %q after %v", got.Text(), time.Since(start))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if got := r.Call(ctx, "f", nil); !got.IsError || got.Text() != "the call of f was cancelled" {
					t.Errorf("Call = %q", got.Text())
				}
				time.Sleep(2 * time.Hour) // until the tools are done, too
			})
		})
	}
}

func TestATypedFunctionReadsItsArguments(t *testing.T) {
	r := with(t, Options{}, Typed(func(_ context.Context, in struct{ A, B float64 }) (struct{ Quotient float64 }, error) {
		if in.B == 0 {
			return struct{ Quotient float64 }{}, errors.New("b must not be 0")
		}
		return struct{ Quotient float64 }{in.A / in.B}, nil
	}))
	for args, want := range map[string]string{
		`{"a": 1, "b": 4}`: `{"Quotient":0.25}`,
		`{"a": 1}`:         "b must not be 0",
		`{"a": "x"}`:       "the arguments do not fit: json: cannot unmarshal string into Go struct field .A of type float64",
	} {
		if got := r.Call(t.Context(), "f", json.RawMessage(args)); got.Text() != want || got.IsError == (got.Structured != nil) {
			t.Errorf("Call(%s) = %+v, want %q", args, got, want)
		}
	}
}

func TestAToolsOwnTimeWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		slow := Tool{Name: "slow", Timeout: time.Hour, Call: func(context.Context, json.RawMessage) (Result, error) {
			time.Sleep(59 * time.Minute)
			return TextOf("done"), nil
		}}
		must.OK(t, r.Set("test", slow))
		if got := r.Call(t.Context(), "slow", nil); got.Text() != "done" {
			t.Errorf("Call = %q", got.Text())
		}
	})
}

func TestWhatIsNotPassedOn(t *testing.T) {
	large := Result{Content: []Part{{Text: strings.Repeat("x", 600)}, {Kind: Image, Data: make([]byte, 500)}}}
	for want, res := range map[string]Result{
		"the result is 1100 bytes, more than the 1000 that are passed on; ask for less": large,
		"f gave a result that is no JSON":                                               {Structured: json.RawMessage("{'a'}")},
	} {
		r := with(t, Options{MaxResult: 1000}, func(context.Context, json.RawMessage) (Result, error) { return res, nil })
		if got := r.Call(t.Context(), "f", nil); !got.IsError || got.Text() != want {
			t.Errorf("Call = %.80q, want %q", got.Text(), want)
		}
	}
}

func TestARunningCallReports(t *testing.T) {
	var got []string
	ctx := WithReporter(t.Context(), Reporter{
		Progress: func(done, total float64, message string) { got = append(got, message) },
		Log:      func(level, message string) { got = append(got, level+" "+message) },
	})
	call := func(ctx context.Context, _ json.RawMessage) (Result, error) {
		Progress(ctx, 1, 2, "half")
		Log(ctx, "info", "well")
		return TextOf("done"), nil
	}
	r := with(t, Options{}, call)
	r.Call(ctx, "f", nil)
	if text := r.Call(WithReporter(t.Context(), Reporter{}), "f", nil).Text(); text != "done" || strings.Join(got, ", ") != "half, info well" {
		t.Errorf("%q, reported %q", text, got)
	}
}

// FuzzCall: whatever is called with whatever, the outcome is an object with either a result or an
// error, and a tool runs only with an object.
func FuzzCall(f *testing.F) {
	r := with(f, Options{Timeout: time.Minute}, func(_ context.Context, args json.RawMessage) (Result, error) {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(args, &object); err != nil || object == nil {
			panic("no object")
		}
		if why, ok := object["fail"]; ok {
			return Result{}, errors.New(string(why))
		}
		return Result{Structured: object["give"], Content: []Part{{Text: string(object["text"])}}}, nil
	})
	f.Add("f", `{"give": {"a": 1}}`)
	f.Add("abc123_f", `{"fail": "\u0000"}`)
	f.Add("g", `[`)
	f.Add("f", `{"text": "x"}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		res := r.Call(t.Context(), name, json.RawMessage(args))
		if strings.Contains(res.Text(), "failed inside") && !strings.Contains(args, "failed inside") {
			t.Fatalf("Call(%q, %q) ran with no object", name, args)
		}
		var out map[string]json.RawMessage
		text := OutcomeOf(res).JSON()
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("outcome %q: %v", text, err)
		}
		_, result := out["result"]
		_, wrong := out["error"]
		if success := string(out["success"]) == "true"; success != result || success == wrong || success == res.IsError {
			t.Fatalf("outcome %s of %+v", text, res)
		}
	})
}

func TestAToolMayRefuseInItsOwnWords(t *testing.T) {
	r := New(Options{Fit: func(Tool, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("the validator's words") }})
	own := Tool{
		Name: "own", Schema: json.RawMessage(`{"type":"object"}`),
		Refuse: func(_ context.Context, args json.RawMessage) (Result, bool) {
			switch string(args) {
			case `{"n":51}`:
				return Failure("n exceeds limit (50)"), true
			case `{"n":"panic"}`:
				panic("on purpose")
			}
			return Result{}, false
		},
		Call: func(context.Context, json.RawMessage) (Result, error) { return TextOf("called"), nil },
	}
	must.OK(t, r.Set("test", own))
	for args, want := range map[string]string{`{"n":51}`: "n exceeds limit (50)", `{"n":1}`: "the validator's words", `{"n":"panic"}`: "the validator's words"} {
		if got := r.Call(t.Context(), "own", json.RawMessage(args)); got.Text() != want || !got.IsError {
			t.Errorf("%s: %q, want %q", args, got.Text(), want)
		}
	}
}
