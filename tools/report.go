package tools

import "context"

// Reporter receives the progress and the messages of a running call. Its functions may be nil, and
// are called from the tool's goroutine. Levels and totals are defined as in MCP's notifications,
// which MCP clients show; other callers ignore them.
type Reporter struct {
	Progress func(done, total float64, message string) // total 0: not known
	// level as in syslog: debug, info, notice, warning, error
	Log func(level, message string)
}

type reporterKey struct{}

// WithReporter returns a context with which called tools report to r. The Reporter is passed in the
// context, so that tools that report nothing need not know about it.
func WithReporter(ctx context.Context, r Reporter) context.Context {
	return context.WithValue(ctx, reporterKey{}, r)
}

// Progress reports to the Reporter of ctx, if there is one, how far a call has come. A tool may
// call it as often as it likes, because the Reporter decides what it passes on.
func Progress(ctx context.Context, done, total float64, message string) {
	if r, ok := ctx.Value(reporterKey{}).(Reporter); ok && r.Progress != nil {
		r.Progress(done, total, message)
	}
}

// Log sends a message about a running call to the Reporter of ctx, if there is one. The message is
// for people who watch, not for the model: what the model should know belongs in the result.
func Log(ctx context.Context, level, message string) {
	if r, ok := ctx.Value(reporterKey{}).(Reporter); ok && r.Log != nil {
		r.Log(level, message)
	}
}
