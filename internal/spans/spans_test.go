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
	ctx, q, o, s := context.Background(), &chat.Request{}, &chat.Observer{}, &exchanges.Sum{}
	if n := testing.AllocsPerRun(100, func() {
		h.ServeHTTP(w, r)
		off.Observe(ctx, q, o)
		off.End(ctx, s)
		_, ended := off.Tool(ctx, "f", nil)
		ended(false, nil)
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
			if HasReceiver() {
				t.Fatal("without variables there is a receiver")
			}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(row.name, row.value)
			tracer, err := Open(t.Context(), "v1", func(error) {})
			if HasReceiver() != row.want || (err != nil) != row.fails || (tracer != nil) != (row.want && !row.fails) {
				t.Errorf("wanted %v, %v, %v", HasReceiver(), tracer != nil, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = tracer.Close(ctx)
		})
	}
}

func TestTextsAreInTracesWhenTheVariableSaysSo(t *testing.T) {
	if t.Setenv(texts, "true"); WithTexts() {
		t.Error("without a receiver there are texts")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	for value, want := range map[string]bool{"": false, "false": false, "no_content": false, "true": true, "True": true, "SPAN_ONLY": true} {
		if t.Setenv(texts, value); WithTexts() != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}

// TestALongConversationIsToldByItsEnd has messages of every role, and too many of them.
func TestALongConversationIsToldByItsEnd(t *testing.T) {
	r := &chat.Request{Messages: []chat.Message{
		{Role: chat.User, Content: "What time is it?"},
		{Role: chat.Assistant, Reasoning: "Hm.", Calls: []chat.Call{{ID: "c1", Name: "get_time", Args: []byte(`{"zone":"UTC"}`)}, {ID: "c2", Name: "get_time", Args: []byte("{")}}},
		{Role: chat.ToolRole, CallID: "c1", Content: "12:00"},
	}}
	const end = `{"role":"assistant","parts":[{"type":"reasoning","content":"Hm."},{"type":"tool_call","id":"c1","name":"get_time","arguments":{"zone":"UTC"}},` +
		`{"type":"tool_call","id":"c2","name":"get_time"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"12:00"}]}]`
	if got, want := conversationOf(r), `[{"role":"user","parts":[{"type":"text","content":"What time is it?"}]},`+end; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.Messages[0].Content = strings.Repeat("x", longest)
	if got := conversationOf(r); got != "["+end {
		t.Error(got)
	}
}
