package upstream

import "time"

// Timeouts say how long a silent model server is waited for. None of them limits a reply that keeps coming. A zero
// field takes the default; a negative one waits for ever (Beat: never beats).
type Timeouts struct {
	Load      time.Duration // until the server has loaded the model and rendered the prompt; default 6 minutes (Ollama itself gives up after 5)
	FirstByte time.Duration // from then until the first record: queueing and reading the prompt; default 10 minutes
	Idle      time.Duration // between two records of the raw text; default 2 minutes. A reply whose calls the server withholds gets FirstByte instead
	Beat      time.Duration // silence towards the client that a heartbeat ends; default 8 seconds
}

// orDefaults is t with its zero fields filled.
func (t Timeouts) orDefaults() Timeouts {
	return Timeouts{
		Load:      or(t.Load, 6*time.Minute),
		FirstByte: or(t.FirstByte, 10*time.Minute),
		Idle:      or(t.Idle, 2*time.Minute),
		Beat:      or(t.Beat, 8*time.Second),
	}
}

// or is d, or def when d is zero.
func or(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}
