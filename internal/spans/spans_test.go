package spans

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"toolnorm/chat"
	exchanges "toolnorm/internal/trace"
)

// TestTracesThatAreOffCostNothing counts allocations of a request without traces.
func TestTracesThatAreOffCostNothing(t *testing.T) {
	var off *Tracer
	h := off.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func(*http.Request) bool { return true })
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/chat/completions", nil)
	ctx, o, s := context.Background(), &chat.Observer{}, &exchanges.Sum{}
	if n := testing.AllocsPerRun(100, func() {
		h.ServeHTTP(w, r)
		off.Observe(ctx, o)
		off.End(ctx, s)
		off.Tool(ctx, "f", false, time.Second)
		trace.SpanContextFromContext(ctx).HasTraceID()
	}); n != 0 || o.OnGeneration != nil {
		t.Errorf("%v allocations", n)
	}
}

// TestAClientsTraceIsHandedOn has no receiver, and a client with a trace.
func TestAClientsTraceIsHandedOn(t *testing.T) {
	for header, want := range map[string]string{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": "4bf92f3577b34da6a3ce929d0e0e4736",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"nonsense\u0000": "", strings.Repeat("0", 10_000): "", "": "",
	} {
		got := "?"
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Traceparent", header)
		var off *Tracer
		off.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = ""
			if of := trace.SpanContextFromContext(r.Context()); of.HasTraceID() {
				got = of.TraceID().String()
			}
		}), func(*http.Request) bool { return true }).ServeHTTP(httptest.NewRecorder(), r)
		if got != want {
			t.Errorf("%.60q: %q, want %q", header, got, want)
		}
	}
}

func TestWhatTheVariablesWant(t *testing.T) {
	for _, row := range []struct {
		name, value string
		want, fails bool
	}{
		{"OTEL_SERVICE_NAME", "x", true, false}, {"OTEL_SDK_DISABLED", "true", false, false}, {"OTEL_TRACES_EXPORTER", "none", false, false},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", true, true}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", true, false},
	} {
		t.Run(row.name+row.value, func(t *testing.T) {
			if Wanted() {
				t.Fatal("without variables there is a receiver")
			}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(row.name, row.value)
			tracer, err := Open(t.Context(), "v1", func(error) {})
			if Wanted() != row.want || (err != nil) != row.fails || (tracer != nil) != (row.want && !row.fails) {
				t.Errorf("wanted %v, %v, %v", Wanted(), tracer != nil, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = tracer.Close(ctx)
		})
	}
}
