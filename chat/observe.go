package chat

import "context"

// Observer is told how a reply is produced, in addition to the events of the reply itself. It is
// not part of a Request, because a request gets the same reply with an observer or without one. So
// a Request remains plain data that can be copied and changed.
//
// Like net/http/httptrace for HTTP requests, it is passed in the context, where a Model that wraps
// another one passes it on without knowing about it. Fields that are nil are not called. All
// functions except Pulse.Beat are called by the goroutine that ranges over the reply.
type Observer struct {
	Pulse *Pulse // nil if flushes and keep-alives are not needed

	// OnPlan gets the format and the strategy by which the reply will be read. It is called before
	// the model server is asked, so before the first event, while headers can still carry it. It is
	// called again if another strategy takes over.
	OnPlan func(format, strategy string)

	// OnPrompt gets about how many tokens the prompt has, before the model server counts them. It
	// is for an API that reports the count at the beginning of a stream, where no other count is
	// known. It is called again if the prompt changes.
	OnPrompt func(tokens int)

	// OnGeneration is called when a model begins to write for this request: the reply itself, the
	// reply by another strategy, or a repair. The parameter name says which. The function that it
	// returns is called with every event of the model server before decoding.
	OnGeneration func(name string) func(Event)

	// OnRendered gets the prompt of the generation that begins next, as the model reads it. It is
	// called only if a server renders prompts, so never with the strategies tap and native. The
	// parameter context is the length for which the model is loaded, or 0 if that is not known. It
	// is for traces.
	OnRendered func(text string, context int)

	// OnNote gets a note about each change to the request, made before the model saw it or found to
	// be made by the server: a word fit for a header's name ("Trimmed"), and a sentence. Notes on
	// changes made here come before the first event, and the others before the Finish.
	OnNote func(word, text string)

	// OnRepair gets the code of a repair when it is decided, while the reply goes on. It may be
	// called more than once for a code. What counts at the end is Meta.Repairs of the Finish event.
	OnRepair func(code string)
}

// Pulse is used by the reader of a model server to keep the client's connection alive while it
// waits.
type Pulse struct {
	// Idle is called before each read that may block. Nothing more is buffered then, so it should
	// flush.
	Idle func()
	// Beat is called after each silent interval, with a text that says why the reply waits, or ""
	// if that is not known. It is never called at the same time as anything else of the reply. If
	// it returns an error, the reply is cancelled.
	Beat func(said string) error
	// Client identifies the client, and is the same for all of its requests. It is empty if the
	// client is not known.
	Client string
}

// observerKey is the context key of the Observer.
type observerKey struct{}

// WithObserver returns a copy of ctx with the observer o. If [Model.Stream] is called with this
// context, it reports to o. An observer that ctx already has is replaced.
func WithObserver(ctx context.Context, o *Observer) context.Context {
	return context.WithValue(ctx, observerKey{}, o)
}

// ObserverOf returns the observer of ctx. It never returns nil: if there is none, it returns the
// zero Observer, which ignores all calls.
func ObserverOf(ctx context.Context) *Observer {
	if o, ok := ctx.Value(observerKey{}).(*Observer); ok && o != nil {
		return o
	}
	return &Observer{}
}
