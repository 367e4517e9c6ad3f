package wait

import (
	"context"
	"errors"
	"strings"

	"toolnorm/internal/fault"
)

// Broken turns a failed request or read into a fault: the cause of a cancelled context, else a server that cannot be
// reached (base is its address, empty when the connection had been made).
func Broken(ctx context.Context, base string, err error) *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(context.Cause(ctx), &f):
		return f
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return &fault.Error{Kind: fault.Timeout, Message: "the model server did not answer in time", Cause: err}
	case ctx.Err() != nil:
		return &fault.Error{Kind: fault.Canceled, Message: "the client went away", Cause: err}
	case strings.Contains(err.Error(), "response headers exceeded"): // net/http has no name for it
		return &fault.Error{Kind: fault.Unable, Message: "what answers as the model server sends a header of more than 256 KiB: is the address right?", Cause: err}
	case base == "":
		return &fault.Error{Kind: fault.Unavailable, Message: "the connection to the model server broke in the middle of the reply", Cause: err}
	}
	return &fault.Error{
		Kind:    fault.Unavailable,
		Message: "Ollama cannot be reached at " + base + ": start it with \"ollama serve\", or set OLLAMA_HOST to where it runs",
		Cause:   err,
	}
}
