package main

import (
	"context"
	"time"

	"toolnorm/internal/spans"
	"toolnorm/internal/version"
)

// openSpans starts sending traces if the environment variables of OpenTelemetry name a receiver. An
// error is only logged as a warning, since everything else works without traces.
func (m *Main) openSpans() {
	warn := func(err error) { m.log.Warn().Err(err).Msg("traces") }
	var err error
	if m.spans, err = spans.Open(context.Background(), version.String(), warn); err != nil {
		warn(err)
	}
}

// closeSpans sends the last traces. If they cannot be sent, it logs a warning.
func (m *Main) closeSpans() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := m.spans.Close(ctx); err != nil {
		m.log.Warn().Err(err).Msg("the last traces could not be sent")
	}
}
