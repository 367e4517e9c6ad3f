package engine

import (
	"toolnorm/chat"
	"toolnorm/engine/valid"
)

// rules checks the arguments of a tool. A schema that cannot be used is no reason to refuse a request, since servers of
// tools write all kinds; any object fits it.
func (e *Engine) rules(tool chat.Tool) *valid.Validator {
	v, err := e.schemas.Tool(tool)
	if err == nil {
		return v
	}
	e.cfg.Log.Debug().Err(err).Str("tool", tool.Name).Msg("the tool's calls are not checked")
	v, _ = e.schemas.Get(nil)
	return v
}
