package tools

import (
	"context"
	"encoding/json"
	"fmt"
)

// Typed returns a function for Tool.Call that decodes the arguments into an A, calls f, and returns
// its value as JSONOf does. The function returns an error if the arguments do not decode, if f
// fails, or if the value cannot be encoded. Go's types do not check the arguments: Options.Fit has
// checked them against the schema before, which says more than Go's types can.
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
