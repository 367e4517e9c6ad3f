package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine"
)

// claudeSizes are the tools of a first request of Claude Code 2.1.330, with the bytes of their
// descriptions and of their schemas' texts, as they were captured. All in all the request has 49
// KB.
var claudeSizes = []struct {
	name              string
	described, schema int
}{
	{"Agent", 3225, 1952}, {"Bash", 2110, 1750}, {"Edit", 360, 552}, {"ListAgents", 1433, 472}, {"Read", 790, 1071}, {"ReportFindings", 574, 1796},
	{"ScheduleWakeup", 3396, 1392}, {"Skill", 1417, 327}, {"ToolSearch", 952, 406}, {"Workflow", 3496, 2107}, {"DeferredToolPlaceholder", 83, 33}, {"Write", 240, 348},
}

// claudeRequest is such a request: a system text of three parts, the user's question among
// reminders, and 9 KB about the surroundings as a system message behind it.
func claudeRequest(t *testing.T) string {
	t.Helper()
	fill := func(n int) string { return strings.Repeat("This is one more rule of theirs. ", n/33+1)[:n] }
	type object = map[string]any
	text := func(s string) object {
		return object{"type": "text", "text": s, "cache_control": object{"type": "ephemeral"}}
	}
	var tools []object
	for _, s := range claudeSizes {
		tool := object{"name": s.name, "description": fill(s.described), "input_schema": object{
			"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
			"properties": object{"target": object{"type": "string", "description": fill(s.schema)}}, "required": []string{"target"},
		}}
		if s.name == "DeferredToolPlaceholder" {
			tool["defer_loading"] = true
		}
		tools = append(tools, tool)
	}
	body, err := json.Marshal(object{
		"model": "claude-opus-5-5", "max_tokens": 128000, "stream": true, "thinking": object{"type": "adaptive", "display": "omitted"},
		"context_management": object{"edits": []object{{"type": "clear_thinking_20251015", "keep": "all"}}}, "output_config": object{"effort": "medium"},
		"metadata": object{"user_id": "u"}, "tools": tools,
		"system": []object{text("x-anthropic-billing-header: cc_version=2.1.330"), text("You are an agent."), text(fill(7100))},
		"messages": []object{
			{"role": "user", "content": []object{text("<system-reminder>" + fill(500) + "</system-reminder>"), text("Read the notes, please.")}},
			{"role": "system", "content": []object{text("# Environment\n" + fill(9400))}},
		},
	})
	if err != nil || len(body) < 35_000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	return string(body)
}

// small is an Ollama whose one model has a small window. A token is three bytes of the prompt, and
// a prompt that does not fit is refused with its count.
type small struct {
	window int
	prompt string // the last one that was taken
}

func (o *small) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/tags":
		io.WriteString(w, `{"models":[{"name":"hermes:latest","digest":"sha:1"}]}`)
	case "/api/ps":
		io.WriteString(w, `{"models":[]}`)
	case "/api/show":
		fmt.Fprintf(w, `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"x","x.context_length":%d}}`, o.window)
	case "/api/chat":
		json.NewEncoder(w).Encode(map[string]any{"done": true, "_debug_info": map[string]string{"rendered_template": string(body)}})
	case "/api/generate":
		var q struct{ Prompt string }
		json.Unmarshal(body, &q)
		if tokens := len(q.Prompt) / 3; tokens > o.window {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":"{\"error\":{\"code\":400,\"message\":\"request (%d tokens) exceeds the available context size (%d tokens), try increasing it\"}}"}`, tokens, o.window)
			return
		}
		o.prompt = q.Prompt
		text, _ := json.Marshal("<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"target\": \"notes\"}}\n</tool_call>")
		fmt.Fprintf(w, `{"response":%s,"done":false}`+"\n"+`{"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":9}`+"\n", text, len(q.Prompt)/3)
	}
}

// TestALargeRequestSurvivesASmallWindow sends what Claude Code does to models with windows in which
// it does not fit.
func TestALargeRequestSurvivesASmallWindow(t *testing.T) {
	for _, tt := range []struct {
		window, budget int
		told           string
	}{
		{32768, 0, ""},
		{32768, 3000, "budget of 3000: descriptions are cut to 1"},
		{16384, 0, ": descriptions are cut to"},
		{8192, 0, "budget of 2048: descriptions are cut to"},
	} {
		ollama := &small{window: tt.window}
		upstream := httptest.NewServer(ollama)
		eng := engine.New(engine.Config{Ollama: upstream.URL, Naming: engine.Naming{Aliases: map[string]string{"claude-*": "hermes"}}, Lengths: engine.Lengths{ToolBudget: tt.budget}, NamesOnly: true})
		srv := httptest.NewServer(New(Config{Model: eng, Catalog: eng, Counter: eng}))
		resp, body := do(t, "POST", srv.URL+"/v1/messages?beta=true", claudeRequest(t))
		if resp.StatusCode != 200 || !strings.Contains(body, `"name":"Read"`) || !strings.Contains(body, `"stop_reason":"tool_use"`) {
			t.Errorf("%+v: %d %s", tt, resp.StatusCode, body)
		}
		if got := resp.Header.Get("Toolnorm-Tools"); (tt.told == "") != (got == "") || !strings.Contains(got, tt.told) {
			t.Errorf("%+v: told %q", tt, got)
		}
		for _, s := range claudeSizes {
			if offered := strings.Contains(ollama.prompt, `"name":"`+s.name+`"`); offered == (s.name == "DeferredToolPlaceholder") {
				t.Errorf("%+v: %s offered: %v", tt, s.name, offered)
			}
		}
		if strings.Contains(ollama.prompt, "x-anthropic-billing-header") || !strings.Contains(ollama.prompt, "Read the notes, please.") || !strings.Contains(ollama.prompt, "# Environment") {
			t.Errorf("%+v: the prompt is %.300s", tt, ollama.prompt)
		}
		srv.Close()
		upstream.Close()
	}
}

// What does not fit at all is told in the words that Claude Code looks for, with a status that it
// does not repeat.
func TestAPromptThatIsTooLongIsToldInAnthropicsWords(t *testing.T) {
	ollama := &small{window: 4096}
	upstream := httptest.NewServer(ollama)
	defer upstream.Close()
	eng := engine.New(engine.Config{Ollama: upstream.URL, Naming: engine.Naming{Aliases: map[string]string{"claude-*": "hermes"}}, NamesOnly: true})
	srv := httptest.NewServer(New(Config{Model: eng, Catalog: chat.Catalog(eng)}))
	defer srv.Close()
	resp, body := do(t, "POST", srv.URL+"/v1/messages?beta=true", claudeRequest(t))
	if resp.StatusCode != 400 || !strings.Contains(body, `"type":"invalid_request_error","message":"prompt is too long: `) || !strings.Contains(body, ` tokens > 4096 maximum. `) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}
