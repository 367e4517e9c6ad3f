package exchange

import (
	"context"
	"time"

	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
)

// end passes the figures of the exchange, which has ended, to the counter c. If c is nil, it does
// nothing.
func (x *Record) end(ctx context.Context, c trace.Counter, m *meter, err error) {
	if c == nil {
		return
	}
	s := &trace.Sum{
		API: x.api, Model: x.real, Format: x.Meta.Format, Strategy: x.Meta.Strategy,
		Status: statusOf(m, err), Calls: x.calls, Repairs: x.Meta.Repairs,
		Cut: x.Meta.Cut != "", Tokens: x.Count, First: x.first, FirstCall: x.firstCall,
		Total: time.Since(x.start),
	}
	if s.Model == "" {
		s.Model = x.Model
	}
	if err != nil {
		s.Error = fault.From(err).Kind.String()
	}
	c.End(ctx, s)
}
