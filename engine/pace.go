package engine

import (
	"time"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// The limits on how much of a call is held back if neither the client nor a setting says it. It is
// as much as the model writes in holdTime, so that a fast model's short calls are sent in one
// piece, and the reader of a slow model sees progress. The number of bytes is known when the call
// begins, because the text before the arguments, at least the tag and the name, shows the model's
// pace.
const (
	holdTime = 300 * time.Millisecond
	// bytes; also the limit if the server could not constrain the rest of a call that goes wrong
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

// newPace returns a pace, which decides by time how much of the job's calls is held back. It
// returns nil if that is decided by size.
func newPace(j *job) *pace {
	_, constrains := j.server.backend.(*ollama.Backend)
	raw := j.strategy == Raw || j.strategy == Tokens
	if j.hold() != 0 || len(j.request.Tools) == 0 || !constrains || !raw ||
		j.engine.cfg.NoRewrite || j.engine.cfg.Unchecked {
		return nil
	}
	return &pace{clock: time.Now, hold: mostHeld}
}

// watch is a hook that records the time of each piece of text.
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

// held returns how many bytes of a call that begins now are held back. This is as much as the model
// writes in holdTime, within fixed limits.
func (p *pace) held() int {
	p.hold = mostHeld
	if took := p.last.Sub(p.begin); took > 0 {
		p.hold = int(min(max(float64(p.bytes)*float64(holdTime)/float64(took), leastHeld),
			mostHeld))
	}
	return p.hold
}
