package wait

import "time"

// Limit is one kind of waiting: how long at most, and what to say when that is over.
type Limit struct {
	limit time.Duration // not positive: for ever
	code  string        // of the fault.Timeout
	fault string        // its sentence, with a verb for the limit
}

// FirstByteTimeout is the code of the fault by which the wait for a first record ends.
const FirstByteTimeout = "first_byte_timeout"

// The codes of the other waits' faults.
const (
	loadTimeout = "load_timeout"
	idleTimeout = "idle_timeout"
)

// Loading is the wait for a prompt that is rendered when the model is loaded.
func (p *Pulse) Loading() Limit {
	return Limit{p.limits.Load, loadTimeout, "the model server did not load the model within %v (setting load-timeout)"}
}

// First is the wait for the first record of a model that is loaded.
func (p *Pulse) First() Limit {
	return Limit{p.limits.FirstByte, FirstByteTimeout, "the model server sent nothing for %v (setting first-byte-timeout): it may be busy with other requests, or hang"}
}

// UntilFirst is the wait for a first record that may have to wait for the model to be loaded, too.
func (p *Pulse) UntilFirst() Limit {
	w := p.First()
	if w.limit > 0 && p.limits.Load > 0 {
		w.limit += p.limits.Load
		w.fault = "the model server sent nothing for %v (settings load-timeout and first-byte-timeout): it may be loading the model, busy with other requests, or hang"
	}
	return w
}

// Withheld is the wait for the next record of a server that may hold a call back until it is whole.
func (p *Pulse) Withheld() Limit {
	w := p.UntilFirst()
	w.code, w.fault = idleTimeout, "the model server sent nothing for %v in the middle of its reply (settings load-timeout and first-byte-timeout, since it may hold a call back)"
	return w
}

// Later is the wait for the next record.
func (p *Pulse) Later() Limit {
	return Limit{p.limits.Idle, idleTimeout, "the model server stopped in the middle of its reply and sent nothing for %v (setting idle-timeout)"}
}

// modelLoading is the code of a server that answers later, when it has loaded its model.
const ModelLoading = "model_loading"
