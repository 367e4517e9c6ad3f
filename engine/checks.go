package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/valid"
	"toolnorm/internal/fault"
)

// affordable refuses a request whose schemas are larger than what is read, before anything is made of them. To
// leave such a schema unread instead would send its megabytes to a model that has no room for them, and check
// nothing. An allOf of 300,000 empty schemas once took a core for 14 minutes, also after its client had left.
func affordable(r *chat.Request) error {
	var form json.RawMessage
	if r.Format != nil && r.Format[0] == '{' {
		form = r.Format
	}
	err := schema.Affordable(r.Tools, form)
	if excess, ok := errors.AsType[*schema.Excess](err); ok {
		return &fault.Error{Kind: fault.Invalid, Param: excess.Param, Code: schema.ExcessCode, Message: excess.Param + ": " + excess.Error(), Cause: err}
	}
	return err
}

// checkSupported refuses what the request's model cannot do. A server would drop the pictures silently, and the
// model would answer as if there were none. Param names the message. A model of which nobody knows whether it sees
// gets them.
func (j *job) checkSupported(context.Context) (*job, error) {
	if !j.facts.NoVision {
		return j, nil
	}
	for i, m := range j.request.Messages {
		if len(m.Images) > 0 {
			return nil, &fault.Error{Kind: fault.Invalid, Param: fmt.Sprintf("messages[%d].content", i), Message: "the model " + j.name + " cannot see images"}
		}
	}
	return j, nil
}

// rules checks the arguments of a tool. A schema that cannot be used is no reason to refuse a request, since servers of
// tools write all kinds; any object fits it. The client is told, since a call that it takes for checked is not, and so is the
// log, once a schema.
func (j *job) rules(tool chat.Tool) *valid.Validator {
	e := j.engine
	v, err := e.schemas.Tool(tool)
	if err == nil {
		return v
	}
	j.tell(noteUnchecked, fmt.Sprintf("calls of %.64s are not checked: %s", j.names.forClient(tool.Name), err))
	log := e.cfg.Log.Debug()
	e.odd.Get(tool.Schema, func(string) struct{} {
		log = e.cfg.Log.Warn() // once a schema: a conversation sends it with every turn
		return struct{}{}
	})
	log.Err(err).Str("tool", j.names.forClient(tool.Name)).Msg("the tool's calls are not checked")
	v, _ = e.schemas.Get(nil)
	return v
}
