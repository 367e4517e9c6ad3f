package adapters

import (
	"strings"
	"testing"

	"toolnorm/chat"
)

// formTools are offered where calls of invented forms are read.
var formTools = []chat.Tool{
	{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"opts":{"type":"object"},"tags":{"type":"array","items":{"type":"string"}}},"required":["city"]}`)},
	{Name: "get_time", Schema: []byte(`{"type":"object","properties":{}}`)},
	{Name: "sum_up", Schema: []byte(`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"array","items":{"type":"number"}}},"any":{"type":"array"}}}`)},
}

// TestFormsAreReadWhole reads calls of forms that no streaming example can say, and texts that are
// none.
func TestFormsAreReadWhole(t *testing.T) {
	const city = `{"city": "Oslo"}`
	const yaml = "call <t>{name}{args}</t>\nform arg \\n{key}:{value}\nform plain \\s\nform strings json\nform values nested\n" +
		"form member \\n  {indent}{key}:{value}\nform element \\n{indent}-{value}\nform indent \\s\\s\nform step\nform block \\s|-\\n  {indent}{line}"
	for _, tt := range []struct{ form, text, want string }{
		{"call ⟦{json}⟧→{name}⟨end⟩", "⟦" + city + "⟧→get_weather⟨end⟩", "get_weather " + city},
		{"call ⟦{json}⟧→{name}⟨end⟩", "Look.\n⟦" + city + "⟧→get_weather⟨end⟩⟦{}⟧→get_time⟨end⟩", "get_weather " + city + ";get_time {}"},
		{"call @@TOOL {name}\\n{args}@@END\nform arg {key} := {value}\\n\nform strings raw", "@@TOOL get_weather\ncity := Oslo\ndays := 3\n@@END", `get_weather {"city": "Oslo", "days": 3}`},
		{"call @@TOOL {name}\\n{args}@@END\nform arg {key} := {value}\\n\nform strings raw", "@@TOOL get_weather\ncity := Oslo\n@@END\nmore\n@@END", ""},
		{"call #{name} {length}\\n{json}", "#get_weather 16\n" + city, "get_weather " + city},
		{"call #{name} {length}\\n{json}", "#get_weather 17\n" + city, ""},
		{"call (call {name}{args})\nform arg \\s:{key} {value}\nform strings json", `(call get_weather :city "Oslo" :days 3)`, `get_weather {"city": "Oslo", "days": 3}`},
		{"calls ACTIONS=[{call},\\s{call}]END\nform call {{\"kw\": {json}, \"fn\": \"{name}\"}", `ACTIONS=[{"kw": {"city": "Oslo"}, "fn": "get_weather"}, {"kw": {}, "fn": "get_time"}]END`, "get_weather " + city + ";get_time {}"},
		{yaml, "<t>sum_up\nrows:\n-\n- 1\n- 2.5\n-\n- 3</t>", `sum_up {"rows": [[1, 2.5], [3]]}`},
		{yaml, "<t>sum_up\nany:\n-\n- 1\n-\n- 3</t>", ""},
		{yaml, "<t>get_weather\ncity: |-\n  a\n  \n  b: c\nopts:\n  l:\n  -\n    k: |-\n      x\n      y\n  - 2</t>", `get_weather {"city": "a\n\nb: c", "opts": {"l": [{"k": "x\ny"}, 2]}}`},
		{"call <t>{name}({args})</t>\nform args {arg},\\s{arg}\nform arg {key}={value}\nform strings raw\nform quote '", `<t>get_weather(city='it's \n', days=3)</t>`, `get_weather {"city": "it's \\n", "days": 3}`},
		{"calls <s>{call}\\n{call}</s>\nform call {name}({args})\nform args {arg},\\s{arg}\nform arg {key}={value}\nform strings raw\nform quote '",
			`<s>get_weather(city='<s>get_weather(city='Oslo')</s>', days=3)</s>`, ""},
		{"call [[{index}]] {name} <<{json}>>", "[[1]] get_weather <<" + city + ">>", "get_weather " + city},
		{"call tools.{name}({args})\nform args {arg},\\s{arg}\nform arg {key}={value}\nform strings python\nform values python", `tools.get_weather(city='Oslo', tags=['a', 'b'], opts={'x': None})`, `get_weather {"city": "Oslo", "tags": ["a", "b"], "opts": {"x": null}}`},
	} {
		f, err := Builtin().Parse([]byte("format mine\nform " + tt.form + "\n"))
		if err != nil {
			t.Errorf("%s: %v", tt.form, err)
			continue
		}
		got := replyOf(t, f, []string{tt.text}, Options{Tools: formTools})
		var calls []string
		for _, c := range got.Calls {
			calls = append(calls, c.Name+" "+string(c.Args))
		}
		if s := strings.Join(calls, ";"); s != tt.want {
			t.Errorf("%s\n%q\ngot  %s, text %q\nwant %s", tt.form, tt.text, s, got.Text.String(), tt.want)
		}
		if tt.want != "" && !strings.Contains(tt.text, "Look") && string(f.Append(nil, got.Calls...)) != tt.text {
			t.Errorf("printed again it is %q, not %q", f.Append(nil, got.Calls...), tt.text)
		}
	}
}
