package tools

import (
	"context"
	"encoding/json"
	"fmt"
)

// Typed makes a tool's Call from a function with Go types: it reads the arguments into an A, and
// turns the returned value into a result as JSONOf does. The types do not check the arguments: the
// schema has done that before (Options.Fit), and says more than Go's types can.
func Typed[A, R any](f func(ctx context.Context, args A) (R, error)) func(context.Context,
	json.RawMessage) (Result, error) {
	return func(ctx context.Context, text json.RawMessage) (Result, error) {
		var args A
		if err := json.Unmarshal(text, &args); err != nil {
			return Result{}, fmt.Errorf("the arguments do not fit: %w", err)
		}
		value, err := f(ctx, args)
		if err != nil {
			return Result{}, err
		}
		return JSONOf(value)
	}
}
