package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"

	"go.yaml.in/yaml/v3"
)

// damaging is an Ollama whose model writes what the last message says, with 60 of 90 tokens from
// its cache.
func damaging(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model    string
			Prompt   string
			Messages []struct{ Content string }
		}
		json.NewDecoder(r.Body).Decode(&q)
		if q.Model == "nosuch" {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":"model 'nosuch' not found"}`)
			return
		}
		switch r.URL.Path {
		case "/api/tags":
			io.WriteString(w, `{"models":[{"name":"qwen3:latest","digest":"sha:1"}]}`)
		case "/api/ps":
			io.WriteString(w, `{"models":[]}`)
		case "/api/version":
			io.WriteString(w, `{"version":"0.34.3"}`)
		case "/api/show":
			io.WriteString(w, `{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":40960}}`)
		case "/api/chat":
			prompt, _ := json.Marshal(q.Messages[len(q.Messages)-1].Content)
			fmt.Fprintf(w, `{"done":true,"_debug_info":{"rendered_template":%s}}`, prompt)
		case "/api/generate":
			text, _ := json.Marshal(q.Prompt)
			fmt.Fprintf(w, `{"response":%s,"done":false}`+"\n"+`{"done":true,"done_reason":"stop","prompt_eval_count":90,"prompt_eval_cached_count":60,"eval_count":5}`+"\n", text)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// busy starts a server, asks it in every way, and returns it. What it was asked is what the tests
// of this file want to be told.
func busy(t *testing.T) *Main {
	m := fresh(t, "--data", t.TempDir(), "--upstream", "box="+damaging(t), "--sample=always", "--no-rewrite", "--no-reask", "--demo=always", "--ask-before-tools", "*=never")
	const tool = `,"tools":[{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"},"days":{"type":"integer"}},"required":["zone"]}}}]`
	chat := func(path, model, said, more string, want int) {
		text, _ := json.Marshal(said)
		status, reply := ask(t, "POST", m.URL()+path, `{"model":"`+model+`","messages":[{"role":"user","content":`+string(text)+`}]`+more+`}`)
		if status != want {
			t.Fatalf("%s %s: %d %s", path, said, status, reply)
		}
	}
	call := func(args string) string {
		return "<tool_call>\n{\"name\": \"get_time\", \"arguments\": " + args + "}\n</tool_call>"
	}
	chat("/v1/chat/completions", "box/qwen3", call(`{"zone": "UTC"}`), tool, 200)
	chat("/v1/chat/completions", "box/qwen3", call(`{zone: "UTC"}`), tool+`,"stream":true`, 200)
	chat("/v1/chat/completions", "box/qwen3", call(`{"days": 3}`), tool, 200)
	chat("/v1/messages", "box/qwen3", "Hello.", `,"max_tokens":100`, 200)
	chat("/v1/chat/completions", "box/nosuch", "Hello.", "", 404)
	chat("/v1/chat/completions", "demo/hermes", "What time is it?", tool, 200)
	chat("/v1/chat/completions", "demo/hermes@agent", "What time is it in UTC?", "", 200)
	chat("/v1/chat/completions", "box/qwen3", "", `,"tools":7`, 400)
	if status, reply := ask(t, "POST", m.URL()+"/v1/messages/count_tokens", `{"model":"box/qwen3","messages":[{"role":"user","content":"hi"}]}`); status != 200 {
		t.Fatal(status, reply)
	}
	return m
}

// sample is a line of a scrape.
type sample struct {
	name   string
	labels map[string]string
	value  string
}

// scraped returns the samples of a server, once those of the model "nosuch" are there: they wait
// for its list.
func scraped(t *testing.T, m *Main) (all []sample) {
	t.Helper()
	for range 200 {
		_, text := ask(t, "GET", m.URL()+"/metrics", "")
		if all = nil; !strings.Contains(text, `gen_ai_request_model="other",status="404"`) {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for line := range strings.Lines(text) {
			if parts := regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (\S+)`).FindStringSubmatch(line); parts != nil && line[0] != '#' {
				s := sample{parts[1], map[string]string{}, parts[3]}
				for _, label := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(parts[2], -1) {
					s.labels[label[1]] = label[2]
				}
				all = append(all, s)
			}
		}
		return all
	}
	t.Fatal("the exchanges are never counted")
	return nil
}

// TestMetricsTellWhatWasAsked compares counters with what a server was asked.
func TestMetricsTellWhatWasAsked(t *testing.T) {
	all := scraped(t, busy(t))
	value := func(name string, labels ...string) string {
		for _, s := range all {
			ok := s.name == name
			for i := 0; i < len(labels); i += 2 {
				ok = ok && s.labels[labels[i]] == labels[i+1]
			}
			if ok {
				return s.value
			}
		}
		return "missing"
	}
	const model, qwen = "gen_ai_request_model", "box/qwen3:latest"
	for i, c := range []struct{ want, got string }{
		{"3", value("toolnorm_requests_total", "api", "chat", model, qwen, "status", "200")},
		{"1", value("toolnorm_requests_total", "api", "chat", model, "other", "status", "404")},
		{"1", value("toolnorm_requests_total", "api", "chat", "status", "400")},
		{"1", value("toolnorm_requests_total", "api", "messages", model, qwen, "status", "200")},
		{"2", value("toolnorm_requests_total", "api", "chat", model, "demo/hermes", "status", "200")},
		{"1", value("toolnorm_requests_total", "api", "count_tokens")},
		{"1", value("toolnorm_calls_total", model, qwen, "how", "as_written")},
		{"1", value("toolnorm_calls_total", model, qwen, "how", "repaired")},
		{"1", value("toolnorm_near_calls_total", model, qwen, "why", "as_text")},
		{"1", value("toolnorm_repairs_total", model, qwen, "code", "bare-keys")},
		{"240", value("toolnorm_prompt_tokens_total", model, qwen, "source", "cache")},
		{"120", value("toolnorm_prompt_tokens_total", model, qwen, "source", "new")},
		{"20", value("toolnorm_completion_tokens_total", model, qwen)},
		{"2", value("toolnorm_time_to_first_call_seconds_count", model, qwen)},
		{"0", value("toolnorm_requests_in_flight", "api", "chat")},
		{"0", value("toolnorm_server_up", "gen_ai_provider_name", "ollama")},
		{"1", value("toolnorm_server_up", "gen_ai_provider_name", "box")},
		{"1", value("toolnorm_server_up", "gen_ai_provider_name", "demo")},
	} {
		if c.got != c.want {
			t.Errorf("the %d. is %s, want %s", i+1, c.got, c.want)
		}
	}
}

// queries returns the expressions of the dashboard and the alerts, by where they stand.
func queries(t *testing.T) map[string]string {
	t.Helper()
	const folder = "../../examples/prometheus/"
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, RefID string }
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	text, err := os.ReadFile(folder + "dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	must.OK(t, err)
	if text, err = os.ReadFile(folder + "alerts.yml"); err == nil {
		err = yaml.Unmarshal(text, &rules)
	}
	must.OK(t, err)
	all := map[string]string{}
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			all[p.Title+" "+q.RefID] = strings.NewReplacer("$__rate_interval", "5m", "$model", ".*").Replace(q.Expr)
		}
	}
	alerts := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all[r.Alert] = r.Expr
			alerts++
		}
	}
	if alerts != 5 || len(all) < 25 {
		t.Fatalf("%d alerts, %d queries", alerts, len(all))
	}
	return all
}

var (
	selector = regexp.MustCompile(`([a-zA-Z_:]\w*)(?:\{([^}]*)\})?`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	quoted   = regexp.MustCompile(`"[^"]*"`)
	// words are those of the language, and the units of times.
	words = []string{"sum", "rate", "by", "histogram_quantile", "topk", "min", "m", "or", "vector"}
)

// TestEveryQueryFindsItsMetrics looks each metric and label of the queries up in a scrape.
func TestEveryQueryFindsItsMetrics(t *testing.T) {
	labels := map[string]map[string]bool{} // of a metric
	for _, s := range scraped(t, busy(t)) {
		if labels[s.name] == nil {
			labels[s.name] = map[string]bool{}
		}
		for name := range s.labels {
			labels[s.name][name] = true
		}
	}
	for where, query := range queries(t) {
		found := map[string]bool{} // labels of all its metrics
		for _, m := range selector.FindAllStringSubmatch(grouping.ReplaceAllString(query, ""), -1) {
			if slices.Contains(words, m[1]) {
				continue
			}
			if labels[m[1]] == nil {
				t.Errorf("%s: no metric is called %s", where, m[1])
			}
			for name := range labels[m[1]] {
				found[name] = true
			}
			for matcher := range strings.SplitSeq(quoted.ReplaceAllString(m[2], ""), ",") {
				if name := strings.TrimRight(matcher, "=!~ "); name != "" && !labels[m[1]][name] {
					t.Errorf("%s: %s has no label %s", where, m[1], name)
				}
			}
		}
		for _, by := range grouping.FindAllStringSubmatch(query, -1) {
			for name := range strings.SplitSeq(by[1], ", ") {
				if !found[name] {
					t.Errorf("%s: it groups by %s, which none of its metrics has", where, name)
				}
			}
		}
	}
}

// TestPrometheusRunsEveryQuery has a real Prometheus scrape a server, and run every query.
func TestPrometheusRunsEveryQuery(t *testing.T) {
	for _, name := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s, of the Debian package prometheus", name)
		}
	}
	if out, err := exec.Command("promtool", "check", "config", "../../examples/prometheus/prometheus.yml").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	m := busy(t)
	scraped(t, m)
	dir := t.TempDir()
	config := "scrape_configs: [{job_name: toolnorm, scrape_interval: 1s, static_configs: [{targets: ['" + strings.TrimPrefix(m.URL(), "http://") + "']}]}]\n"
	must.Write(t, filepath.Join(dir, "p.yml"), config)
	free := must.Listen(t, "127.0.0.1:0")
	at := free.Addr().String()
	free.Close()
	server := exec.CommandContext(t.Context(), "prometheus", "--config.file="+filepath.Join(dir, "p.yml"), "--storage.tsdb.path="+filepath.Join(dir, "db"), "--web.listen-address="+at)
	must.OK(t, server.Start())
	defer func() { server.Process.Kill(); server.Wait() }()
	run := func(query string) (status string, results int) {
		resp, err := http.Get("http://" + at + "/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			return err.Error(), 0
		}
		defer resp.Body.Close()
		var got struct {
			Status, Error string
			Data          struct{ Result []json.RawMessage }
		}
		json.NewDecoder(resp.Body).Decode(&got)
		return got.Status + got.Error, len(got.Data.Result)
	}
	scrapes := "count_over_time(toolnorm_build_info[5m]) > 2"
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		status, n := run(scrapes)
		if n > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(status)
		}
	}
	for where, query := range queries(t) {
		status, n := run(query)
		quiet := !strings.Contains(where, " ") || where == "Tools that failed A" // alerts, and what did not happen
		if status != "success" || n == 0 && !quiet {
			t.Errorf("%s: %s, %d results of %s", where, status, n, query)
		}
	}
}
