package trace

import (
	"context"
	"time"

	"toolnorm/chat"
)

// Sum is the result of an exchange, for counters. It contains no texts, and the model's name is the
// only word of the client in it.
type Sum struct {
	API      string // the client API, by its name in the log
	Model    string // the name that the client asked for, without a suffix that chooses the format
	Format   string // of the model's output
	Strategy string
	Status   int
	Error    string // the kind of the error; empty: there was none
	Calls    int
	Repairs  []string
	Cut      bool // whether a call was left out because the end of the reply cut it off
	Tokens   chat.Counts

	// the times until the first event and until the first byte of a call; 0: there was none
	First, FirstCall time.Duration
	Total            time.Duration
}

// Counters is a Counter that calls several others in order.
type Counters []Counter

// Begin implements Counter: it calls Begin of each counter.
func (all Counters) Begin(ctx context.Context, api string) {
	for _, c := range all {
		c.Begin(ctx, api)
	}
}

// End implements Counter: it calls End of each counter.
func (all Counters) End(ctx context.Context, s *Sum) {
	for _, c := range all {
		c.End(ctx, s)
	}
}

// Counter counts exchanges. Its methods must not block.
type Counter interface {
	Begin(ctx context.Context, api string)
	// s does not change any more, so an implementation may store it
	End(ctx context.Context, s *Sum)
}

// operations maps the APIs whose requests go to a model, by their names in the log, to the names of
// operations in OpenTelemetry's conventions.
var operations = map[string]string{
	"chat": "chat", "messages": "chat", "responses": "chat", "ollama chat": "chat",
	"completion": "text_completion", "ollama generate": "text_completion",
	"embeddings": "embeddings", "ollama embed": "embeddings", "ollama embeddings": "embeddings",
}

// Operation returns OpenTelemetry's name for what requests of an API ask of a model, such as "chat"
// or "embeddings". It returns "" for an API whose requests go to no model.
func Operation(api string) string { return operations[api] }
