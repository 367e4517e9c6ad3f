package engine

import (
	"time"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// How much of a call is held back where neither the client nor a setting says it: what the model
// writes in holdTime, so that a fast model's short calls are sent in one piece and the reader of a
// slow model sees progress. It is a number of bytes, known when the call begins: by then the model
// has written the mark and the name before the arguments, which show its pace.
const (
	holdTime = 300 * time.Millisecond
	// bytes; also the limit where the server could not constrain the rest of a call that goes wrong
	mostHeld  = 512
	leastHeld = 16
)

// pace is how fast the model of a reply writes.
type pace struct {
	clock func() time.Time
	begin time.Time // time of the first piece
	last  time.Time // time of the last piece
	bytes int       // bytes after the first piece
	hold  int       // hold of the call that began last
}

// newPace returns the pace of the job's reply if calls are held by time, or nil if they are held by
// size.
func newPace(j *job) *pace {
	_, constrains := j.server.backend.(*ollama.Backend)
	raw := j.strategy == Raw || j.strategy == Tokens
	if j.hold() != 0 || len(j.request.Tools) == 0 || !constrains || !raw ||
		j.engine.cfg.NoRewrite || j.engine.cfg.Unchecked {
		return nil
	}
	return &pace{clock: time.Now, hold: mostHeld}
}

// watch is a hook that records the time of each piece.
func (p *pace) watch(ev chat.Event, err error) (chat.Event, chat.Source) {
	if err == nil && ev.Kind == chat.Text {
		p.last = p.clock()
		if p.begin.IsZero() {
			p.begin = p.last // it was written before that
		} else {
			p.bytes += len(ev.Text)
		}
	}
	return ev, nil
}

// held returns how many bytes of a call that begins now are held back.
func (p *pace) held() int {
	p.hold = mostHeld
	if took := p.last.Sub(p.begin); took > 0 {
		p.hold = int(min(max(float64(p.bytes)*float64(holdTime)/float64(took), leastHeld),
			mostHeld))
	}
	return p.hold
}
