// Package metrics counts exchanges, tools and model servers for Prometheus, with the names of
// OpenTelemetry's conventions for generative AI where there are any. The number of labels is
// bounded, whatever clients write: models that no server has listed become "other", and no label
// contains a key, a user or a text.
//
//	metrics.go  the metrics, and what an exchange and a tool's call add to them
//	models.go   under which model and server an exchange is counted
//	servers.go  the state of the model servers, at a scrape
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"toolnorm/chat"
	"toolnorm/internal/trace"
)

// Other is the label for unknown names, and for further names when a label has reached its bound.
const Other = "other"

// The labels that OpenTelemetry names; its dots are underscores in Prometheus.
const (
	operation = "gen_ai_operation_name"
	provider  = "gen_ai_provider_name"
	model     = "gen_ai_request_model"
	tokenType = "gen_ai_token_type"
	errorType = "error_type"
	toolName  = "gen_ai_tool_name"
)

// The buckets of the histograms. They are those of the conventions, with longer times because a
// local model may take minutes.
var (
	durations = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640}
	perToken  = []float64{.001, .0025, .005, .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1,
		2.5}
	tokens = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144}
)

// Metrics counts exchanges and calls. It may be used by several goroutines at once.
type Metrics struct {
	registry *prometheus.Registry
	models   models
	servers  servers

	running  *prometheus.GaugeVec     // by api
	requests *prometheus.CounterVec   // by api, model and status
	duration *prometheus.HistogramVec // by operation, server, model and error
	first    *prometheus.HistogramVec // by operation, server and model, as are all that follow
	perToken *prometheus.HistogramVec
	usage    *prometheus.HistogramVec // by the token's type as well
	call     *prometheus.HistogramVec
	prompt   *prometheus.CounterVec // by model and source
	written  *prometheus.CounterVec // by model
	calls    *prometheus.CounterVec // by model and by what made the calls right
	nearly   *prometheus.CounterVec // by model and why
	repairs  *prometheus.CounterVec // by model and code
	replies  *prometheus.CounterVec // by model, format and strategy
	limited  *prometheus.CounterVec // by limit
	tool     *prometheus.HistogramVec

	codes map[string]bool // the known codes of repairs
	tools labels
}

var _ trace.Counter = (*Metrics)(nil)

// New returns metrics without any counts. Repairs of calls are counted by their code, with the
// codes of reasons as the possible labels.
func New(version string, reasons []chat.Reason) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), codes: map[string]bool{}}
	for _, r := range reasons {
		m.codes[r.Code] = true
	}
	m.running = m.gauge("toolnorm_requests_in_flight", "Requests that are being answered.", "api")
	m.requests = m.counter("toolnorm_requests_total",
		"Requests that were answered, by the API and the HTTP status; 499: the client went away.",
		"api", model, "status")
	m.duration = m.histogram("gen_ai_server_request_duration_seconds",
		"Time from a request to the end of its reply.", durations, operation, provider, model,
		errorType)
	m.first = m.histogram("gen_ai_server_time_to_first_token_seconds",
		"Time from a request to the first token of its reply.", durations, operation, provider,
		model)
	m.perToken = m.histogram("gen_ai_server_time_per_output_token_seconds",
		"Time between two tokens of a reply behind the first.", perToken, operation, provider,
		model)
	m.usage = m.histogram("gen_ai_client_token_usage",
		"Tokens of a request and its reply, as the model server counts them.", tokens, operation,
		provider, model, tokenType)
	m.call = m.histogram("toolnorm_time_to_first_call_seconds",
		"Time from a request to the first byte of its first tool call.", durations, operation,
		provider, model)
	m.prompt = m.counter("toolnorm_prompt_tokens_total",
		"Tokens of prompts: new, or from the model server's cache.", model, "source")
	m.written = m.counter("toolnorm_completion_tokens_total", "Tokens of replies.", model)
	m.calls = m.counter("toolnorm_calls_total",
		"Tool calls, by what the reply needed to have them right: as_written, repaired, rewritten or reasked.", model, "how")
	m.nearly = m.counter("toolnorm_near_calls_total",
		"Replies with a call that did not leave: it did not fit and is text (as_text), or the reply's end cut it (cut).", model, "why")
	m.repairs = m.counter("toolnorm_repairs_total",
		"Replies that needed a repair, by its code (docs/repairs.md).", model, "code")
	m.replies = m.counter("toolnorm_replies_total",
		"Replies, by the format and the strategy by which they were read.", model, "format",
		"strategy")
	m.limited = m.counter("toolnorm_limited_total",
		"Requests that were refused since their caller is over a limit.", "limit")
	for _, limit := range []string{"requests", "tokens", "at_once", "bytes", "context"} {
		m.limited.WithLabelValues(limit)
	}
	m.tool = m.histogram("gen_ai_execute_tool_duration_seconds",
		"Time that a tool took which runs here.", durations, toolName, errorType)
	build := m.gauge("toolnorm_build_info", "1, with the version of the program.", "version")
	build.WithLabelValues(version).Set(1)
	m.servers.init(&m.models)
	m.registry.MustRegister(&m.servers, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// counter registers and returns a counter.
func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(m.registry).NewCounterVec(prometheus.CounterOpts{Name: name, Help: help},
		labels)
}

// gauge registers and returns a gauge.
func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(m.registry).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help},
		labels)
}

// histogram registers and returns a histogram.
func (m *Metrics) histogram(name, help string, buckets []float64,
	labels ...string) *prometheus.HistogramVec {
	return promauto.With(m.registry).NewHistogramVec(prometheus.HistogramOpts{Name: name,
		Help: help, Buckets: buckets}, labels)
}

// Handler returns the handler that answers scrapes. Wrap it with auth.Guard, because it checks no
// keys itself.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Begin implements trace.Counter: it counts the request as being answered.
func (m *Metrics) Begin(_ context.Context, api string) { m.running.WithLabelValues(api).Inc() }

// End implements trace.Counter: it adds the exchange to the metrics, as soon as the label of its
// model is known.
func (m *Metrics) End(_ context.Context, s *trace.Sum) {
	m.running.WithLabelValues(s.API).Dec()
	m.models.named(s.Model, func(name, server string) { m.count(s, name, server) })
}

// count adds an exchange to the metrics under the labels of its model and server. If the exchange's
// API asks no model, only the request is counted.
func (m *Metrics) count(s *trace.Sum, name, server string) {
	op := trace.Operation(s.API)
	asks := op != ""
	if !asks {
		name, server = "", ""
	}
	m.requests.WithLabelValues(s.API, name, strconv.Itoa(s.Status)).Inc()
	if !asks {
		return
	}
	m.duration.WithLabelValues(op, server, name, s.Error).Observe(s.Total.Seconds())
	if s.First > 0 {
		m.first.WithLabelValues(op, server, name).Observe(s.First.Seconds())
		if n := s.Tokens.Completion; n > 1 && s.Error == "" {
			m.perToken.WithLabelValues(op, server, name).Observe(
				(s.Total - s.First).Seconds() / float64(n-1))
		}
	}
	if s.FirstCall > 0 {
		m.call.WithLabelValues(op, server, name).Observe(s.FirstCall.Seconds())
	}
	if t := s.Tokens; t.Prompt > 0 || t.Completion > 0 {
		m.usage.WithLabelValues(op, server, name, "input").Observe(float64(t.Prompt))
		m.usage.WithLabelValues(op, server, name, "output").Observe(float64(t.Completion))
		m.prompt.WithLabelValues(name, "new").Add(float64(t.Prompt - t.Cached))
		m.prompt.WithLabelValues(name, "cache").Add(float64(t.Cached))
		m.written.WithLabelValues(name).Add(float64(t.Completion))
	}
	if s.Strategy != "" {
		m.replies.WithLabelValues(name, s.Format, s.Strategy).Inc()
	}
	m.countCalls(s, name)
}

// beside holds the codes of repairs that changed no call that was sent: they concern the reply's
// end, its text, or calls that were not sent.
var beside = map[string]bool{
	"as-text": true, "formatted": true, "invented-result": true, "left-open": true,
	"no-tool-needed": true, "repeated-call": true,
	"repetition": true, "same-calls": true, "single": true, "text-around": true, "unwedged": true,
}

// countCalls adds the calls and the repairs of an exchange. A repair belongs to a reply and not to
// a single call, so all calls of a reply are counted under its strongest repair, which is reasked,
// or else rewritten, or else any other.
func (m *Metrics) countCalls(s *trace.Sum, name string) {
	how := "as_written"
	for _, code := range s.Repairs {
		switch {
		case code == "reasked", code == "rewritten" && how != "reasked":
			how = code
		case how == "as_written" && !beside[code]:
			how = "repaired"
		}
		if code == "as-text" {
			m.nearly.WithLabelValues(name, "as_text").Inc()
		}
		if !m.codes[code] {
			code = Other
		}
		m.repairs.WithLabelValues(name, code).Inc()
	}
	// the sum is recorded even if it is 0, so that the share of calls that stayed text is known
	if s.Calls > 0 || len(s.Repairs) > 0 {
		m.calls.WithLabelValues(name, how).Add(float64(s.Calls))
	}
	if s.Cut {
		m.nearly.WithLabelValues(name, "cut").Inc()
	}
}

// Limited counts a request that a limit refused.
func (m *Metrics) Limited(limit string) { m.limited.WithLabelValues(limit).Inc() }

// Tool counts a call of a tool that runs here. The number of names is bounded, because
// administrators and other MCP servers choose them.
func (m *Metrics) Tool(name string, failed bool, took time.Duration) {
	kind := ""
	if failed {
		kind = "tool_error"
	}
	m.tool.WithLabelValues(m.tools.of(name), kind).Observe(took.Seconds())
}
