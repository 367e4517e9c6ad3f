// Package spans records traces of requests with OpenTelemetry. Each request to a model has a span,
// with spans inside for the rendering of a prompt, each generation, each repair and each call of a
// tool. They are sent by OTLP over HTTP as the usual variables OTEL_… say; without these variables
// nothing is recorded. Texts are included only if the variable of OpenTelemetry's conventions asks
// for them.
//
// A client's traceparent is accepted in any case and sent to model servers, so that the client's
// own trace continues there.
package spans

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	exchanges "toolnorm/internal/trace"
)

// Tracer makes spans. A nil Tracer makes none. It may be used by several goroutines at once.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	texts    bool // whether the spans contain prompts, replies, arguments and results
}

var _ exchanges.Counter = (*Tracer)(nil)

// HasReceiver reports whether the environment variables name a receiver of traces and do not
// disable traces.
func HasReceiver() bool {
	to := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	return to != "" && !strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") && os.Getenv(
		"OTEL_TRACES_EXPORTER") != "none"
}

// texts is the variable with which OpenTelemetry's conventions ask for prompts and replies in
// traces.
const texts = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// WithTexts reports whether the traces should contain prompts, replies, arguments and results. It
// is false without a receiver.
func WithTexts() bool {
	switch strings.ToLower(os.Getenv(texts)) {
	case "true", "1", "span_only", "span_and_event":
		return HasReceiver()
	}
	return false
}

// Open returns a tracer that is configured by the environment variables, or nil without an error if
// they name no receiver. It fails if they ask for a protocol other than http/protobuf, or if the
// exporter cannot be made. It calls the function warn with later errors.
func Open(ctx context.Context, version string, warn func(error)) (*Tracer, error) {
	if !HasReceiver() {
		return nil, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if p := os.Getenv(name); p != "" && p != "http/protobuf" {
			return nil, fmt.Errorf(
				"%s: %q is not supported; traces are sent as http/protobuf, mostly to port 4318",
				name, p)
		}
	}
	to, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	// The variables come last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
	of, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "toolnorm"), attribute.String(
			"service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(err, to.Shutdown(ctx))
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(warn))
	return New(sdk.WithBatcher(to), sdk.WithResource(of)), nil
}

// New returns a tracer with the given options of the OpenTelemetry SDK.
func New(options ...sdk.TracerProviderOption) *Tracer {
	p := sdk.NewTracerProvider(options...)
	return &Tracer{provider: p, tracer: p.Tracer("toolnorm"), texts: WithTexts()}
}

// Close sends the spans that have not been sent yet. On a nil Tracer it does nothing. It fails if
// they cannot be sent before ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// run holds the open spans of one request.
type run struct {
	tracer trace.Tracer
	texts  bool
	ctx    context.Context // the context of the request's span
	span   trace.Span

	mu     sync.Mutex
	plan   string     // the name of the current strategy
	render trace.Span // nil while no prompt is being rendered
	open   []trace.Span
}

// runKey is the context key of a run.
type runKey struct{}

// Wrap returns a handler that calls the handler next. It makes a span around each request to a
// model, that is, each request for which the function asks returns true. If the client sent the id
// of a trace with a request, the request's context gets that trace, even if the request has no
// span.
func (t *Tracer) Wrap(next http.Handler, asks func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if r.Header.Get("Traceparent") != "" {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
			r = r.WithContext(ctx)
		}
		if t == nil || !asks(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, span := t.tracer.Start(ctx, r.Method+" "+r.URL.Path,
			trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String(
				"http.route", r.URL.Path)))
		defer span.End()
		it := &run{tracer: t.tracer, texts: t.texts, ctx: ctx, span: span}
		defer it.end()
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, runKey{}, it)))
	})
}

// of returns the run of the request to which ctx belongs, or nil if it has none.
func of(ctx context.Context) *run {
	it, _ := ctx.Value(runKey{}).(*run)
	return it
}

// Observe extends the hooks of o so that they also make the spans inside a request. It does nothing
// if the request has no span.
func (t *Tracer) Observe(ctx context.Context, r *chat.Request, o *chat.Observer) {
	if t == nil {
		return
	}
	it := of(ctx)
	if it == nil {
		return
	}
	if t.texts {
		it.span.SetAttributes(attribute.String("gen_ai.input.messages", conversationOf(r)))
	}
	plan, generation, repair := o.OnPlan, o.OnGeneration, o.OnRepair
	o.OnPlan = func(format, strategy string) {
		it.begin(strategy)
		if plan != nil {
			plan(format, strategy)
		}
	}
	o.OnGeneration = func(name string) func(chat.Event) {
		end := it.generate(name)
		heard := func(chat.Event) {}
		if generation != nil {
			heard = generation(name)
		}
		return func(ev chat.Event) {
			end(ev)
			heard(ev)
		}
	}
	o.OnRepair = func(code string) {
		it.span.AddEvent("repair", trace.WithAttributes(attribute.String("toolnorm.repair", code)))
		if repair != nil {
			repair(code)
		}
	}
}

// begin starts the span of rendering a prompt for a strategy, and ends that of the previous one.
func (r *run) begin(strategy string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endRender()
	r.plan = strategy
	_, r.render = r.tracer.Start(r.ctx, "render", trace.WithAttributes(attribute.String(
		"toolnorm.strategy", strategy)))
}

// endRender ends the span of rendering, if there is one. The caller must hold r.mu.
func (r *run) endRender() {
	if r.render != nil {
		r.render.End()
		r.render = nil
	}
}

// generate starts the tracing span of one generation, which is the model's answer to one prompt.
// The span is named a repair unless name is the strategy that the request began with. The returned
// function must be called with each event of the generation; the event Finish ends the span.
func (r *run) generate(name string) func(chat.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endRender()
	kind := "repair "
	if name == r.plan {
		kind = "generate "
	}
	_, span := r.tracer.Start(r.ctx, kind+name, trace.WithSpanKind(trace.SpanKindClient))
	r.open = append(r.open, span)
	var text []byte
	return func(ev chat.Event) {
		if r.texts && len(text) < longest {
			text = append(text, ev.Text...)
		}
		if ev.Kind != chat.Finish {
			return
		}
		if r.texts {
			span.SetAttributes(attribute.String("toolnorm.text", begin(string(text))))
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		span.End()
		r.open = slices.DeleteFunc(r.open, func(s trace.Span) bool { return s == span })
	}
}

// end ends all spans that are still open.
func (r *run) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endRender()
	for _, s := range r.open {
		s.End()
	}
	r.open = nil
}

// Begin implements trace.Counter. It does nothing.
func (t *Tracer) Begin(context.Context, string) {}

// End implements trace.Counter: it names the request's span and adds the result of the request to
// it.
func (t *Tracer) End(ctx context.Context, s *exchanges.Sum) {
	it := of(ctx)
	if t == nil || it == nil {
		return
	}
	model := clip.To(s.Model, 200)
	operation := exchanges.Operation(s.API)
	if operation == "" {
		return
	}
	it.span.SetName(operation + " " + model)
	it.span.SetAttributes(
		attribute.String("gen_ai.operation.name", operation), attribute.String(
			"gen_ai.request.model", model), attribute.String("toolnorm.api", s.API),
		attribute.String("toolnorm.format", s.Format),
		attribute.String("toolnorm.strategy", s.Strategy), attribute.StringSlice("toolnorm.repairs",
			s.Repairs),
		attribute.Int("gen_ai.usage.input_tokens", s.Tokens.Prompt), attribute.Int(
			"gen_ai.usage.cache_read.input_tokens", s.Tokens.Cached),
		attribute.Int("gen_ai.usage.output_tokens", s.Tokens.Completion), attribute.Int(
			"toolnorm.calls", s.Calls), attribute.Int("http.response.status_code", s.Status),
	)
	if s.Error != "" {
		it.span.SetAttributes(attribute.String("error.type", s.Error))
		it.span.SetStatus(codes.Error, s.Error)
	}
}

// Tool starts the span of a tool's call. It returns the context in which the tool must run, and a
// function that ends the span.
func (t *Tracer) Tool(ctx context.Context, name string, args []byte) (
	context.Context, func(failed bool, result func() string)) {
	if t == nil {
		return ctx, untold
	}
	ctx, span := t.tracer.Start(ctx, "execute_tool "+name, trace.WithAttributes(attribute.String(
		"gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", name)))
	if t.texts {
		span.SetAttributes(attribute.String("gen_ai.tool.call.arguments", begin(string(args))))
	}
	return ctx, func(failed bool, result func() string) {
		if t.texts {
			span.SetAttributes(attribute.String("gen_ai.tool.call.result", begin(result())))
		}
		if failed {
			span.SetAttributes(attribute.String("error.type", "tool_error"))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// untold does nothing. It is the function that ends a span if no traces are sent.
func untold(bool, func() string) {}
