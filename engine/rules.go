package engine

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"toolnorm/chat"
	"toolnorm/engine/valid"
)

// rules checks the arguments of a tool. A schema that cannot be used is no reason to refuse a request, since servers of
// tools write all kinds; any object fits it. The client is told, since a call that it takes for checked is not, and so is the
// log, once a schema.
func (t *turn) rules(tool chat.Tool) *valid.Validator {
	e := t.engine
	v, err := e.schemas.Tool(tool)
	if err == nil {
		return v
	}
	t.tell(noteUnchecked, fmt.Sprintf("calls of %.64s are not checked: %s", t.names.forClient(tool.Name), err))
	log := e.cfg.Log.Debug()
	if e.odd.first(tool.Schema) {
		log = e.cfg.Log.Warn()
	}
	log.Err(err).Str("tool", t.names.forClient(tool.Name)).Msg("the tool's calls are not checked")
	v, _ = e.schemas.Get(nil)
	return v
}

// mostTold bounds what is remembered of schemas that were warned of.
const mostTold = 256

// warnings remember what was warned of, by a hash. The zero value is empty.
type warnings struct {
	mu    sync.Mutex
	given map[[sha256.Size]byte]bool
}

// first says whether nobody was warned of a text yet. When there are many, all are forgotten.
func (w *warnings) first(text []byte) bool {
	key := sha256.Sum256(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.given[key] {
		return false
	}
	if w.given == nil || len(w.given) == mostTold {
		w.given = map[[sha256.Size]byte]bool{}
	}
	w.given[key] = true
	return true
}
