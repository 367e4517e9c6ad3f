package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/templates"
)

// recorded is a llama-server with a recorded template, whose model writes a text. What was not
// recorded, the client's own conversation, comes to a prompt that says nothing.
func recorded(t *testing.T, name, text string) *fakeOpenAI {
	t.Helper()
	all, err := templates.All()
	must.OK(t, err)
	i := slices.IndexFunc(all, func(r *templates.Recording) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no recording %s", name)
	}
	return &fakeOpenAI{template: "x", text: text, renders: func(body json.RawMessage) string {
		prompt, err := all[i].Render(fromWire(t, body), nil)
		if err != nil {
			return "probe"
		}
		return prompt
	}}
}

// fromWire is a conversation in OpenAI's form.
func fromWire(t *testing.T, body json.RawMessage) (ms []chat.Message) {
	t.Helper()
	var wire []struct {
		Role      chat.Role
		Content   string
		Reasoning string `json:"reasoning_content"`
		CallID    string `json:"tool_call_id"`
		Name      string
		Calls     []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	must.OK(t, json.Unmarshal(body, &wire))
	for _, w := range wire {
		m := chat.Message{Role: w.Role, Content: w.Content, Reasoning: w.Reasoning, CallID: w.CallID, Name: w.Name}
		for _, c := range w.Calls {
			m.Calls = append(m.Calls, chat.Call{ID: c.ID, Name: c.Function.Name, Args: []byte(c.Function.Arguments)})
		}
		ms = append(ms, m)
	}
	return ms
}

// TestTheTemplateSaysHowAModelWrites asks models whose names say nothing, and one whose name is
// wrong.
func TestTheTemplateSaysHowAModelWrites(t *testing.T) {
	const args = `{"city": "Oslo"}`
	for _, tt := range []struct{ template, model, text string }{
		{"Qwen3-Coder", "box/mystery", "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"},
		{"Kimi-K2-Thinking", "box/mystery", "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" + args + "<|tool_call_end|><|tool_calls_section_end|>"},
		{"openai-gpt-oss-120b", "box/mystery", "<|channel|>commentary to=functions.get_weather<|message|>" + args + "<|call|>"},
		{"Apertus-8B-Instruct", "box/mystery", `<|tools_prefix|>[{"get_weather": ` + args + `}]<|tools_suffix|>`},
		{"GLM-4.6", "box/my-qwen3", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"},
		{"google-gemma-4-31B-it", "box/llama3-tuned", `<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|>`},
	} {
		t.Run(tt.template, func(t *testing.T) {
			e := recorded(t, tt.template, tt.text).start(t, Config{}, upstream.KindOpenAI)
			r := atBox("the weather in Oslo?", weather)
			r.Model = tt.model
			text, calls, _, err := collect(t, e, r)
			if err != nil || text != "" || len(calls) != 1 || calls[0].Name != "get_weather" || !strings.Contains(string(calls[0].Args), `"Oslo"`) {
				t.Errorf("text %q, calls %s, %v", text, calls, err)
			}
		})
	}
}

// TestTheTemplateIsAskedOnce asks twice: the second request costs no renderings but its own.
func TestTheTemplateIsAskedOnce(t *testing.T) {
	f := recorded(t, "Qwen3-Coder", "hi")
	var log bytes.Buffer
	e := f.start(t, Config{Log: zerolog.New(&log)}, upstream.KindOpenAI)
	r := atBox("hi", weather)
	r.Model = "box/mystery"
	collect(t, e, r)
	if n := strings.Count(f.paths(), "apply-template"); n < 10 {
		t.Errorf("%d renderings at first, want those of the probes", n)
	}
	notes, observer := noting()
	collectWith(t, e, r, observer)
	if got := f.paths(); got != "apply-template completion" {
		t.Errorf("asked %q the second time", got)
	}
	if !strings.HasPrefix(notes["Template"], "calls as") {
		t.Errorf("the second request's client is told %q of how the model is read", notes)
	}
	if s := log.String(); !strings.Contains(s, `"template":"calls as`) {
		t.Errorf("the log does not say how the model is read: %s", s)
	}
}

// TestSettingsOverruleTheTemplate names the format, and then that names alone count.
func TestSettingsOverruleTheTemplate(t *testing.T) {
	f := recorded(t, "Qwen3-Coder", "hi")
	e := f.start(t, Config{Format: map[string]string{"box/mystery": "hermes"}}, upstream.KindOpenAI)
	r := atBox("hi", weather)
	r.Model = "box/mystery"
	collect(t, e, r)
	if n := strings.Count(f.paths(), "apply-template"); n > 2 {
		t.Errorf("%d renderings although the settings say the format", n)
	}
	if got := e.Plan("box/mystery").Format; got != "hermes" || adapters.Named(got) == nil {
		t.Errorf("format %q", got)
	}
}

// answering is a server that renders as render does.
type answering struct {
	backend
	render func(messages []chat.Message) (string, error)
}

func (a answering) Template(context.Context, *upstream.Order) (derive.Template, error) {
	return derive.Template{Render: func(ms []chat.Message, _ []chat.Tool) (string, error) { return a.render(ms) }}, nil
}

// TestAServerThatIsBusyHasSaidNothing asks one that is busy for all renderings or for some: nothing
// is learned of it. One that refuses has answered.
func TestAServerThatIsBusyHasSaidNothing(t *testing.T) {
	e := New(Config{Ollama: "http://127.0.0.1:1"})
	busy, refused := fault.New(fault.Busy, "busy"), fault.New(fault.Invalid, "no")
	for _, tt := range []struct {
		name    string
		model   string
		render  func([]chat.Message) (string, error)
		learned bool
	}{
		{"busy, a name that says nothing", "mystery", func([]chat.Message) (string, error) { return "", busy }, false},
		{"busy, a family's name", "qwen3", func([]chat.Message) (string, error) { return "", busy }, false},
		{"busy for some", "mystery", func(ms []chat.Message) (string, error) {
			if len(ms) > 2 {
				return "", busy
			}
			return "x", nil
		}, false},
		{"refuses", "mystery", func([]chat.Message) (string, error) { return "", refused }, true},
		{"refuses, a family's name", "qwen3", func([]chat.Message) (string, error) { return "", refused }, true},
	} {
		to := target{engine: e, server: &server{backend: answering{render: tt.render}}, observer: new(chat.Observer), name: tt.model, model: tt.model, format: adapters.Builtin().For(tt.model)}
		r, err := to.askTemplate(t.Context(), new(upstream.Order))
		if (err == nil) != tt.learned || (r != nil && err == nil) != tt.learned {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
	}
}

// TestATemplateThatIsNotReadIsPassedBy asks a model whose template writes the names of tools from
// back to front: nothing reads that, so its tools stand in the system text, and its thoughts are
// still told from its text.
func TestATemplateThatIsNotReadIsPassedBy(t *testing.T) {
	f := &fakeOpenAI{template: "x", text: "<mull>Oslo.</mull>\n" + `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>`, renders: func(body json.RawMessage) string {
		out := "probe" // the tool that shows that tools are printed
		for _, m := range fromWire(t, body) {
			out += "<|" + string(m.Role) + "|>"
			if m.Reasoning != "" {
				out += "<mull>" + m.Reasoning + "</mull>"
			}
			out += m.Content
			for _, c := range m.Calls {
				name := []byte(c.Name)
				slices.Reverse(name)
				out += "<do>" + string(name) + " " + string(c.Args) + "</do>"
			}
		}
		return out + "<|assistant|>"
	}}
	var log bytes.Buffer
	e := f.start(t, Config{Log: zerolog.New(&log), Wording: map[string]string{"*": "schemas"}}, upstream.KindOpenAI)
	r := atBox("the weather in Oslo?", weather)
	r.Model = "box/mystery"
	notes, observer := noting()
	plan := ""
	observer.OnPlan = func(format, strategy string) { plan = format + " " + strategy }
	text, calls, _, err := collectWith(t, e, r, observer)
	if err != nil || text != "" || len(calls) != 1 || string(calls[0].Args) != `{"city": "Oslo"}` {
		t.Errorf("text %q, calls %s, %v", text, calls, err)
	}
	if plan != "mystery prompt" || !strings.Contains(notes["Template"], "system text") || !strings.Contains(log.String(), "strategy prompt") {
		t.Errorf("plan %q, notes %q, log %s", plan, notes, log.String())
	}
}

// TestAParserSaysHowAModelWrites has a model whose name says nothing and whose template is a
// stranger's: the server's own reader says what it writes.
func TestAParserSaysHowAModelWrites(t *testing.T) {
	for _, tt := range []struct{ parser, text, want string }{
		{"ministral", `Sure. [TOOL_CALLS]get_weather{"city": "Oslo"}`, "mistral"},
		{"deepseek3", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, "deepseek-v3.1"},
		{"harmony", `<|channel|>commentary to=functions.get_weather<|message|>{"city": "Oslo"}<|call|>`, "harmony"},
		{"qwen3-thinking", "It is asked.\n</think>\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>", "hermes"},
		{"passthrough", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>", ""},
	} {
		f := &fakeOllama{caps: []model.Capability{model.CapabilityCompletion, model.CapabilityTools}, prompt: "<|im_start|>assistant\n",
			text: tt.text, show: api.ShowResponse{Parser: tt.parser}}
		notes, observer := noting()
		e := f.start(t, Config{})
		e.cfg.NamesOnly = false
		text, calls, _, err := collectWith(t, e, aboutWeather("Oslo?"), observer)
		if err != nil || len(calls) != 1 || string(calls[0].Args) != `{"city": "Oslo"}` || strings.Contains(text, "asked") {
			t.Errorf("%s: text %q, calls %v, %v", tt.parser, text, calls, err)
		}
		if says := notes["Template"]; tt.want != "" && !strings.HasPrefix(says, "calls as "+tt.want+" ") {
			t.Errorf("%s: %q", tt.parser, says)
		}
	}
}
