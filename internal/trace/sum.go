package trace

import (
	"context"
	"time"

	"toolnorm/chat"
)

// Sum is the result of an exchange, for counters. It contains no texts, and of what the client
// wrote only the name of a model.
type Sum struct {
	API      string // its name in the log
	Model    string // as the client asked for it, without a part that chooses the form
	Format   string // of the model's output
	Strategy string
	Status   int
	Error    string // the kind of the error; empty: there was none
	Calls    int
	Repairs  []string
	Cut      bool // whether a call was cut by the end of the reply, and left out
	Tokens   chat.Counts

	// until the first event, and the first byte of a call; 0: none came
	First, FirstCall time.Duration
	Total            time.Duration
}

// Counters are several.
type Counters []Counter

// Begin implements Counter.
func (all Counters) Begin(ctx context.Context, api string) {
	for _, c := range all {
		c.Begin(ctx, api)
	}
}

// End implements Counter.
func (all Counters) End(ctx context.Context, s *Sum) {
	for _, c := range all {
		c.End(ctx, s)
	}
}

// Counter counts exchanges. It must not wait.
type Counter interface {
	Begin(ctx context.Context, api string)
	End(ctx context.Context, s *Sum) // s does not change any more, and may be kept
}

// operations maps the APIs whose requests ask a model, by their names in the log, to the names of
// operations in OpenTelemetry's conventions.
var operations = map[string]string{
	"chat": "chat", "messages": "chat", "responses": "chat", "ollama chat": "chat",
	"completion": "text_completion", "ollama generate": "text_completion",
	"embeddings": "embeddings", "ollama embed": "embeddings", "ollama embeddings": "embeddings",
}

// Operation returns OpenTelemetry's name for what the requests of an API ask of a model, or "" if
// they do not ask one.
func Operation(api string) string { return operations[api] }
