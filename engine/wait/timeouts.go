package wait

import (
	"cmp"
	"time"
)

// Timeouts say how long a silent model server is waited for. None of them limits a reply that keeps coming. A zero
// field takes the default; a negative one waits for ever (Beat: never beats).
type Timeouts struct {
	Load      time.Duration // until the server has loaded the model and rendered the prompt; default 6 minutes (Ollama itself gives up after 5)
	FirstByte time.Duration // from then until the first record: queueing and reading the prompt; default 10 minutes
	Idle      time.Duration // between two records of the raw text; default 2 minutes. A reply whose calls the server withholds gets FirstByte instead
	Queue     time.Duration // for a place at a server that says it is busy; default 1 minute, negative: the client is told at once
	Places    int           // how many requests may wait so for one server; default 64, negative: none
	Beat      time.Duration // silence towards the client that a heartbeat ends; default 8 seconds
}

// orDefaults is t with its zero fields filled.
func (t Timeouts) orDefaults() Timeouts {
	return Timeouts{
		Load:      cmp.Or(t.Load, 6*time.Minute),
		FirstByte: cmp.Or(t.FirstByte, 10*time.Minute),
		Idle:      cmp.Or(t.Idle, 2*time.Minute),
		Queue:     cmp.Or(t.Queue, time.Minute),
		Places:    cmp.Or(t.Places, 64),
		Beat:      cmp.Or(t.Beat, 8*time.Second),
	}
}
