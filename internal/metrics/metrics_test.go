package metrics

import (
	"context"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/trace"
)

// servedBy lists its models, and "fast" as an alias.
type servedBy []engine.State

func (s servedBy) States(context.Context) []engine.State { return s }

func (s servedBy) Real(name string) string { return strings.Replace(name, "fast", "qwen3", 1) }

// ours is a set of metrics with one server of so many models.
func ours(models int) *Metrics {
	m := New("v1", []chat.Reason{{Code: "quotes"}, {Code: "rewritten"}})
	box := engine.State{Name: "box", Up: true, Waiting: 3, Models: []string{"qwen3:latest"}}
	for i := range models - 1 {
		box.Models = append(box.Models, fmt.Sprint("box/", i))
	}
	m.Use(servedBy{box, {Name: "away"}})
	return m
}

// scrape returns what Prometheus reads, without comments, after the queue was counted.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	for range 500 {
		m.models.mu.Lock()
		idle := !m.models.working
		m.models.mu.Unlock()
		if idle {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("a scrape is %d: %s", w.Code, w.Body)
	}
	return regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(w.Body.String(), "")
}

// one is an exchange with everything in it.
func one(model string) *trace.Sum {
	return &trace.Sum{
		API: "chat", Model: model, Format: "hermes", Strategy: "raw", Status: 200, Calls: 2, Repairs: []string{"quotes"},
		Tokens: chat.Counts{Prompt: 100, Cached: 60, Completion: 11}, First: time.Second, FirstCall: 2 * time.Second, Total: 3 * time.Second,
	}
}

// count counts an exchange as it would be in a program.
func count(m *Metrics, s *trace.Sum) {
	m.Begin(context.Background(), s.API)
	m.End(context.Background(), s)
}

func TestAnExchangeIsCountedUnderItsModel(t *testing.T) {
	m := ours(3)
	for _, name := range []string{"qwen3", "qwen3:latest", "fast", "qwen3@agent"} {
		count(m, one(name))
	}
	rewritten := one("box/0")
	rewritten.Repairs, rewritten.Cut = []string{"quotes", "rewritten", "as-text", "never heard of"}, true
	count(m, rewritten)
	failed := one("qwen3")
	failed.Status, failed.Error, failed.First, failed.FirstCall, failed.Tokens, failed.Calls, failed.Repairs = 502, "upstream_error", 0, 0, chat.Counts{}, 0, nil
	count(m, failed)
	plain := one("qwen3")
	plain.Repairs = nil
	count(m, plain)
	count(m, &trace.Sum{API: "count_tokens", Model: "qwen3", Status: 200, Tokens: chat.Counts{Prompt: 7}})
	m.Begin(context.Background(), "messages") // and it runs
	m.Tool("get_time", false, time.Second)
	m.Tool("get_time", true, time.Second)
	m.Limited("requests")
	got := scrape(t, m)
	const of = `gen_ai_operation_name="chat",gen_ai_provider_name="box",gen_ai_request_model="qwen3:latest"`
	for _, want := range []string{
		`toolnorm_requests_total{api="chat",gen_ai_request_model="qwen3:latest",status="200"} 5`,
		`toolnorm_requests_total{api="chat",gen_ai_request_model="qwen3:latest",status="502"} 1`,
		`toolnorm_requests_total{api="count_tokens",gen_ai_request_model="",status="200"} 1`,
		`toolnorm_requests_in_flight{api="chat"} 0`, `toolnorm_requests_in_flight{api="messages"} 1`,
		`gen_ai_server_request_duration_seconds_sum{error_type="",` + of + `} 15`,
		`gen_ai_server_request_duration_seconds_count{error_type="upstream_error",` + of + `} 1`,
		`gen_ai_server_time_to_first_token_seconds_sum{` + of + `} 5`,
		`gen_ai_server_time_per_output_token_seconds_sum{` + of + `} 1`,
		`gen_ai_client_token_usage_sum{` + of + `,gen_ai_token_type="input"} 500`,
		`gen_ai_client_token_usage_sum{` + of + `,gen_ai_token_type="output"} 55`,
		`toolnorm_time_to_first_call_seconds_sum{` + of + `} 10`,
		`toolnorm_prompt_tokens_total{gen_ai_request_model="qwen3:latest",source="cache"} 300`,
		`toolnorm_prompt_tokens_total{gen_ai_request_model="qwen3:latest",source="new"} 200`,
		`toolnorm_completion_tokens_total{gen_ai_request_model="qwen3:latest"} 55`,
		`toolnorm_calls_total{gen_ai_request_model="qwen3:latest",how="as_written"} 2`,
		`toolnorm_calls_total{gen_ai_request_model="qwen3:latest",how="repaired"} 8`,
		`toolnorm_calls_total{gen_ai_request_model="box/0",how="rewritten"} 2`,
		`toolnorm_near_calls_total{gen_ai_request_model="box/0",why="as_text"} 1`,
		`toolnorm_near_calls_total{gen_ai_request_model="box/0",why="cut"} 1`,
		`toolnorm_repairs_total{code="quotes",gen_ai_request_model="qwen3:latest"} 4`,
		`toolnorm_repairs_total{code="other",gen_ai_request_model="box/0"} 2`,
		`toolnorm_replies_total{format="hermes",gen_ai_request_model="qwen3:latest",strategy="raw"} 6`,
		`toolnorm_limited_total{limit="requests"} 1`,
		`gen_ai_execute_tool_duration_seconds_count{error_type="",gen_ai_tool_name="get_time"} 1`,
		`gen_ai_execute_tool_duration_seconds_count{error_type="tool_error",gen_ai_tool_name="get_time"} 1`,
		`toolnorm_server_up{gen_ai_provider_name="box"} 1`, `toolnorm_server_up{gen_ai_provider_name="away"} 0`,
		`toolnorm_server_queue{gen_ai_provider_name="box"} 3`, `toolnorm_build_info{version="v1"} 1`,
	} {
		if !strings.Contains("\n"+got, "\n"+want+"\n") {
			t.Errorf("there is no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// TestLabelsAreBounded asks for 10,000 invented models, with all the text that a client may write,
// for more real ones than have labels, and calls as many tools.
func TestLabelsAreBounded(t *testing.T) {
	m := ours(500)
	for i := range 10_000 {
		count(m, one(fmt.Sprintf("invented\"\n%d sk-0123456789abcdef", i)))
		count(m, one(fmt.Sprint("box/", i)))
		m.Tool(fmt.Sprint("tool", i), false, time.Second)
	}
	got := scrape(t, m)
	if strings.Contains(got, "invented") || strings.Contains(got, "sk-") {
		t.Error("a label holds what a client wrote")
	}
	for label, most := range map[string]int{model: mostLabels + 2, toolName: mostLabels + 1} { // other, and empty
		values := map[string]bool{}
		for _, match := range regexp.MustCompile(label+`="([^"]*)"`).FindAllStringSubmatch(got, -1) {
			values[match[1]] = true
		}
		if len(values) > most || !values[Other] {
			t.Errorf("%s has %d values, want at most %d, and other", label, len(values), most)
		}
	}
	total := 0
	for _, match := range regexp.MustCompile(`(?m)^toolnorm_requests_total\{.*\} (\d+)`).FindAllStringSubmatch(got, -1) {
		var n int
		fmt.Sscan(match[1], &n)
		total += n
	}
	if total != 20_000 {
		t.Errorf("%d requests are counted, want 20000", total)
	}
	if n := strings.Count(got, "\n"); n > 15_000 {
		t.Errorf("a scrape has %d lines", n)
	}
}

// TestCountingCostsFewAllocations holds what BenchmarkExchange measures with the time.
func TestCountingCostsFewAllocations(t *testing.T) {
	m := ours(3)
	count(m, one("qwen3"))
	scrape(t, m)
	s := one("qwen3")
	if n := testing.AllocsPerRun(100, func() { count(m, s) }); n > 5 {
		t.Errorf("an exchange costs %v allocations", n)
	}
}

func BenchmarkExchange(b *testing.B) {
	m := ours(3)
	m.models.learn(servedBy{{Name: "box", Models: []string{"qwen3:latest"}}})
	s := one("qwen3")
	b.ReportAllocs()
	for b.Loop() {
		count(m, s)
	}
}
