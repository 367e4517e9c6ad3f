package valid

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// check says what is wrong with args, one problem a line.
func check(t *testing.T, schema, args string) string {
	t.Helper()
	var c Cache
	v, err := c.Get(json.RawMessage(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	var lines []string
	for _, p := range v.Check([]byte(args)) {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}

func TestProblemsAreToldInSentences(t *testing.T) {
	for _, c := range []struct{ schema, args, want string }{
		{`{"properties":{"days":{"type":"integer","maximum":7}}}`, `{"days":9}`, `arguments.days: want at most 7, got 9`},
		{`{"properties":{"days":{"type":"integer"}}}`, `{"days":"9"}`, `arguments.days: want integer, got string`},
		{`{"required":["city"]}`, `{}`, `arguments.city: is missing`},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":2}`, `arguments.b: is not a parameter`},
		{`{"properties":{"u":{"enum":["kg","lb"]}}}`, `{"u":"stone"}`, `arguments.u: want one of "kg", "lb", got "stone"`},
		{`{"properties":{"n":{"minimum":9007199254740993}}}`, `{"n":9007199254740992}`, `arguments.n: want at least 9007199254740993, got 9007199254740992`},
		{`{"properties":{"n":{"multipleOf":0.01}}}`, `{"n":0.125}`, `arguments.n: want a multiple of 0.01, got 0.125`},
		{`{"properties":{"l":{"items":{"type":"object","required":["odd name"]}}}}`, `{"l":[{"odd name":1},{}]}`, `arguments.l[1]["odd name"]: is missing`},
		{`{"properties":{"k":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"k":5}`, `arguments.k: want string or null, got number`},
		{`{"properties":{"k":{"anyOf":[{"enum":["a","b"]},{"type":"null"}]}}}`, `{"k":"c"}`, `arguments.k: want one of "a", "b", got "c"`},
		{`{"properties":{"s":{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"integer"}}},{"properties":{"k":{"const":"b"},"m":{"type":"integer"}}}]}}}`,
			`{"s":{"k":"b","m":"x"}}`, `arguments.s.m: want integer, got string`},
		{`{"properties":{"s":{"anyOf":[{"type":"string","minLength":9},{"type":"string","format":"date"}]}}}`, `{"s":"x"}`,
			`arguments.s: fits none of the alternatives; for one of them, want at least 9 characters, got 1`},
		{`{"properties":{"s":{"oneOf":[{"type":"integer"},{"type":"number"}]}}}`, `{"s":1}`, `arguments.s: fits alternatives 1 and 2, want exactly one`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `arguments.b: is missing, since "a" is there`},
		{`{"properties":{"a":{"propertyNames":{"maxLength":2}},"b":{}}}`, `{"a":{"abc":1},"b":{"c":1}}`, `arguments.a: the name "abc" is not allowed: want at most 2 characters, got 3`},
		{`{"properties":{"a":{"propertyNames":{"pattern":"^[a-z]"}},"b":{}}}`, `{"a":{"0":1,"b":{}},"b":{"0":1,"c":{"d":1}}}`, `arguments.a: the name "0" is not allowed: want text that matches ^[a-z], got "0"`},
		{`{"properties":{"re":{"format":"regex"}}}`, `{"re":"a(b"}`, `arguments.re: want text in the format regex, got "a(b"`},
		{`{"properties":{"re":{"format":"regex"}}}`, `{"re":"(?<=a)b"}`, ``},
		{`{"not":{"required":["a"]}}`, `{"a":1}`, `arguments: this value is ruled out`},
		{`{"unevaluatedProperties":false}`, `{"a":1}`, `arguments.a: is not allowed here`},
		{`{}`, `{"a":1,"b":{"c":2,"c":3}}`, `arguments.b.c: is there twice`},
		{`{}`, `{"a":1e9999}`, `arguments: the exponent of 1e9999 is beyond 1024`},
		{`{}`, `[1]`, `arguments: want an object, got [1]`},
		{`{}`, `{"a":1} x`, `arguments: something follows the JSON value`},
		{``, `{"anything":[1]}`, ``},
		{`null`, `{"anything":[1]}`, ``},
		{`true`, `{}`, ``},
	} {
		for range 5 { // the order of a map must not show
			if got := check(t, c.schema, c.args); got != c.want {
				t.Errorf("%s against %s\ngot  %s\nwant %s", c.args, c.schema, got, c.want)
				break
			}
		}
	}
}

func TestAtMostFiveProblemsAreTold(t *testing.T) {
	got := check(t, `{"additionalProperties":{"type":"null"}}`, `{"f":1,"e":1,"d":1,"c":1,"b":1,"a":1}`)
	if n := strings.Count(got, "\n") + 1; n != 5 || !strings.HasPrefix(got, "arguments.a: ") {
		t.Errorf("%d problems:\n%s", n, got)
	}
}

func TestProblemsNameThePlaceAndTheKeyword(t *testing.T) {
	var c Cache
	v, _ := c.Get(json.RawMessage(`{"properties":{"a":{"items":{"maximum":1}}},"required":["b"]}`))
	got := fmt.Sprintf("%q", v.Check([]byte(`{"a":[1,2]}`)))
	if want := `[{["a" "1"] "maximum" "arguments.a[1]: want at most 1, got 2"} {["b"] "required" "arguments.b: is missing"}]`; got != want {
		t.Errorf("Check = %s, want %s", got, want)
	}
}

func TestASchemaThatIsNoneIsTheClientsFault(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 600) + "{}" + strings.Repeat("}", 600)
	for schema, want := range map[string]string{
		`{"properties":{"a":{"multipleOf":0}}}`:                  `at /properties/a/multipleOf: want more than 0, got 0`,
		`{"properties":{"a":{"$ref":"https://x.example/s#/a"}}}`: `it refers to https://x.example/s, which is not part of it; put it under $defs`,
		`{"properties":{"a":{"$ref":"s.json"}}}`:                 `it refers to s.json, which is not part of it; put it under $defs`,
		`{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`:     `it refers to file:///etc/passwd, which is not part of it; put it under $defs`,
		`{"properties":{"a":{"$ref":"#/$defs/a"}}}`:              `it refers to #/$defs/a, which is not there`,
		`{"$ref":"#"}`: `it refers to itself without end`,
		`{"properties":{"a":{"minimum":1e9999}}}`: `the exponent of 1e9999 is beyond 1024`,
		`{"properties":`: `no JSON: unexpected EOF`,
		deep:             `nested deeper than 512 levels`,
	} {
		var c Cache
		_, err := c.Tool(chat.Tool{Name: "get_weather", Schema: json.RawMessage(schema)})
		want = `the parameters of tool "get_weather" are no valid JSON Schema: ` + want
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || f.Message != want {
			t.Errorf("%.80s: %v\nwant %s", schema, err, want)
		}
	}
}

// TestOneOddWordDoesNotSwitchOffTheCheck has what programs write and the specification does not
// take: the word is passed over, or read as it is meant, and the parameter beside it is checked.
func TestOneOddWordDoesNotSwitchOffTheCheck(t *testing.T) {
	for odd, fits := range map[string][2]string{ // a value that fits, and one that does not; empty: all fit
		`{"type":"int"}`: {`1`, `"1"`}, `{"type":"str"}`: {`"1"`, `1`}, `{"type":"STRING"}`: {`"1"`, `1`}, `{"type":"dict"}`: {`{}`, `[]`},
		`{"type":"list"}`: {`[]`, `{}`}, `{"type":"float"}`: {`1.5`, `"x"`}, `{"type":"bool"}`: {`true`, `"true"`}, `{"type":["str","none"]}`: {`null`, `1`},
		`{"type":"any"}`: {`[1]`}, `{"type":["any","null"]}`: {`[1]`}, `{"type":"file"}`: {`[1]`}, `{"type":["file","string"]}`: {`[1]`}, `{"type":[]}`: {`1`}, `{"type":null}`: {`1`},
		`{"type":"string","required":true}`: {`"1"`, `1`}, `{"type":"object","properties":[]}`: {`{}`, `1`}, `{"type":"integer","title":5,"description":[]}`: {`1`, `"1"`},
		`{"type":"integer","minimum":"1"}`: {`0`, `"1"`}, `{"type":"string","enum":"a"}`: {`"b"`, `1`}, `{"type":"string","maxLength":-1}`: {`"b"`, `1`},
		`{"type":"array","items":"string"}`: {`[1]`, `1`}, `{"type":"string","anyOf":[]}`: {`"b"`, `1`}, `{"type":"object","additionalProperties":"false"}`: {`{"x":1}`, `1`},
		`"string"`: {`[1]`}, `{"type":"object","required":["a","a"]}`: {`{"a":1}`, `{}`}, `{"type":"integer","exclusiveMinimum":"0"}`: {`0`, `"x"`},
	} {
		var c Cache
		v, err := c.Get(json.RawMessage(`{"properties":{"v":` + odd + `,"beside":{"type":"integer"}}}`))
		if err != nil {
			t.Errorf("%s: %v", odd, err)
			continue
		}
		if p := v.Check([]byte(`{"beside":"x"}`)); len(p) != 1 {
			t.Errorf("%s: the parameter beside it is not checked", odd)
		}
		if p := v.Check([]byte(`{"v":` + fits[0] + `}`)); p != nil {
			t.Errorf("%s: %s: %v", odd, fits[0], p)
		}
		if p := v.Check([]byte(`{"v":` + fits[1] + `}`)); fits[1] != "" && p == nil {
			t.Errorf("%s takes %s", odd, fits[1])
		}
	}
}

func TestPatternsThatGoCannotReadAreDroppedAndNothingBecomesStricter(t *testing.T) {
	var c Cache
	v, err := c.Get(json.RawMessage(`{"properties":{"a":{"pattern":"^(?=x)"},"b":{"not":{"pattern":"(?!y)"}},"c":{"patternProperties":{"(?<=z)":{"type":"null"}},"additionalProperties":false},
		"d":{"oneOf":[{"pattern":"(?=1)"},{"pattern":"(?=2)"}]},"e":{"pattern":"^\\u0041\\d$"}}}`))
	must.OK(t, err)
	if got := v.Check([]byte(`{"a":"q","b":"q","c":{"q":1},"d":"q","e":"A1"}`)); got != nil {
		t.Errorf("refused: %v", got)
	}
	if got := v.Check([]byte(`{"e":"B1"}`)); len(got) != 1 {
		t.Errorf("a pattern with \\u was not checked: %v", got)
	}
}

func TestWorkIsBounded(t *testing.T) {
	twice := `{"$defs":{"n":{"anyOf":[{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"required":["y"]},{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"required":["z"]}]}},"$ref":"#/$defs/n"}`
	deep := strings.Repeat(`{"x":`, 60) + "1" + strings.Repeat("}", 60)
	if got := check(t, twice, deep); !strings.Contains(got, "too large or nested too deeply") {
		t.Errorf("a check of 2^60 steps: %s", got)
	}
	laughs := `{"$ref":"#/$defs/a0","$defs":{`
	for i := range 40 {
		laughs += fmt.Sprintf(`"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	if got := check(t, laughs+`"a40":{}}}`, `{}`); !strings.Contains(got, "too large or nested too deeply") {
		t.Errorf("a check of 2^40 steps: %s", got)
	}
	chain := `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`
	if got := check(t, chain, strings.Repeat(`{"v":1,"next":`, 400)+`{"v":"x"}`+strings.Repeat("}", 400)); !strings.HasSuffix(got, "want integer, got string") {
		t.Errorf("a long list is no reason to refuse: %s", got)
	}
}

// FuzzCheck compiles any schema and checks any text: never a panic, and what is refused is said.
func FuzzCheck(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":1}}`)
	f.Add(`{"$id":"x","$defs":{"a":{"$id":"y","$anchor":"z"}},"$ref":"y#z"}`, `{}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#a","properties":{"n":{"minimum":1,"exclusiveMinimum":true}}}`, `{"n":1e400}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 1<<12 || len(args) > 1<<12 {
			return
		}
		v, err := compile([]byte(schema))
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		for _, p := range v.Check([]byte(args)) {
			if p.Text == "" || p.Keyword == "" {
				t.Fatalf("a problem without a word: %+v", p)
			}
		}
	})
}

const weather = `{"type":"object","properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1,"maximum":14},
	"units":{"enum":["metric","imperial"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":5}},"required":["city"],"additionalProperties":false}`

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		_, _ = compile([]byte(weather))
	}
}

func BenchmarkHit(b *testing.B) {
	var c Cache
	for b.Loop() {
		_, _ = c.Get(json.RawMessage(weather))
	}
}

func BenchmarkCheck(b *testing.B) {
	v, _ := compile([]byte(weather))
	args := []byte(`{"city":"Paris","days":3,"units":"metric","tags":["a","b"]}`)
	for b.Loop() {
		v.Check(args)
	}
}
