package chat

import "context"

// Observer is told how a reply is produced, in addition to the events of the reply itself. It is
// not part of a Request: with an observer or without one a request gets the same reply, so a
// Request stays plain data that can be copied and changed.
//
// As net/http/httptrace does for requests of HTTP, it travels in the context, where a Model that
// wraps another one passes it on without knowing of it. Fields that are nil are not called. All but
// Pulse.Beat are called by the goroutine that ranges over the reply.
type Observer struct {
	Pulse *Pulse // nil: flushes and keep-alives are not wanted

	// OnPlan is told the format and the strategy by which the reply will be read, before the model
	// server is asked, so before the first event: headers can still carry it. It is called again
	// when another strategy takes over.
	OnPlan func(format, strategy string)

	// OnPrompt is told about how many tokens the prompt has, before the model server counts them:
	// an API that reports the count at the beginning of a stream has no other. It is called again
	// when the prompt changes.
	OnPrompt func(tokens int)

	// OnGeneration is called when a model begins to write for this request: the reply itself, the
	// reply by another strategy, or a repair; name says which. The function that it returns is
	// given every event of the model server before decoding.
	OnGeneration func(name string) func(Event)

	// OnRendered is given the prompt of the generation that begins next, as the model reads it:
	// only if a server renders prompts, so never with the strategies tap and native. context is
	// the length that the model is loaded for; 0: not known. It is for traces; nil: not wanted.
	OnRendered func(text string, context int)

	// OnNote is told what was done to the request before the model saw it, or what the server was
	// found to have done to it: a word fit for a header's name ("Trimmed"), and a sentence. What
	// was done to the request comes before the first event, the rest before the Finish.
	OnNote func(word, text string)

	// OnRepair is told the code of a repair once it is decided, while the reply goes on, maybe more
	// than once. What counts at the end is Meta.Repairs of the Finish event.
	OnRepair func(code string)
}

// Pulse is how the reader of a model server keeps the client's connection alive while it waits.
type Pulse struct {
	// called before each read that may block: nothing more is buffered, so flush
	Idle func()
	// called, never at the same time as anything else of the reply, after each silent interval,
	// with what the reply waits for, if that is known; an error cancels
	Beat func(said string) error
	// identifies the client, the same for all of its requests; empty: not known
	Client string
}

// observerKey is the context key of the Observer.
type observerKey struct{}

// WithObserver returns a context whose Stream calls tell o. It replaces an observer that ctx has
// already.
func WithObserver(ctx context.Context, o *Observer) context.Context {
	return context.WithValue(ctx, observerKey{}, o)
}

// ObserverOf returns the observer of ctx, never nil: without one it returns the zero Observer,
// which ignores all calls.
func ObserverOf(ctx context.Context) *Observer {
	if o, ok := ctx.Value(observerKey{}).(*Observer); ok && o != nil {
		return o
	}
	return &Observer{}
}
