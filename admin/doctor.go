package admin

import (
	"context"
	"net/http"
	"sync"

	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
)

// Examiner examines one model, or all model servers if model is empty. It returns the report of
// toolnorm doctor as text, and whether that report names problems. It calls step before each part
// of the examination. It returns an error if it cannot examine.
type Examiner func(ctx context.Context, model string, step func(text string)) (
	report string, problems bool, err error)

// doctor answers the route that examines model servers.
type doctor struct {
	examine Examiner // nil: this server examines nothing
	busy    sync.Mutex
}

// run examines model servers and answers with a stream of events: each step, then the report or an
// error. It returns an error if nothing can be examined, if the body is wrong, or if another
// examination is running, because two examinations at once would measure each other.
func (d *doctor) run(w http.ResponseWriter, r *http.Request) error {
	if d.examine == nil {
		return errNoModels
	}
	var ask struct {
		Model string `json:"model"`
	}
	if err := read(r, &ask); err != nil {
		return err
	}
	if !d.busy.TryLock() {
		return fault.New(fault.Busy, "another examination is running; try again when it has ended")
	}
	defer d.busy.Unlock()
	out := sse.NewWriter(w, stall)
	report, problems, err := d.examine(r.Context(), ask.Model, func(text string) {
		event(out, "progress", map[string]string{"step": text})
	})
	if err != nil {
		event(out, "error", map[string]any{
			"error": map[string]string{"message": fault.From(err).Message}})
		return nil
	}
	event(out, "report", map[string]any{"report": report, "problems": problems})
	return nil
}
