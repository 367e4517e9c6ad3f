package tools

import "context"

// Reporter is told how a running call gets on. Its functions may be nil, and are called from the
// tool's goroutine. Levels and totals are those of MCP's notifications, whose clients show them;
// other callers leave them out.
type Reporter struct {
	Progress func(done, total float64, message string) // total 0: not known
	// level as in syslog: debug, info, notice, warning, error
	Log func(level, message string)
}

type reporterKey struct{}

// WithReporter lets the tools that are called with ctx report to r.
// It travels in the context, so that tools that report nothing need not know of it.
func WithReporter(ctx context.Context, r Reporter) context.Context {
	return context.WithValue(ctx, reporterKey{}, r)
}

// Progress reports how far a call has come, if there is a listener. A tool may call it as often as
// it likes; the listener decides what it passes on.
func Progress(ctx context.Context, done, total float64, message string) {
	if r, ok := ctx.Value(reporterKey{}).(Reporter); ok && r.Progress != nil {
		r.Progress(done, total, message)
	}
}

// Log sends a message about a running call to the listener, if there is one. It is for people who
// watch, not for the model: what the model is to know belongs in the result.
func Log(ctx context.Context, level, message string) {
	if r, ok := ctx.Value(reporterKey{}).(Reporter); ok && r.Log != nil {
		r.Log(level, message)
	}
}
